// stdio, the server's side (basic, transports, stdio): one JSON-RPC message a line, both eras on one pipe.
#pragma once

#include <chrono>
#include <cstddef>

#include <signet/base/log.h>
#include <signet/base/result.h>
#include <signet/protocol/service.h>

namespace signet {

struct StdioOptions {
  StdioOptions() = default;

  // A longer line is refused with -32700 and skipped to its end; the session goes on.
  std::size_t line_bytes_max = std::size_t{4} << 20;
  std::size_t json_depth_max = 64;
  // Requests served at once; more are refused with -32603.
  std::size_t in_flight_max = 1024;
  // Messages in one batch; only revision 2025-03-26 has batches.
  std::size_t batch_messages_max = 64;
  // While more than this waits to be written, nothing is read; at twice this the peer is given up.
  std::size_t queue_bytes_max = std::size_t{16} << 20;
  // After the end of input or a signal: how long requests may take to end and lines to be written.
  std::chrono::milliseconds shutdown_grace{2'000};
  bool modern_only = false;

  // The pipe. With 0 and 1, the protocol takes them over until the end: fd 0 then reads from /dev/null and fd 1 writes to
  // fd 2, so that a stray print or read of a tool never touches the protocol (S19).
  int input = 0;
  int output = 1;
  // SIGINT and SIGTERM end the server gracefully.
  bool stop_on_signals = true;

  // Empty: silent.
  LogSink log = log_to_stderr(LogLevel::warning);
};

// Serves the process's parent (Principal::local) until the end of input, a signal, or a reader that has gone. Concurrent
// requests are served concurrently on the calling thread's event loop; `notifications/cancelled` silences one (C11, S21).
// An error only where the pipe cannot be used at all. SIGPIPE is ignored from here on.
Result<void> serve_stdio(Service& service, StdioOptions options = StdioOptions());

}  // namespace signet
