#include <signet/transport/http_client.h>

#include <algorithm>
#include <cstdlib>
#include <future>

#include <signet/protocol/errors.h>
#include <signet/protocol/header_codec.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/versions.h>
#include <signet/transport/http_client_impl.h>

namespace signet {
namespace {

using Kind = TransportFailure::Kind;
using namespace std::chrono_literals;

constexpr std::size_t refusal_bytes_max = std::size_t{256} << 10;
constexpr std::size_t challenge_bytes_max = 4096;
constexpr std::size_t document_bytes_max = std::size_t{64} << 10;
constexpr auto document_silence_max = 10s;
constexpr std::size_t tools_mirrored_max = 10'000;
constexpr int resumptions_max = 10;
constexpr std::size_t server_requests_max = 64;
constexpr auto farewell_max = 2s;

Reply refuse(Kind kind, std::string sentence, bool may_have_arrived = true) {
  return failure(protocol::to_fault(TransportFailure(kind, std::move(sentence), may_have_arrived)));
}

bool is_media_type(std::string_view field, std::string_view type) {
  return protocol::equal_ignoring_case(protocol::trim_blanks(field.substr(0, field.find(';'))), type);
}

const std::string* target_of(const Request& request) {
  if (request.method == "tools/call" || request.method == "prompts/get")
    return request.params.find_string("name");
  if (request.method == "resources/read") return request.params.find_string("uri");
  if (request.method.starts_with("tasks/")) return request.params.find_string("taskId");
  return nullptr;
}

bool is_field_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

bool is_field_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

json::Limits limits_of(std::size_t bytes_max) {
  json::Limits limits;
  limits.bytes_max = bytes_max;
  return limits;
}

std::string claimed_version(const Json& params) {
  const Json* meta = params.find(protocol::meta::member);
  const std::string* version =
      meta != nullptr ? meta->find_string(protocol::meta::protocol_version) : nullptr;
  return version != nullptr && is_field_value(*version) ? *version
                                                        : std::string(protocol::modern_versions.front());
}

// On a session, a call that is dropped must be cancelled by name: closing its stream says nothing there.
class CancelWhenDropped {
 public:
  CancelWhenDropped(std::shared_ptr<HttpClient::Impl> client, std::shared_ptr<HttpSession> session, Json id)
      : client_(std::move(client)), session_(std::move(session)), id_(std::move(id)) {}
  CancelWhenDropped(const CancelWhenDropped&) = delete;
  CancelWhenDropped& operator=(const CancelWhenDropped&) = delete;
  ~CancelWhenDropped() {
    if (!session_ || session_->ended || client_->closing) return;
    Notification cancelled("notifications/cancelled", Json::object({{"requestId", id_}}));
    client_->background.start(client_->post_notification(std::move(cancelled), session_));
  }
  void done() { session_.reset(); }

