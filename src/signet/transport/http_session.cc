// Sessions of the handshake revisions, seen from the client.
#include <signet/transport/http_client_impl.h>

#include <algorithm>

#include <signet/protocol/jsonrpc.h>

namespace signet {
namespace {

using namespace std::chrono_literals;

constexpr auto ready_max = 2000ms;
constexpr auto retry_default = 1000ms;
constexpr int failures_max = 5;
constexpr std::size_t server_requests_max = 64;

bool is_session_id(std::string_view id) {
  return id.size() <= 1024 && std::all_of(id.begin(), id.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

SessionTie::~SessionTie() {
  session->session = nullptr;
  const std::shared_ptr<HttpClient::Impl> client = owner.lock();
  if (client) client->end_session(session);
}

std::shared_ptr<HttpSession> HttpClient::Impl::session_of(const Exchange& exchange) const {
  if (exchange.session == nullptr || !exchange.session->server_state) return nullptr;
  return std::static_pointer_cast<SessionTie>(exchange.session->server_state)->session;
}

void HttpClient::Impl::open_session(Session& session, const Json& result, std::string id) {
  auto opened = std::make_shared<HttpSession>();
  if (is_session_id(id)) opened->id = std::move(id);
  const std::string* version = result.find_string("protocolVersion");
  if (version != nullptr && is_session_id(*version)) opened->version = *version;
  opened->session = &session;
  session.server_state = std::make_shared<SessionTie>(weak_from_this(), opened);
  std::erase_if(sessions, [](const std::weak_ptr<HttpSession>& old) { return old.expired(); });
  sessions.push_back(opened);
}

void HttpClient::Impl::end_session(const std::shared_ptr<HttpSession>& session) {
  if (session->ended) return;
  forget_session(session);
  if (!session->id.empty()) background.start(send_delete(session));
}

void HttpClient::Impl::forget_session(const std::shared_ptr<HttpSession>& session) {
  if (std::exchange(session->ended, true)) return;
  // Not from here: this may run inside a task of the session.
  loop.executor.post([session] {
    session->stream.drop_all();
    session->answers.drop_all();
  });
}

HeaderList HttpClient::Impl::session_headers(const HttpSession& session) const {
  HeaderList headers;
  if (!session.version.empty()) headers.emplace_back("MCP-Protocol-Version", session.version);
  if (!session.id.empty()) headers.emplace_back("Mcp-Session-Id", session.id);
  return headers;
}

Task<void> HttpClient::Impl::wait_until_ready(std::shared_ptr<HttpSession> session) {
  if (!session->announcing) co_return;
  const Task<void> waiting = session->ready.wait();
  co_await waiting;
}

// After `initialized` the stream of the session is opened, and requests wait for it: servers of these
// revisions ask over it, and lose what they ask before it stands.
Task<void> HttpClient::Impl::announce_initialized(Notification notification,
                                                  std::shared_ptr<HttpSession> session) {
  session->announcing = true;
  const std::shared_ptr<void> patience =
      loop.executor.post_after(ready_max, [session] { session->ready.open(); });
  const Task<void> posting = post_notification(std::move(notification), session);
  co_await posting;
  if (session->ended) co_return;
  session->stream.start(keep_stream(session));
  const Task<void> waiting = session->ready.wait();
  co_await waiting;
}

// The stream of events outside any request, or a resumed one; null and the status where it is refused.
Task<LeasePtr> HttpClient::Impl::open_stream(std::shared_ptr<HttpSession> session, std::string last_event_id,
                                             int& status) {
  HeaderList headers = session_headers(*session);
  headers.emplace_back("Accept", "text/event-stream");
  if (!last_event_id.empty()) headers.emplace_back("Last-Event-ID", std::move(last_event_id));
  Outgoing get("GET", std::move(headers), std::string());
  get.repeatable = true;
  get.waits = false;
  get.silence = options.silence_max;
  const Task<Answered> sending = send(std::move(get));
  Answered answered = co_await sending;
  status = 0;
  if (!answered) co_return nullptr;
  status = (**answered)->status();
  const std::string_view type = (**answered)->field("Content-Type");
  if (status != 200 || !type.starts_with("text/event-stream")) co_return nullptr;
  co_return *answered;
}

Task<void> HttpClient::Impl::keep_stream(std::shared_ptr<HttpSession> session) {
  std::string last_event_id;
  std::chrono::milliseconds retry = retry_default;
  int failures = 0;
  while (!session->ended && failures < failures_max) {
    int status = 0;
    const Task<LeasePtr> opening = open_stream(session, last_event_id, status);
    LeasePtr lease = co_await opening;
    session->ready.open();
    if (!lease && status != 0) co_return;  // refused: the server has no such stream
    ++failures;
    if (lease) {
      SseParser parser(options.event_bytes_max);
      const Task<bool> reading = read_stream(std::move(lease), session, parser);
      const bool heard = co_await reading;
      if (heard) failures = 0;
      if (!parser.last_event_id().empty()) last_event_id = parser.last_event_id();
      retry = parser.retry().value_or(retry);
    }
    const Task<void> pausing = pause(retry);
    co_await pausing;
  }
}

// Reads until the stream ends; true if there was anything on it.
Task<bool> HttpClient::Impl::read_stream(LeasePtr lease, std::shared_ptr<HttpSession> session,
                                         SseParser& parser) {
  bool heard = false;
  std::vector<SseEvent> events;
  for (;;) {
    const Task<BodyPiece> reading = (*lease)->read_body(std::chrono::milliseconds(0));
    const BodyPiece piece = co_await reading;
    if (piece.end || piece.failed) co_return heard;
    heard = true;
    events.clear();
    const Result<void> fed = parser.feed(piece.bytes, events);
    if (!fed) co_return heard;
    for (const SseEvent& event : events) take_stream_event(session, event);
  }
}

void HttpClient::Impl::take_stream_event(const std::shared_ptr<HttpSession>& session, const SseEvent& event) {
  if (event.data.empty() || session->session == nullptr || session->session->outlet == nullptr) return;
  json::Limits limits;
  limits.bytes_max = options.event_bytes_max;
  protocol::Message message = protocol::read_message(event.data, limits);
  Outlet& outlet = *session->session->outlet;
  if (auto* notification = std::get_if<Notification>(&message)) {
    outlet.notify(std::move(*notification));
  } else if (auto* request = std::get_if<Request>(&message)) {
    if (session->answers.size() >= server_requests_max) {
      log(LogLevel::warning, "server_request_dropped", "reason", "too many at once");
      return;
    }
    session->answers.start(answer(session, outlet, std::move(*request)));
  } else {
    log(LogLevel::warning, "stream_message_ignored", "reason", "neither request nor notification");
  }
}

Task<void> HttpClient::Impl::answer(std::shared_ptr<HttpSession> session, Outlet& outlet, Request request) {
  const Task<Reply> asking = outlet.request(request.method, std::move(request.params));
  const Reply reply = co_await asking;
  HeaderList headers = session_headers(*session);
  headers.emplace_back("Accept", "application/json, text/event-stream");
  Outgoing post("POST", std::move(headers), protocol::write_reply(request.id, reply));
  post.waits = false;  // the calls that hold all connections may wait for this very answer
  post.silence = options.silence_max;
  const Task<Answered> sending = send(std::move(post));
  const Answered answered = co_await sending;
  if (!answered) {
    log(LogLevel::warning, "answer_not_delivered", "reason", answered.error().message);
  } else if ((**answered)->status() / 100 != 2) {
    log(LogLevel::warning, "answer_refused", "status", std::to_string((**answered)->status()));
  }
}

Task<void> HttpClient::Impl::send_delete(std::shared_ptr<HttpSession> session) {
  Outgoing request("DELETE", session_headers(*session), std::string());
  request.repeatable = true;
  request.waits = false;
  request.silence = ready_max;
  const Task<Answered> sending = send(std::move(request));
  const Answered answered = co_await sending;  // any answer will do: servers may keep their sessions
  if (!answered) log(LogLevel::debug, "session_end_not_delivered", "reason", answered.error().message);
}

}  // namespace signet
