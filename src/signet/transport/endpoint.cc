#include <signet/transport/endpoint.h>

#include <algorithm>
#include <array>
#include <utility>

#include <signet/base/bytes.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/header_codec.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/methods.h>
#include <signet/protocol/versions.h>
#include <signet/transport/batch_answer.h>
#include <signet/transport/guarded.h>
#include <signet/transport/post_call.h>

namespace signet::transport {
namespace {

constexpr std::string_view session_header = "Mcp-Session-Id";
constexpr std::string_view well_known = "/.well-known/oauth-protected-resource";
constexpr std::string_view text_plain = "text/plain; charset=utf-8";

protocol::StandardHeaders standard_headers(const ServerRequest& request) {
  protocol::StandardHeaders headers;
  headers.protocol_version = request.header("MCP-Protocol-Version");
  headers.method = request.header("Mcp-Method");
  headers.name = request.header("Mcp-Name");
  return headers;
}

bool names_modern_era(const ServerRequest& request) {
  const std::optional<std::string_view> version = request.header("MCP-Protocol-Version");
  return version && protocol::names_modern_era(*version);
}

// The scheme, host and port by which the client has come.
std::string origin_of(const ServerRequest& request) {
  return (request.secure ? "https://" : "http://") + std::string(authority_of(request));
}

// A resource's URI up to its path, and from there on. The path `/` counts as none.
struct ResourceParts {
  std::string_view origin;
  std::string_view rest;
};

ResourceParts split_resource(std::string_view resource) {
  const std::size_t scheme = resource.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(resource.find('/', host), resource.size());
  ResourceParts parts;
  parts.origin = resource.substr(0, path);
  parts.rest = resource.substr(path);
  if (parts.rest == "/") parts.rest = {};
  return parts;
}

Fault envelope_fault(int code, std::string sentence) {
  Fault fault(code, std::move(sentence));
  fault.stage = Fault::Stage::envelope;
  return fault;
}

}  // namespace

// A request from its arrival to the moment it is known who sent it.
struct Endpoint::Arrival {
  Arrival(std::shared_ptr<const ServerRequest> from, std::shared_ptr<Responder> to)
      : request(std::move(from)), responder(std::move(to)) {}
  std::shared_ptr<const ServerRequest> request;
  std::shared_ptr<Responder> responder;
  Principal principal;
  bool gone = false;
  Task<bool> authentication;
};

Endpoint::Endpoint(Service& service, Executor& executor, const HttpOptions& options, Entropy& entropy)
    : service_(service), executor_(executor), options_(options), entropy_(entropy) {
  limits_.bytes_max = options.body_bytes_max;
  limits_.depth_max = options.json_depth_max;
}

Endpoint::~Endpoint() = default;

Fields Endpoint::fields_for(const ServerRequest& request) const {
  Fields fields;
  if (!options_.cors) return fields;
  const std::optional<std::string_view> origin = request.header("Origin");
  if (!origin) return fields;
  fields.emplace_back("Access-Control-Allow-Origin", *origin);
  fields.emplace_back("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate");
  fields.emplace_back("Vary", "Origin");
  return fields;
}

void Endpoint::refuse(const Arrival& arrival, int status, std::string_view sentence) const {
  arrival.responder->respond(status, text_plain, sentence, fields_for(*arrival.request));
}

void Endpoint::refuse_method(const Arrival& arrival, std::string_view allowed) const {
  Fields fields = fields_for(*arrival.request);
  fields.emplace_back("Allow", allowed);
  arrival.responder->respond(405, text_plain, "Method not allowed", fields);
}

std::string_view Endpoint::methods() const { return options_.modern_only ? "POST" : "POST, GET, DELETE"; }

void Endpoint::refuse(const Arrival& arrival, const std::optional<Json>& id, const Fault& fault,
                      int status) const {
  arrival.responder->respond(status, "application/json", protocol::write_error(id, fault),
                             fields_for(*arrival.request));
}

bool Endpoint::answer_anybody(const Arrival& arrival) {
  const std::string_view path = path_of(arrival.request->target());
  if (is_metadata_path(path)) return serve_metadata(arrival), true;
  if (path != options_.path) return refuse(arrival, 404, "Not found"), true;
  if (arrival.request->method() == "OPTIONS" && options_.cors) return preflight(arrival, methods()), true;
  if (shutting_down_) return refuse(arrival, 503, "Shutting down"), true;
  return false;
}

void Endpoint::handle(std::shared_ptr<const ServerRequest> request, std::shared_ptr<Responder> responder) {
  const auto arrival = std::make_shared<Arrival>(std::move(request), std::move(responder));
  if (answer_anybody(*arrival)) return;
  if (options_.authenticator == nullptr) return serve(arrival);
  if (!arrival->request->principal)
    return identify(arrival, [this](const std::shared_ptr<Arrival>& known) { serve(known); });
  arrival->principal = *arrival->request->principal;
  serve(arrival);
}

void Endpoint::admit(std::shared_ptr<const ServerRequest> head, std::shared_ptr<Responder> responder,
                     Admitted admitted) {
  const auto arrival = std::make_shared<Arrival>(std::move(head), std::move(responder));
  if (answer_anybody(*arrival)) return;
  identify(arrival, [admitted = std::move(admitted)](const std::shared_ptr<Arrival>& known) {
    admitted(std::move(known->principal));
  });
}

void Endpoint::identify(const std::shared_ptr<Arrival>& arrival, Identified then) {
  arrival->responder->gone = [this, weak = std::weak_ptr<Arrival>(arrival)] {
    const auto gone = weak.lock();
    if (gone == nullptr) return;
    gone->gone = true;
    // Drops the authentication. Not from inside of what it may be waiting for.
    executor_.post([this, weak] { arriving_.remove(weak.lock()); });
  };
  const auto place = arriving_.insert(arriving_.end(), arrival);
  arrival->authentication = authenticate(arrival);
  arrival->authentication.start([this, place, then = std::move(then)] {
    const std::shared_ptr<Arrival> known = *place;
    arriving_.erase(place);
    const bool is_known = known->authentication.take();
    known->authentication = Task<bool>();
    known->responder->gone = nullptr;
    if (is_known && !known->gone) then(known);
  });
}

Task<bool> Endpoint::authenticate(std::shared_ptr<Arrival> arrival) {
  // The arrival owns this task, so the reference holds for as long as it runs.
  const std::shared_ptr<const ServerRequest> request = arrival->request;
  Arrival& known = *arrival;
  arrival.reset();
  const CallerHeaders caller(request->peer_address, [request](std::string_view name) {
    const std::optional<std::string_view> value = request->header(name);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  });
  try {
    Result<Principal, Challenge> who = co_await options_.authenticator->authenticate(caller);
    if (who.ok()) {
      known.principal = std::move(who).value();
      co_return true;
    }
    challenge(known, who.error());
  } catch (...) {
    // It does not say that nobody may come in, nor who this is.
    log_thrown(options_.log, "Authenticator::authenticate");
    refuse(known, 500, "The caller could not be authenticated");
  }
  co_return false;
}

void Endpoint::challenge(const Arrival& arrival, const Challenge& challenge) {
  Fields fields = fields_for(*arrival.request);
  fields.emplace_back("WWW-Authenticate", www_authenticate(challenge, metadata_url(*arrival.request)));
  arrival.responder->respond(http_status(challenge), text_plain, "Not authorized", fields);
}

// RFC 9728, section 3.1: the well-known part goes between the host and the path of the resource.
std::string Endpoint::metadata_url(const ServerRequest& request) const {
  if (!options_.protected_resource) return {};
  const std::string& resource = options_.protected_resource->resource;
  if (resource.empty()) return origin_of(request) + std::string(well_known) + options_.path;
  const ResourceParts parts = split_resource(resource);
  return std::string(parts.origin) + std::string(well_known) + std::string(parts.rest);
}

// True of the path that the challenge names, of the one for the path that is served, and of the one without any: a proxy
// before us may write paths anew.
bool Endpoint::is_metadata_path(std::string_view path) const {
  if (!options_.protected_resource || !path.starts_with(well_known)) return false;
  const std::string_view suffix = path.substr(well_known.size());
  if (suffix.empty() || suffix == options_.path) return true;
  const std::string_view named = split_resource(options_.protected_resource->resource).rest;
  return suffix == named.substr(0, named.find_first_of("?#"));
}

void Endpoint::serve_metadata(const Arrival& arrival) {
  const ServerRequest& request = *arrival.request;
  if (request.method() == "OPTIONS" && options_.cors) return preflight(arrival, "GET, HEAD");
  if (request.method() != "GET" && request.method() != "HEAD") return refuse_method(arrival, "GET, HEAD");
  const ProtectedResource& known = *options_.protected_resource;
  Json document = Json::object();
  document.set("resource", known.resource.empty() ? origin_of(request) + options_.path : known.resource);
  Json servers = Json::array();
  for (const std::string& server : known.authorization_servers) servers.push_back(server);
  document.set("authorization_servers", std::move(servers));
  if (!known.scopes_supported.empty()) {
    Json scopes = Json::array();
    for (const std::string& scope : known.scopes_supported) scopes.push_back(scope);
    document.set("scopes_supported", std::move(scopes));
  }
  document.set("bearer_methods_supported", Json::array({"header"}));
  arrival.responder->respond(200, "application/json", json::write(document), fields_for(request));
}

void Endpoint::preflight(const Arrival& arrival, std::string_view allowed) {
  Fields fields = fields_for(*arrival.request);
  fields.emplace_back("Access-Control-Allow-Methods", allowed);
  // The names asked for are header names: the gate of headers has let no other bytes through.
  fields.emplace_back("Access-Control-Allow-Headers",
                      arrival.request->header("Access-Control-Request-Headers").value_or("Content-Type"));
  fields.emplace_back("Access-Control-Max-Age", "600");
  arrival.responder->respond(204, "", "", fields);
}

void Endpoint::serve(const std::shared_ptr<Arrival>& arrival) {
  const std::string_view method = arrival->request->method();
  if (method == "POST") return post(arrival);
  if (doubled_mcp_header(*arrival->request))
    return refuse(*arrival, 400, "a header that may be there once is doubled");
  if (options_.modern_only || names_modern_era(*arrival->request)) return refuse_method(*arrival, methods());
  if (method == "GET") return get(arrival);
  if (method == "DELETE") return remove(arrival);
  refuse_method(*arrival, methods());
}

void Endpoint::post(const std::shared_ptr<Arrival>& arrival) {
  const ServerRequest& request = *arrival->request;
  if (!is_json(request.header("Content-Type")))
    return refuse(*arrival, 415, "Content-Type must be application/json");
  if (!protocol::equal_ignoring_case(request.header("Content-Encoding").value_or("identity"), "identity"))
    return refuse(*arrival, 415, "Content-Encoding must be identity, or absent");
  const Accepts accepts = accepts_of(request.list("Accept"));
  if (!accepts.json && !accepts.events)
    return refuse(*arrival, 406, "Accept must allow application/json or text/event-stream");

  if (accepts_batch(*arrival)) return post_batch(arrival, accepts);
  post_message(arrival, protocol::read_message(request.body(), limits_), accepts);
}

void Endpoint::post_message(const std::shared_ptr<Arrival>& arrival, protocol::Message message,
                            Accepts accepts) {
  const std::optional<std::string_view> doubled = doubled_mcp_header(*arrival->request);
  if (doubled && !std::holds_alternative<protocol::InvalidMessage>(message)) {
    const Request* request = std::get_if<Request>(&message);
    return refuse(
        *arrival, request != nullptr ? std::optional<Json>(request->id) : std::nullopt,
        envelope_fault(protocol::header_mismatch, "Header " + std::string(*doubled) + " is doubled"), 400);
  }
  if (auto* call = std::get_if<Request>(&message)) return post_request(arrival, std::move(*call), accepts);
  if (auto* notification = std::get_if<Notification>(&message))
    return post_notification(arrival, std::move(*notification));
  if (auto* response = std::get_if<protocol::Response>(&message))
    return post_response(arrival, std::move(*response));
  const auto& invalid = std::get<protocol::InvalidMessage>(message);
  refuse(*arrival, invalid.id, invalid.fault, 400);
}

// Only a session that agreed on the revision which has batches may send one.
bool Endpoint::accepts_batch(const Arrival& arrival) const {
  const ServerRequest& request = *arrival.request;
  if (options_.modern_only || !protocol::looks_like_batch(request.body()) || names_modern_era(request))
    return false;
  const std::optional<std::string_view> id = request.header(session_header);
  const auto found = id ? sessions_.find(*id) : sessions_.end();
  return found != sessions_.end() && found->second->principal() == arrival.principal &&
         found->second->state().protocol_version == protocol::version_2025_03_26;
}

void Endpoint::post_batch(const std::shared_ptr<Arrival>& arrival, Accepts accepts) {
  Result<std::vector<protocol::Message>, Fault> messages =
      protocol::read_batch(arrival->request->body(), options_.batch_messages_max, limits_);
  if (!messages.ok()) return refuse(*arrival, std::nullopt, messages.error(), 400);
  const std::shared_ptr<EndpointSession> session = find_session(*arrival);
  if (session == nullptr) return;
  const auto answer =
      std::make_shared<BatchAnswer>(arrival->responder, fields_for(*arrival->request), session);
  answer->start();
  for (protocol::Message& message : *messages) {
    const auto part = std::make_shared<Arrival>(arrival->request, answer->add_part());
    part->principal = arrival->principal;
    const Request* request = std::get_if<Request>(&message);
    const bool alone = request != nullptr && (request->method == protocol::method::initialize ||
                                              protocol::claims_modern(request->params));
    if (alone) {
      refuse(*part, request->id,
             envelope_fault(protocol::invalid_request, "This request is not accepted in a batch"), 400);
    } else {
      post_message(part, std::move(message), accepts);
    }
  }
  answer->seal();
}

void Endpoint::post_request(const std::shared_ptr<Arrival>& arrival, Request request, Accepts accepts) {
  Result<protocol::Era, Fault> era =
      protocol::decide_http_request(request, standard_headers(*arrival->request), options_.modern_only);
  if (!era.ok()) return refuse(*arrival, request.id, era.error(), protocol::http_status(era.error()));
  const bool opening = *era == protocol::Era::initialize;

  end_resumable_calls();
  PostCall::Setup setup(arrival->request, arrival->responder, unattended_, resumable_);
  if (opening) {
    if (!make_room()) return refuse(*arrival, 503, "Too many sessions");
    setup.session = make_session(arrival->principal);
  } else if (*era == protocol::Era::handshake) {
    setup.session = find_session(*arrival, request.id);
    if (setup.session == nullptr) return;
    if (setup.session->calls >= options_.session_calls_max)
      return refuse(*arrival, request.id, Fault(protocol::internal_error, "Too many requests at once"), 503);
    const std::string key = protocol::id_key(request.id);
    const bool taken = std::ranges::any_of(calls_, [&](const std::shared_ptr<PostCall>& call) {
      return call->session() == setup.session.get() && call->key() == key;
    });
    if (taken)
      return refuse(*arrival, request.id,
                    envelope_fault(protocol::invalid_request, "A request with this id is being served"), 400);
  } else if (request.method == protocol::method::subscriptions_listen && !accepts.events) {
    return refuse(*arrival, 406, "Accept must allow text/event-stream");
  }

  setup.principal = arrival->principal;
  setup.accepts = accepts;
  setup.fields = fields_for(*arrival->request);
  setup.started = now_;
  const std::shared_ptr<EndpointSession> session = setup.session;
  if (opening) setup.fields.emplace_back(session_header, session->id());
  if (session != nullptr) ++session->calls;
  const auto call = std::make_shared<PostCall>(std::move(setup));
  const auto place = calls_.insert(calls_.end(), call);
  call->start(service_, executor_, std::move(request),
              [this, place, session, opening](const Reply* reply, Fields& fields) {
                calls_.erase(place);
                if (session == nullptr) return;
                --session->calls;
                session->heard_at = now_;
                if (!opening) return;
                if (reply != nullptr && reply->ok()) {
                  sessions_.emplace(session->id(), session);
                } else {
                  std::erase_if(fields, [](const auto& field) { return field.first == session_header; });
                }
              });
}

void Endpoint::post_notification(const std::shared_ptr<Arrival>& arrival, Notification notification) {
  Result<protocol::Era, Fault> era = protocol::decide_http_notification(
      notification, standard_headers(*arrival->request), options_.modern_only);
  if (!era.ok()) return refuse(*arrival, std::nullopt, era.error(), protocol::http_status(era.error()));
  std::shared_ptr<EndpointSession> session;
  if (*era != protocol::Era::modern) {
    session = find_session(*arrival);
    if (session == nullptr) return;
  }
  arrival->responder->respond(202, "", "", fields_for(*arrival->request));
  if (notification.method == protocol::method::notifications::cancelled) {
    // With 2026-07-28 a client cancels by closing its connection; ids mean nothing across connections.
    const Json* id = session != nullptr ? notification.params.find("requestId") : nullptr;
    if (id == nullptr) return;
    const auto found = std::ranges::find_if(calls_, [&](const std::shared_ptr<PostCall>& call) {
      return call->session() == session.get() && call->key() == protocol::id_key(*id);
    });
    const std::shared_ptr<PostCall> call = found != calls_.end() ? *found : nullptr;
    if (call != nullptr) call->cancel();
    return;
  }
  pass_notification(service_, executor_, arrival->principal, session != nullptr ? &session->state() : nullptr,
                    std::move(notification));
}

void Endpoint::post_response(const std::shared_ptr<Arrival>& arrival, protocol::Response response) {
  const bool legacy = !options_.modern_only && !names_modern_era(*arrival->request) &&
                      arrival->request->header_count(session_header) > 0;
  if (!legacy)
    return refuse(*arrival, std::nullopt,
                  envelope_fault(protocol::invalid_request, "Responses are not accepted here"), 400);
  const std::shared_ptr<EndpointSession> session = find_session(*arrival);
  if (session == nullptr) return;
  arrival->responder->respond(202, "", "", fields_for(*arrival->request));
  session->outgoing().resolve(std::move(response));
}

void Endpoint::get(const std::shared_ptr<Arrival>& arrival) {
  const ServerRequest& request = *arrival->request;
  const std::optional<std::string> accept = request.list("Accept");
  if (!accept || !accepts_of(accept).events)
    return refuse(*arrival, 406, "Accept must allow text/event-stream");
  const std::shared_ptr<EndpointSession> session = find_session(*arrival);
  if (session == nullptr) return;
  const Fields fields = fields_for(request);
  if (const std::optional<std::string_view> last = request.header("Last-Event-ID"); last && !last->empty()) {
    const std::optional<EventId> id = EventId::parse(*last);
    if (!id || !session->resume(*id, arrival->responder, fields))
      refuse(*arrival, 400, "Unknown Last-Event-ID");
    return;
  }
  arrival->responder->open_stream(fields);
  session->open_standalone(arrival->responder);
}

void Endpoint::remove(const std::shared_ptr<Arrival>& arrival) {
  const std::shared_ptr<EndpointSession> session = find_session(*arrival);
  if (session == nullptr) return;
  end_session(session);
  arrival->responder->respond(204, "", "", fields_for(*arrival->request));
}

std::shared_ptr<EndpointSession> Endpoint::make_session(const Principal& principal) {
  std::array<std::uint8_t, 16> random{};
  entropy_.fill(random);
  auto session = std::make_shared<EndpointSession>(hex(random), principal, options_.replay_events_max,
                                                   options_.replay_bytes_max, replay_budget_);
  session->heard_at = now_;
  return session;
}

std::shared_ptr<EndpointSession> Endpoint::find_session(const Arrival& arrival,
                                                        const std::optional<Json>& id) {
  const std::optional<std::string_view> name = arrival.request->header(session_header);
  if (!name) {
    std::string sentence = "Mcp-Session-Id is missing";
    if (id) sentence += ": initialize first, or send the _meta fields of 2026-07-28";
    refuse(arrival, id, envelope_fault(protocol::invalid_request, std::move(sentence)), 400);
    return nullptr;
  }
  const auto found = sessions_.find(*name);
  // Somebody else's session does not exist, as far as this caller can tell.
  if (found == sessions_.end() || found->second->principal() != arrival.principal) {
    refuse(arrival, id, envelope_fault(protocol::invalid_request, "Session not found"), 404);
    return nullptr;
  }
  found->second->heard_at = now_;
  return found->second;
}

// True if there is room for one more session. If need be, of those that do nothing, or wait for a client that is not there,
// the one that has been silent the longest goes.
bool Endpoint::make_room() {
  if (sessions_.size() < options_.sessions_max) return true;
  std::shared_ptr<EndpointSession> oldest;
  for (const auto& [id, session] : sessions_) {
    if (session->is_attended() || !session->only_waits()) continue;
    if (oldest == nullptr || session->heard_at < oldest->heard_at) oldest = session;
  }
  if (oldest == nullptr) return false;
  end_session(oldest);
  return true;
}

// Not where a connection is lost: that may be in the middle of anything.
void Endpoint::end_resumable_calls() {
  while (resumable_->bytes() > options_.resumable_calls_bytes_max) {
    resumable_->longest().cancel();
    if (options_.log) options_.log(LogLevel::warning, "http_resumable_call_ended", {});
  }
}

void Endpoint::end_session(const std::shared_ptr<EndpointSession>& session) {
  sessions_.erase(session->id());
  std::list<std::shared_ptr<PostCall>> running;
  std::ranges::copy_if(calls_, std::back_inserter(running), [&](const std::shared_ptr<PostCall>& call) {
    return call->session() == session.get();
  });
  for (const std::shared_ptr<PostCall>& call : running) call->cancel();
  session->finish_all();
}

void Endpoint::tick(std::uint64_t now, std::chrono::milliseconds length) {
  now_ = now;
  tick_length_ = length;
  const auto ticks = [&](std::chrono::milliseconds time) {
    return static_cast<std::uint64_t>((time + length - std::chrono::milliseconds(1)) / length);
  };
  end_resumable_calls();
  const std::uint64_t lag_max = ticks(options_.write_timeout);
  for (const std::shared_ptr<PostCall>& call : calls_) call->tick(lag_max);
  // Calls stand in the order of their start.
  const std::uint64_t slow = ticks(options_.json_answer_max);
  for (const std::shared_ptr<PostCall>& call : calls_) {
    if (now - call->started() < slow) break;
    call->begin_stream();
  }
  const std::uint64_t idle = ticks(options_.session_idle_timeout);
  std::list<std::shared_ptr<EndpointSession>> expired;
  for (const auto& [id, session] : sessions_) {
    if (session->is_attended()) session->heard_at = now;
    if (now - session->heard_at >= idle) expired.push_back(session);
  }
  for (const std::shared_ptr<EndpointSession>& session : expired) {
    end_session(session);
    if (options_.log) options_.log(LogLevel::debug, "http_session_expired", {});
  }
}

void Endpoint::begin_shutdown() {
  if (shutting_down_) return;
  shutting_down_ = true;
  service_.shut_down();
  for (const auto& [id, session] : sessions_) session->finish(0);
}

void Endpoint::cancel_all() {
  shutting_down_ = true;
  arriving_.clear();
  while (!calls_.empty()) {
    const std::shared_ptr<PostCall> call = calls_.front();
    call->cancel();
  }
  while (!sessions_.empty()) {
    const std::shared_ptr<EndpointSession> session = sessions_.begin()->second;
    end_session(session);
  }
}

}  // namespace signet::transport