 private:
  std::shared_ptr<HttpClient::Impl> client_;
  std::shared_ptr<HttpSession> session_;
  Json id_;
};

}  // namespace

void HttpClient::Impl::log(LogLevel level, std::string_view event, std::string_view name,
                           std::string value) const {
  if (options.log) options.log(level, event, {{name, std::move(value)}});
}

Task<void> HttpClient::Impl::pause(std::chrono::milliseconds delay) {
  const OneShot<int> over;
  const std::shared_ptr<void> timer = loop.executor.post_after(delay, [over] { over.set(0); });
  co_await over;
}

Result<HeaderList> HttpClient::Impl::standard_headers(const Request& request,
                                                      const HttpSession* session) const {
  HeaderList headers;
  if (session != nullptr) {
    headers = session_headers(*session);
  } else if (request.method != "initialize") {
    headers.emplace_back("MCP-Protocol-Version", claimed_version(request.params));
    headers.emplace_back("Mcp-Method", protocol::encode_header_value(request.method));
    const std::string* target = target_of(request);
    if (target != nullptr) headers.emplace_back("Mcp-Name", protocol::encode_header_value(*target));
    const auto tool =
        request.method == "tools/call" && target != nullptr ? mirrored.find(*target) : mirrored.end();
    if (tool != mirrored.end()) {
      const Json* arguments = request.params.find("arguments");
      auto parameters = protocol::mirror(tool->second, arguments != nullptr ? *arguments : Json::object());
      if (!parameters) return failure(parameters.error());
      for (auto& parameter : *parameters) headers.push_back(std::move(parameter));
    }
  }
  headers.emplace_back("Accept", "application/json, text/event-stream");
  return headers;
}

Task<Reply> HttpClient::Impl::call(Request request, Exchange& exchange) {
  const std::shared_ptr<HttpSession> session =
      request.method == "initialize" ? nullptr : session_of(exchange);
  if (session && session->ended) co_return refuse(Kind::session_ended, "the session has ended", false);
  if (session) {
    const Task<void> waiting = wait_until_ready(session);
    co_await waiting;
  }
  Result<HeaderList> headers = standard_headers(request, session.get());
  if (!headers) co_return refuse(Kind::local, headers.error().message, false);
  std::string body = protocol::write_request(request.id, request.method, request.params);
  if (body.size() > options.request_bytes_max)
    co_return refuse(Kind::local, "the request is longer than the limit", false);

  CancelWhenDropped cancel(shared_from_this(), session, request.id);
  Outgoing post("POST", std::move(*headers), std::move(body));
  post.repeatable = request.method != "tools/call";
  post.silence = request.method == "subscriptions/listen" ? 0ms : options.silence_max;
  const Task<Answered> sending = send(std::move(post));
  Answered answered = co_await sending;
  if (!answered) {
    cancel.done();
    co_return failure(protocol::to_fault(answered.error()));
  }
  if (session && !session->id.empty() && (**answered)->status() == 404) {
    cancel.done();
    forget_session(session);
    co_return refuse(Kind::session_ended, "the server no longer knows the session", false);
  }
  std::string session_id((**answered)->field("Mcp-Session-Id"));
  const Task<Reply> reading = read_reply(request, *answered, exchange, session);
  Reply reply = co_await reading;
  cancel.done();
  if (reply && request.method == "initialize" && exchange.session != nullptr) {
    open_session(*exchange.session, *reply, std::move(session_id));
  }
  if (reply && request.method == "tools/list" && !session) learn_tools(*reply);
  co_return reply;
}

Task<Reply> HttpClient::Impl::read_reply(Request& request, LeasePtr lease, Exchange& exchange,
                                         std::shared_ptr<HttpSession> session) {
  const int status = (*lease)->status();
  if (status / 100 != 2) {
    const Task<Reply> refusal = read_refusal(lease);
    Reply reply = co_await refusal;
    co_return reply;
  }
  const std::string_view encoding = (*lease)->field("Content-Encoding");
  if (!encoding.empty() && !protocol::equal_ignoring_case(encoding, "identity")) {
    co_return refuse(Kind::not_mcp, "the answer is compressed, which nobody asked for");
  }
  const std::string type((*lease)->field("Content-Type"));
  if (is_media_type(type, "text/event-stream")) {
    const Task<Reply> events = read_events(request, lease, exchange, session);
    Reply reply = co_await events;
    co_return reply;
  }
  if (!is_media_type(type, "application/json")) {
    co_return refuse(Kind::not_mcp, "the answer is neither JSON nor a stream of events (status " +
                                        std::to_string(status) + ")");
  }
  const Task<Result<std::string, TransportFailure>> reading = read_all(lease, options.silence_max);
  const Result<std::string, TransportFailure> body = co_await reading;
  if (!body) co_return failure(protocol::to_fault(body.error()));
  protocol::Message message = protocol::read_message(*body, limits_of(options.body_bytes_max));
  auto* response = std::get_if<protocol::Response>(&message);
  if (response == nullptr) co_return refuse(Kind::not_mcp, "the answer is no JSON-RPC response");
  if (!response->id.is_null() && protocol::id_key(response->id) != protocol::id_key(request.id)) {
    co_return refuse(Kind::not_mcp, "the answer belongs to another request");
  }
  if (response->id.is_null() && response->reply.ok()) co_return refuse(Kind::not_mcp, "the answer has no id");
  co_return std::move(response->reply);
}

Task<Reply> HttpClient::Impl::read_refusal(LeasePtr lease) {
  const int status = (*lease)->status();
  TransportFailure refused(Kind::http_status,
                           "the server answered with HTTP status " + std::to_string(status), false);
  refused.http_status = status;
  if (status >= 500) refused.may_have_arrived = true;
  if (status == 401 || status == 403) {
    refused.challenge = (*lease)->field("WWW-Authenticate").substr(0, challenge_bytes_max);
  }
  const Task<Result<std::string, TransportFailure>> reading = read_all(lease, 10s);
  const Result<std::string, TransportFailure> body = co_await reading;
  if (status == 401 || !body || body->size() > refusal_bytes_max)
    co_return failure(protocol::to_fault(refused));
  protocol::Message message = protocol::read_message(*body, limits_of(refusal_bytes_max));
  auto* response = std::get_if<protocol::Response>(&message);
  if (response == nullptr || response->reply.ok()) co_return failure(protocol::to_fault(refused));
  Fault fault = std::move(response->reply.error());
  // An unknown method is 404 with 2026-07-28 (S33). With any other status it is the word of an older server.
  if (fault.code != protocol::method_not_found || status == 404) fault.stage = Fault::Stage::envelope;
  co_return failure(std::move(fault));
}

Task<Result<std::string>> HttpClient::Impl::fetch() {
  HeaderList headers;
  headers.emplace_back("Accept", "application/json");
  Outgoing get("GET", std::move(headers), std::string());
  get.repeatable = true;
  get.silence = document_silence_max;
  const Task<Answered> sending = send(std::move(get));
  Answered answered = co_await sending;
  if (!answered) co_return failure(answered.error().message);
  const LeasePtr lease = *answered;
  if ((*lease)->status() / 100 != 2)
    co_return failure("the server answered with HTTP status " + std::to_string((*lease)->status()));
  const Task<Result<std::string, TransportFailure>> reading = read_all(lease, document_silence_max);
  Result<std::string, TransportFailure> body = co_await reading;
  if (!body) co_return failure(body.error().message);
  if (body->size() > document_bytes_max) co_return failure("the document is longer than 64 KiB");
  co_return std::move(*body);
}

Task<Result<std::string, TransportFailure>> HttpClient::Impl::read_all(LeasePtr lease,
                                                                       std::chrono::milliseconds silence) {
  std::string body;
  for (;;) {
    const Task<BodyPiece> reading = (*lease)->read_body(silence);
    BodyPiece piece = co_await reading;
    if (piece.failed) co_return failure(std::move(*piece.failed));
    if (piece.end) co_return body;
    if (body.size() + piece.bytes.size() > options.body_bytes_max) {
      co_return failure(TransportFailure(
          Kind::too_large,
          "the answer is longer than the limit of " + std::to_string(options.body_bytes_max) + " bytes",
          true));
    }
    body += piece.bytes;
  }
}

// Reads a stream until the reply to `request` is on it; on a session also its continuations.
Task<Reply> HttpClient::Impl::read_events(Request& request, LeasePtr lease, Exchange& exchange,
                                          std::shared_ptr<HttpSession> session) {
  const std::string key = protocol::id_key(request.id);
  const std::chrono::milliseconds silence =
      request.method == "subscriptions/listen" ? 0ms : options.silence_max;
  TaskGroup answers;
  std::string last_event_id;
  std::chrono::milliseconds retry = 1000ms;
  for (int resumptions = 0;; ++resumptions) {
    SseParser parser(options.event_bytes_max);
    std::vector<SseEvent> events;
    Failed failed;
    for (;;) {
      const Task<BodyPiece> reading = (*lease)->read_body(silence);
      BodyPiece piece = co_await reading;
      failed = std::move(piece.failed);
      if (piece.end || failed) break;
      events.clear();
      const Result<void> fed = parser.feed(piece.bytes, events);
      for (const SseEvent& event : events) {
        if (event.data.empty()) continue;
        protocol::Message message = protocol::read_message(event.data, limits_of(options.event_bytes_max));
        if (auto* response = std::get_if<protocol::Response>(&message)) {
          const bool ours =
              protocol::id_key(response->id) == key || (response->id.is_null() && !response->reply.ok());
          if (ours) co_return std::move(response->reply);
          log(LogLevel::warning, "reply_ignored", "reason", "it belongs to another request");
        } else if (auto* notification = std::get_if<Notification>(&message)) {
          exchange.outlet->notify(std::move(*notification));
        } else if (auto* asked = std::get_if<Request>(&message); asked != nullptr && session) {
          if (answers.size() < server_requests_max)
            answers.start(answer(session, *exchange.outlet, std::move(*asked)));
        } else {
          log(LogLevel::warning, "stream_message_ignored", "reason", "not allowed on this stream");
        }
      }
      if (!fed) co_return refuse(Kind::too_large, fed.error().message);
    }
    if (!parser.last_event_id().empty()) last_event_id = parser.last_event_id();
    retry = parser.retry().value_or(retry);
    if (!session || last_event_id.empty() || resumptions >= resumptions_max || session->ended) {
      if (failed) co_return failure(protocol::to_fault(*failed));
      co_return refuse(Kind::closed, "the stream ended before the answer");
    }
    lease.reset();
    for (int tries = 0; !lease && tries < 3; ++tries) {
      const Task<void> pausing = pause(retry);
      co_await pausing;
      int status = 0;
      const Task<LeasePtr> opening = open_stream(session, last_event_id, status);
      lease = co_await opening;
      if (!lease && status != 0) break;
    }
    if (!lease)
      co_return refuse(Kind::closed, "the stream ended before the answer, and could not be resumed");
  }
}

void HttpClient::Impl::learn_tools(const Json& result) {
  const Json* tools = result.find("tools");
  if (tools == nullptr || tools->as_array() == nullptr) return;
  for (const Json& tool : *tools->as_array()) {
    const std::string* name = tool.find_string("name");
    const Json* schema = tool.find("inputSchema");
    if (name == nullptr || schema == nullptr) continue;
    Result<std::vector<protocol::MirroredHeader>> headers = protocol::mirrored_headers(*schema);
    if (!headers || headers->empty()) {
      const auto known = mirrored.find(*name);
      if (known != mirrored.end()) mirrored.erase(known);
    } else if (mirrored.size() < tools_mirrored_max || mirrored.contains(*name)) {
      mirrored.insert_or_assign(*name, std::move(*headers));
    }
  }
}

Task<void> HttpClient::Impl::post_notification(Notification notification,
                                               std::shared_ptr<HttpSession> session) {
  HeaderList headers;
  if (session) {
    headers = session_headers(*session);
  } else {
    headers.emplace_back("MCP-Protocol-Version", claimed_version(notification.params));
    headers.emplace_back("Mcp-Method", protocol::encode_header_value(notification.method));
  }
  headers.emplace_back("Accept", "application/json, text/event-stream");
  Outgoing post("POST", std::move(headers), protocol::write_notification(notification));
  post.waits = false;
  post.silence = 10s;
  const Task<Answered> sending = send(std::move(post));
  const Answered answered = co_await sending;
  if (!answered) {
    log(LogLevel::warning, "notification_not_delivered", "reason", answered.error().message);
  } else if ((**answered)->status() / 100 != 2) {
    log(LogLevel::warning, "notification_refused", "status", std::to_string((**answered)->status()));
  } else {
    const Task<Result<std::string, TransportFailure>> reading = read_all(*answered, 10s);
    const Result<std::string, TransportFailure> body =
        co_await reading;  // so that the connection can be kept
    if (!body) log(LogLevel::debug, "notification_answer", "reason", body.error().message);
  }
}

Result<std::unique_ptr<HttpClient>> HttpClient::create(EventLoop& loop, std::string_view url,
                                                       HttpClientOptions options) {
  Result<HttpUrl> address = transport::parse_http_url(url);
  if (!address) return failure(address.error());
  for (const auto& [name, value] : options.headers) {
    if (!is_field_name(name) || !is_field_value(value)) return failure("a header to send is not valid");
  }
  std::optional<HttpUrl> proxy;
  if (options.environment_proxies) {
    Result<std::optional<HttpUrl>> found =
        transport::proxy_for(*address, [](const char* name) -> std::optional<std::string> {
          const char* value = std::getenv(name);
          if (value == nullptr) return std::nullopt;
          return std::string(value);
        });
    if (!found) return failure(found.error());
    proxy = std::move(*found);
  }
  auto impl = std::make_shared<Impl>(loop.impl(), std::move(*address), std::move(proxy), std::move(options));
  boost::system::error_code error;
  if (impl->options.ca_file.empty()) {
    impl->trust.set_default_verify_paths(error);
  } else {
    impl->trust.load_verify_file(impl->options.ca_file, error);
  }
  if (error) return failure("the trusted certificates cannot be read: " + error.message());
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

Task<Reply> HttpClient::call(Request request, Exchange& exchange) {
  return impl_->call(std::move(request), exchange);
}

void HttpClient::notify(Notification notification, Exchange& exchange) {
  const std::shared_ptr<HttpSession> session = impl_->session_of(exchange);
  if (session && notification.method == "notifications/initialized") {
    impl_->background.start(impl_->announce_initialized(std::move(notification), session));
  } else {
    impl_->background.start(impl_->post_notification(std::move(notification), session));
  }
}

Task<Result<std::string>> HttpClient::fetch() { return impl_->fetch(); }

void HttpClient::shut_down() {
  for (const std::weak_ptr<HttpSession>& weak : impl_->sessions) {
    const std::shared_ptr<HttpSession> session = weak.lock();
    if (session) impl_->end_session(session);
  }
  impl_->sessions.clear();
}

HttpClient::~HttpClient() {
  // On the loop: end what is open, then look again and again until the farewells are sent or late.
  auto gone = std::make_shared<std::promise<void>>();
  std::future<void> wait = gone->get_future();
  impl_->loop.executor.post([impl = impl_, gone] {
    for (const std::weak_ptr<HttpSession>& weak : impl->sessions) {
      const std::shared_ptr<HttpSession> session = weak.lock();
      if (session) impl->end_session(session);
    }
    impl->finish(gone);
  });
  impl_.reset();
  wait.wait();
}

// Fulfils `gone` when nothing runs in the background any more, or when the time is over.
void HttpClient::Impl::finish(std::shared_ptr<std::promise<void>> gone) {
  const auto end = [self = shared_from_this(), gone] {
    if (std::exchange(self->closing, true)) return;
    self->farewell.reset();
    self->background.drop_all();
    self->idle.clear();
    gone->set_value();
  };
  if (background.size() == 0) return end();
  background.when_empty([self = shared_from_this(), end] { self->loop.executor.post(end); });
  farewell = loop.executor.post_after(farewell_max, end);
}

}  // namespace signet
