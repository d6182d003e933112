// The parts of HttpClient. Internal.
#pragma once

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <signet/base/one_shot.h>
#include <signet/base/task_group.h>
#include <signet/json/text.h>
#include <signet/protocol/mirrored_headers.h>
#include <signet/protocol/transport_failure.h>
#include <signet/transport/event_loop_impl.h>
#include <signet/transport/guarded.h>
#include <signet/transport/http_client.h>
#include <signet/transport/http_connection_impl.h>
#include <signet/transport/sse_parser.h>

namespace signet {

using transport::BodyPiece;
using transport::Failed;
using transport::HttpConnection;
using transport::HttpUrl;
using transport::SseEvent;
using transport::SseParser;
using transport::TransportFailure;

// Opens once; everybody who waits goes on.
class Gate {
 public:
  void open() {
    open_ = true;
    for (const OneShot<int>& waiting : std::exchange(waiting_, {})) waiting.set(0);
  }
  Task<void> wait() {
    if (open_) co_return;
    const OneShot<int> opened;
    waiting_.push_back(opened);
    co_await opened;
  }

 private:
  bool open_ = false;
  std::vector<OneShot<int>> waiting_;
};

// A connection in use. Gives it back, or closes it, when it goes.
class Lease {
 public:
  Lease(std::shared_ptr<HttpClient::Impl> owner, std::shared_ptr<HttpConnection> connection, bool counted,
        bool reused)
      : owner_(std::move(owner)), connection_(std::move(connection)), counted_(counted), reused_(reused) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();
  HttpConnection* operator->() const { return connection_.get(); }
  bool reused() const { return reused_; }

 private:
  std::shared_ptr<HttpClient::Impl> owner_;
  std::shared_ptr<HttpConnection> connection_;
  bool counted_;
  bool reused_;
};
using LeasePtr = std::shared_ptr<Lease>;
using Answered = Result<LeasePtr, TransportFailure>;

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// One HTTP request, before it has a connection.
struct Outgoing {
  Outgoing(std::string http_verb, HeaderList fields, std::string text)
      : verb(std::move(http_verb)), headers(std::move(fields)), body(std::move(text)) {}
  std::string verb;
  HeaderList headers;
  std::string body;
  std::chrono::milliseconds silence{0};
  bool repeatable = false;  // may be sent again on a fresh connection
  bool waits = true;        // for a free connection, where all are taken
};

// A session of a handshake revision.
struct HttpSession {
  std::string id;  // empty where the server gave none
  std::string version;
  Session* session = nullptr;  // null once its owner is gone
  bool announcing = false;     // notifications/initialized is on its way, or was
  Gate ready;                  // it has been taken, and the stream stands or was refused
  TaskGroup stream;
  TaskGroup answers;  // to the server's requests
  bool ended = false;
};

// Held by Session::server_state; its end is the session's.
struct SessionTie {
  SessionTie(std::weak_ptr<HttpClient::Impl> client, std::shared_ptr<HttpSession> http_session)
      : owner(std::move(client)), session(std::move(http_session)) {}
  SessionTie(const SessionTie&) = delete;
  SessionTie& operator=(const SessionTie&) = delete;
  ~SessionTie();
  std::weak_ptr<HttpClient::Impl> owner;
  std::shared_ptr<HttpSession> session;
};

struct HttpClient::Impl : std::enable_shared_from_this<HttpClient::Impl> {
  Impl(EventLoop::Impl& event_loop, HttpUrl address, std::optional<HttpUrl> through, HttpClientOptions wanted)
      : loop(event_loop),
        url(std::move(address)),
        proxy(std::move(through)),
        options(transport::with_guarded_log(std::move(wanted))),
        trust(boost::asio::ssl::context::tls_client) {}

  // http_client.cc: requests and replies
  Task<Reply> call(Request request, Exchange& exchange);
  Task<Reply> read_reply(Request& request, LeasePtr lease, Exchange& exchange,
                         std::shared_ptr<HttpSession> session);
  Task<Reply> read_events(Request& request, LeasePtr lease, Exchange& exchange,
                          std::shared_ptr<HttpSession> session);
  Task<Reply> read_refusal(LeasePtr lease);
  Task<Result<std::string>> fetch();
  Task<Result<std::string, TransportFailure>> read_all(LeasePtr lease, std::chrono::milliseconds silence);
  Task<void> post_notification(Notification notification, std::shared_ptr<HttpSession> session);
  void learn_tools(const Json& result);
  void finish(std::shared_ptr<std::promise<void>> gone);
  Result<HeaderList> standard_headers(const Request& request, const HttpSession* session) const;

  // http_session.cc: handshake revisions
  std::shared_ptr<HttpSession> session_of(const Exchange& exchange) const;
  void open_session(Session& session, const Json& result, std::string id);
  void end_session(const std::shared_ptr<HttpSession>& session);
  void forget_session(const std::shared_ptr<HttpSession>& session);  // the server has; nothing is sent
  HeaderList session_headers(const HttpSession& session) const;
  Task<void> wait_until_ready(std::shared_ptr<HttpSession> session);
  Task<void> announce_initialized(Notification notification, std::shared_ptr<HttpSession> session);
  Task<void> keep_stream(std::shared_ptr<HttpSession> session);
  Task<bool> read_stream(LeasePtr lease, std::shared_ptr<HttpSession> session, SseParser& parser);
  void take_stream_event(const std::shared_ptr<HttpSession>& session, const SseEvent& event);
  Task<LeasePtr> open_stream(std::shared_ptr<HttpSession> session, std::string last_event_id, int& status);
  Task<void> answer(std::shared_ptr<HttpSession> session, Outlet& outlet, Request request);
  Task<void> send_delete(std::shared_ptr<HttpSession> session);

  // http_pool.cc: connections
  Task<Answered> send(Outgoing outgoing);
  Task<Answered> lease(HttpUrl target, bool waits, bool fresh);
  std::string head_of(const Outgoing& outgoing, const HttpUrl& target) const;
  void give_back(std::shared_ptr<HttpConnection> connection, bool counted);
  void wake_next();

  Task<void> pause(std::chrono::milliseconds delay);
  void log(LogLevel level, std::string_view event, std::string_view name, std::string value) const;

  struct Waiting {
    OneShot<int> turn;
    std::shared_ptr<bool> alive;
  };
  struct Idle {
    std::shared_ptr<HttpConnection> connection;
    std::shared_ptr<void> expiry;
  };

  EventLoop::Impl& loop;
  HttpUrl url;
  std::optional<HttpUrl> proxy;
  HttpClientOptions options;
  boost::asio::ssl::context trust;
  std::vector<Idle> idle;
  std::size_t connections = 0;
  std::deque<Waiting> waiting;
  std::map<std::string, std::vector<protocol::MirroredHeader>, std::less<>> mirrored;
  std::vector<std::weak_ptr<HttpSession>> sessions;
  TaskGroup background;
  std::shared_ptr<void> farewell;
  bool closing = false;
};

}  // namespace signet
