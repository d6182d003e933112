// An MCP server that runs as a child process, seen from the client: a Service over its standard streams.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/log.h>
#include <signet/base/result.h>
#include <signet/protocol/service.h>
#include <signet/transport/event_loop.h>

namespace signet {

struct ChildProcessOptions {
  enum class Stderr : std::uint8_t { inherit, discard, capture };

  // Added to this process's own variables, of which the child gets all but those whose names begin with SIGNET_: they hold
  // secrets of this side (SIGNET_TOKEN, a ring). What is named here it gets whatever the name is.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;  // where it runs; empty for here
  Stderr standard_error = Stderr::inherit;
  std::size_t stderr_bytes_max = std::size_t{64} << 10;  // of a capture: the newest are kept
  std::size_t line_bytes_max = std::size_t{16} << 20;    // a longer line fails every call that waits
  std::size_t queue_bytes_max = std::size_t{64}
                                << 20;  // written and not yet read by the child; more is refused
  // How long each step of the end may take: after closing its input, after SIGTERM; then SIGKILL.
  std::chrono::milliseconds step_max{2'000};
  LogSink log;
};

// The transport "stdio" (basic, transports): one message a line. Requests are told apart by id, which must be new among
// those outstanding; notifications go to the exchange they name (by progressToken or subscriptionId), else to the session,
// else to the oldest exchange. Dropping a call sends notifications/cancelled. With a Session, the child's requests are
// answered by its outlet; without, they are ignored, as the 2026-07-28 revision has none (C9). Lines that are no message
// are reported to the log and skipped.
//
// The child gets three descriptors and no other, default signals, and its own process group, so that Ctrl-C in
// a terminal reaches the client alone, who then ends the child in order. When it dies, every call fails at once.
//
// Threads and lifetime as HttpClient. Destruction ends the child by the steps above and waits for it.
class ChildProcess final : public Service {
 public:
  // `command` is the program, looked up in PATH unless it has a slash, and its arguments. SIGPIPE is ignored in this
  // process from here on, unless it has a handler.
  static Result<std::unique_ptr<ChildProcess>> start(EventLoop& loop, std::vector<std::string> command,
                                                     ChildProcessOptions options = ChildProcessOptions());
  ~ChildProcess() override;

  Task<Reply> call(Request request, Exchange& exchange) override;
  void notify(Notification notification, Exchange& exchange) override;
  // Begins the end: input closed, then SIGTERM, then SIGKILL.
  void shut_down() override;

  // What was captured of its standard error, the newest bytes. Thread-safe.
  std::string standard_error() const;
  int process_id() const;

  struct Impl;

 private:
  explicit ChildProcess(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace signet
