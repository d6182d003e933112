// Streamable HTTP, the server's side (basic, transports, streamable-http): one endpoint for 2026-07-28 and, unless
// switched off, for the handshake revisions with their sessions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <signet/base/executor.h>
#include <signet/base/log.h>
#include <signet/base/result.h>
#include <signet/protocol/authenticator.h>
#include <signet/protocol/service.h>

namespace signet {

// What GET /.well-known/oauth-protected-resource says (RFC 9728; S91, S92).
struct ProtectedResource {
  ProtectedResource() = default;
  std::string resource;  // canonical URI; empty: made from the Host header of the request and the path
  std::vector<std::string> authorization_servers;
  std::vector<std::string> scopes_supported;
};

// Everything an HttpServer can be told. The defaults protect; each limit is enforced at the stated value exactly,
// times to about a quarter of the shortest one.
struct HttpOptions {
  HttpOptions() = default;

  // Where to listen. An address (no name); port 0 takes any free one.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string path = "/mcp";

  // Names in Host that are ours: `name` allows every port, `name:port` one. Others: 403 (DNS rebinding).
  std::vector<std::string> allowed_hosts{"localhost", "127.0.0.1", "[::1]"};
  // Origins (`https://app.example.com`) besides those whose host is an allowed one. Others: 403 (S23, S24).
  std::vector<std::string> allowed_origins;
  // Answers preflights of allowed origins and lets their scripts read the answers (Fetch standard).
  bool cors = false;

  // Is asked before the body of a request is read, unless that came along with the header. Without an authenticator every
  // caller is anonymous, and `host` must be a loopback address, unless:
  std::shared_ptr<Authenticator> authenticator;
  bool allow_anonymous_public = false;
  // Served without authentication, and named in challenges.
  std::optional<ProtectedResource> protected_resource;

  // PEM files. Both or none; TLS 1.2 and later.
  std::string tls_certificate_file;
  std::string tls_key_file;

  // Sizes, in bytes. Beyond: 431, 413, 400; a stream whose reader lags more than queue_bytes_max behind is cut.
  std::size_t header_bytes_max = std::size_t{16} << 10;
  std::size_t body_bytes_max = std::size_t{4} << 20;
  // Of all bodies above 64 KiB that are being read, together. One that would go beyond is answered 503; one alone is read.
  std::size_t bodies_bytes_max = std::size_t{64} << 20;
  std::size_t json_depth_max = 64;
  std::size_t queue_bytes_max = std::size_t{1} << 20;
  // Connections beyond this are answered 503 and closed; beyond twice this, closed. Each is a descriptor: where the process
  // may have fewer (`ulimit -n`) it accepts nobody until some are free, so start() warns of a limit that is no 64 above this.
  std::size_t connections_max = 960;

  // Times. header: from the first byte of a request to the end of its header (and the TLS handshake); body: to the end
  // of the body; idle: between requests; write: without progress while there is something to write; for as long in all, a plain
  // function that tells much waits for a reader of its call that is behind.
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{75'000};
  std::chrono::milliseconds write_timeout{30'000};

  // An answer that takes longer than this becomes an event stream, if the client accepts one, so that it can be kept
  // alive: a comment every keepalive_interval.
  std::chrono::milliseconds json_answer_max{5'000};
  std::chrono::milliseconds keepalive_interval{15'000};

  // Calls of Redemption::once_with_reply that run to their end, for the reply to be kept, though their connection is gone.
  // Beyond this, and when the server ends, they are dropped like others.
  std::size_t unattended_calls_max = 256;

  // No handshake revisions: `initialize` is refused with the versions we speak, GET and DELETE are 405.
  bool modern_only = false;
  // Sessions of the handshake revisions. When all are taken, the one whose client has been silent the longest goes, of those
  // without a connection that do nothing, or wait for that client's answer; if there is none, 503.
  std::size_t sessions_max = 1000;
  // A session without a connection ends when its client has said nothing for so long, with the calls that still run in it.
  std::chrono::milliseconds session_idle_timeout{30 * 60'000};
  std::size_t session_calls_max = 64;  // running at once in one session
  // The calls of all sessions that go on without their connections, for clients that come back with Last-Event-ID: their
  // bodies, and 16 KiB for each. Beyond, the one that has been without the longest is cancelled.
  std::size_t resumable_calls_bytes_max = std::size_t{64} << 20;
  std::size_t batch_messages_max = 64;  // in one batch; only revision 2025-03-26 has them
  std::size_t replay_events_max = 256;  // kept per session for Last-Event-ID
  std::size_t replay_bytes_max = std::size_t{1} << 20;
  // Of all sessions together, with what keeping costs: beyond it the oldest events go, whose ever they are.
  std::size_t replay_total_bytes_max = std::size_t{64} << 20;

  // After stop(): how long open answers may take to end by themselves.
  std::chrono::milliseconds shutdown_grace{2'000};

  // A second address for `GET /healthz` and `GET /metrics` (the text comes from metrics_text; if that throws, 500); off by
  // default, without TLS and authentication. Host may be any IP address there, or an allowed one. It has connections of its own,
  // limited as those above.
  std::optional<std::uint16_t> admin_port;
  std::string admin_host = "127.0.0.1";
  std::size_t admin_connections_max = 16;
  std::function<std::string()> metrics_text;

  // Says which port it listens on, and more. Empty: silent.
  LogSink log = log_to_stderr();
  Metrics* metrics = nullptr;  // borrowed
};

// A server over one event loop on the thread that calls run(). The service is borrowed and outlives the server; its tasks
// run on that thread.
class HttpServer {
 public:
  HttpServer(Service& service, HttpOptions options);
  // Drops what still runs. Not while run() runs.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Binds and listens, or says why not. Connections are accepted from now on and served once run() runs.
  Result<void> start();
  // The ports in use; 0 before start() and where there is none.
  std::uint16_t port() const;
  std::uint16_t admin_port() const;

  // Serves until stop(). Once.
  void run();
  // Stops accepting, ends open streams through Service::shut_down, waits up to shutdown_grace for answers, closes.
  // Thread-safe, idempotent.
  void stop();
  // SIGINT and SIGTERM call stop() while run() runs. Before run().
  void stop_on_signals();

  // The loop's executor. Lives as long as the server.
  Executor& executor();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// start, run until SIGINT or SIGTERM, end gracefully. `listening` is called once with the port in use.
Result<void> serve_http(Service& service, HttpOptions options,
                        const std::function<void(std::uint16_t port)>& listening = {});

}  // namespace signet
