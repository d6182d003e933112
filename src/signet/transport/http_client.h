// An MCP endpoint over Streamable HTTP, seen from the client: a Service.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/log.h>
#include <signet/base/result.h>
#include <signet/protocol/service.h>
#include <signet/transport/event_loop.h>

namespace signet {

struct HttpClientOptions {
  // Sent with every request, for example {"Authorization", "Bearer ..."}. Never logged, never sent to another origin.
  std::vector<std::pair<std::string, std::string>> headers;
  std::chrono::milliseconds connect_timeout{10'000};  // name, connection, TLS
  std::chrono::milliseconds send_timeout{30'000};
  // How long the server may say nothing at all, keep-alive comments included, while an answer is awaited. Zero waits for
  // ever. Does not apply to subscriptions/listen, nor to the stream of a session.
  std::chrono::milliseconds silence_max{300'000};
  std::size_t body_bytes_max = std::size_t{16} << 20;   // of one JSON answer
  std::size_t event_bytes_max = std::size_t{16} << 20;  // of one server-sent event
  std::size_t request_bytes_max = std::size_t{16} << 20;
  std::size_t connections_max = 64;  // requests beyond it wait; answers to the server never do
  std::string ca_file;               // PEM; trusted in place of the system's roots
  bool environment_proxies = true;   // http_proxy, https_proxy, no_proxy
  LogSink log;
};

// Every message is its own POST; answers may be JSON or a stream of events, each time anew (C13-C19). Of the 2026-07-28
// revision: the standard headers; Mcp-Param-* for the tools of every tools/list that passed through (C20-C24); session
// headers are ignored; dropping a call closes its connection, which cancels it. Of the handshake revisions, for exchanges
// with a Session: Mcp-Session-Id; the GET stream, opened after notifications/initialized, resumed with Last-Event-ID after
// the `retry` the server asked for; DELETE when the Session goes; dropping a call sends notifications/cancelled; status 404 ends the session, and the
// requests on it fail as `session_ended`.
//
// Redirects are followed within the origin only. Replies that never came are faults of stage `transport`
// (protocol/transport_failure.h). The id of a request must be new among those outstanding. Nothing is sent twice, except
// requests other than tools/call whose reused connection died before any answer.
//
// Tasks and notify: on the executor of `loop`, which every exchange must name; construction and destruction anywhere
// else. The loop outlives the client, the client outlives its tasks. Destruction waits, at most 2 s, for the end of
// sessions to be sent.
class HttpClient final : public Service {
 public:
  // An error if the address, a header, the proxy of the environment or the CA file cannot be used. Sends nothing.
  static Result<std::unique_ptr<HttpClient>> create(EventLoop& loop, std::string_view url,
                                                    HttpClientOptions options = HttpClientOptions());
  ~HttpClient() override;

  Task<Reply> call(Request request, Exchange& exchange) override;
  void notify(Notification notification, Exchange& exchange) override;
  // The document at the client's own address, with GET: for what stands beside an endpoint, such as the metadata of a protected
  // resource (RFC 9728). An error for every status but 2xx, and for more than 64 KiB. Sends the headers of the options.
  Task<Result<std::string>> fetch();
  // Ends the sessions: their streams close, DELETE is sent.
  void shut_down() override;

  struct Impl;

 private:
  explicit HttpClient(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace signet
