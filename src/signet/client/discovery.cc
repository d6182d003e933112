// Finding out what a server speaks (versioning; transports, "Backward compatibility"; C12).
#include <signet/client/client_impl.h>

#include <algorithm>
#include <utility>

#include <signet/protocol/errors.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/versions.h>

namespace signet {
namespace {

using Kind = CallError::Kind;

constexpr std::size_t log_bytes_max = 100;  // of a text of the server

std::string text_of(const Json* object, std::string_view name) {
  const std::string* text = object != nullptr ? object->find_string(name) : nullptr;
  return text != nullptr ? *text : std::string();
}

bool lists_version(const Json* versions, std::string_view version) {
  if (versions == nullptr || !versions->is_array()) return false;
  const JsonArray& all = *versions->as_array();
  return std::any_of(all.begin(), all.end(), [&](const Json& one) { return one == Json(version); });
}

std::optional<std::string> common_modern(const Json* versions) {
  for (const std::string_view ours : protocol::modern_versions) {
    if (lists_version(versions, ours)) return std::string(ours);
  }
  return std::nullopt;
}

bool lists_handshake(const Json* versions) {
  return std::any_of(protocol::handshake_versions.begin(), protocol::handshake_versions.end(),
                     [&](std::string_view version) { return lists_version(versions, version); });
}

CallError no_version() {
  return CallError(Kind::no_version, "the server speaks no revision of MCP that this client speaks");
}

// What the failure of the first question says of the server.
enum class Verdict : std::uint8_t { modern, other_version, try_initialize, give_up };

Verdict judge_http(int status) {
  const bool about_us = status == 401 || status == 403 || status == 407 || status == 429;
  if (about_us) return Verdict::give_up;
  return status / 100 == 4 || status == 500 || status == 501 ? Verdict::try_initialize : Verdict::give_up;
}

Verdict judge(const CallError& failed) {
  if (failed.kind == Kind::timed_out) return Verdict::try_initialize;
  if (failed.transport) {
    switch (failed.transport->kind) {
      case protocol::TransportFailure::Kind::http_status:
        return judge_http(failed.transport->http_status);
      case protocol::TransportFailure::Kind::closed:
      case protocol::TransportFailure::Kind::not_mcp:
      case protocol::TransportFailure::Kind::timed_out:
        return Verdict::try_initialize;
      default:
        return Verdict::give_up;
    }
  }
  if (!failed.fault) return Verdict::give_up;
  if (failed.fault->code == protocol::unsupported_version) return Verdict::other_version;
  if (failed.fault->code == protocol::header_mismatch || failed.fault->code == protocol::missing_capability) {
    return Verdict::modern;
  }
  const bool not_found = failed.fault->code == protocol::method_not_found;
  // With status 404 it is a modern server's word for an unknown method; in a 200 or on a pipe, any server's.
  if (not_found && failed.fault->stage == Fault::Stage::envelope) return Verdict::modern;
  return Verdict::try_initialize;
}

class SessionOutlet final : public Outlet {
 public:
  explicit SessionOutlet(ClientImpl& client) : client_(client) {}
  void notify(Notification notification) override {
    client_.take_notification(std::move(notification), nullptr);
  }
  Task<Reply> request(std::string method, Json params) override {
    return client_.answer_request(std::move(method), std::move(params), nullptr);
  }

 private:
  ClientImpl& client_;
};

// Ends an attempt, however it ends: those who wait for it are woken, and try themselves if it was dropped.
class AttemptGuard {
 public:
  explicit AttemptGuard(ClientImpl& client)
      : client_(client), attempt_(std::make_shared<ClientImpl::Attempt>()) {
    client_.attempt = attempt_;
  }
  AttemptGuard(const AttemptGuard&) = delete;
  AttemptGuard& operator=(const AttemptGuard&) = delete;
  ~AttemptGuard() {
    client_.attempt.reset();
    for (const OneShot<int>& waiting : attempt_->waiting) {
      client_.executor.post([waiting] { waiting.set(0); });
    }
  }
  void fail(const CallError& error) { attempt_->error = error; }

 private:
  ClientImpl& client_;
  std::shared_ptr<ClientImpl::Attempt> attempt_;
};

}  // namespace

Task<Called<void>> ClientImpl::ensure_connected(std::stop_token stop) {
  while (!connected && attempt) {
    const std::shared_ptr<Attempt> running = attempt;
    const OneShot<int> ended;
    running->waiting.push_back(ended);
    co_await ended;
    if (running->error) co_return failure(*running->error);
  }
  if (connected) co_return Called<void>();
  AttemptGuard guard(*this);
  const Task<Called<void>> discovering = discover(stop);
  Called<void> discovered = co_await discovering;
  if (discovered) {
    connected = true;
    log_connected();
  } else if (discovered.error().kind != Kind::cancelled) {
    guard.fail(discovered.error());
  }
  co_return discovered;
}

void ClientImpl::log_connected() const {
  if (!options.log) return;
  options.log(LogLevel::debug, "connected",
              {{"revision", server.protocol_version},
               {"server", server.name.substr(0, log_bytes_max)},
               {"version", server.version.substr(0, log_bytes_max)}});
}

CallPtr ClientImpl::connecting_call(std::stop_token stop, std::chrono::milliseconds allowed) const {
  CallOptions connecting;
  connecting.stop = std::move(stop);
  return std::make_shared<CallState>(executor, *options.clock, std::move(connecting), allowed);
}

// The server has forgotten the session: what it speaks is known, so a new one begins at once.
void ClientImpl::forget_session(const std::shared_ptr<Session>& gone) {
  if (!session || session != gone) return;  // another call was faster
  session.reset();
  connected = false;
  session_lost = true;
  for (CallState* listener : listeners) executor.post(listener->on_session_lost);
}

Task<Called<void>> ClientImpl::discover(std::stop_token stop) {
  const bool known_old = std::exchange(session_lost, false);
  if (options.versions != ClientOptions::Versions::handshake_only && !known_old) {
    const Task<Called<bool>> probing = probe(std::string(protocol::modern_versions.front()), stop);
    const Called<bool> modern = co_await probing;
    if (!modern) co_return failure(modern.error());
    if (*modern) co_return Called<void>();
    if (options.versions == ClientOptions::Versions::modern_only) co_return failure(no_version());
  }
  const Task<Called<void>> initializing = initialize(stop);
  Called<void> initialized = co_await initializing;
  co_return initialized;
}

Task<Called<bool>> ClientImpl::probe(std::string version, std::stop_token stop) {
  for (int tries = 0;; ++tries) {
    server = ServerDescription();
    server.modern = true;
    server.protocol_version = version;
    const CallPtr call = connecting_call(stop, options.probe_timeout);
    const Task<Called<Json>> asking = exchange("server/discover", enveloped(Json::object(), *call), call);
    const Called<Json> answer = co_await asking;
    if (!answer) {
      const Verdict verdict = judge(answer.error());
      if (verdict == Verdict::modern) co_return true;
      if (verdict == Verdict::give_up) co_return failure(answer.error());
      if (verdict == Verdict::try_initialize) co_return false;
      const Json* supported = answer.error().fault->data.find("supported");
      const std::optional<std::string> common = common_modern(supported);
      if (!common && (supported == nullptr || lists_handshake(supported))) co_return false;
      if (!common) co_return failure(no_version());
      if (tries > 0) co_return failure(answer.error());
      version = *common;
      continue;
    }
    const Json* supported = answer->find("supportedVersions");
    const std::optional<std::string> common = common_modern(supported);
    if (!common && (supported == nullptr || lists_handshake(supported))) co_return false;
    if (!common) co_return failure(no_version());
    server.protocol_version = *common;
    const Json* capabilities_found = answer->find("capabilities");
    if (capabilities_found != nullptr && capabilities_found->is_object())
      server.capabilities = *capabilities_found;
    const Json* meta = answer->find(protocol::meta::member);
    const Json* info = meta != nullptr ? meta->find(protocol::meta::server_info) : nullptr;
    server.name = text_of(info, "name");
    server.version = text_of(info, "version");
    server.instructions = text_of(&*answer, "instructions");
    co_return true;
  }
}

Task<Called<void>> ClientImpl::initialize(std::stop_token stop) {
  server = ServerDescription();
  if (!session_outlet) session_outlet = std::make_unique<SessionOutlet>(*this);
  session = std::make_shared<Session>();
  session->outlet = session_outlet.get();
  const CallPtr call = connecting_call(stop, options.call_timeout);
  Json params =
      Json::object({{"protocolVersion", protocol::handshake_versions.front()},
                    {"capabilities", capabilities(false, false)},
                    {"clientInfo", Json::object({{"name", options.name}, {"version", options.version}})}});
  const Task<Called<Json>> asking = exchange("initialize", std::move(params), call);
  const Called<Json> answer = co_await asking;
  if (!answer) {
    session.reset();
    const Json* supported = answer.error().fault ? answer.error().fault->data.find("supported") : nullptr;
    const std::optional<std::string> modern = common_modern(supported);
    if (modern && options.versions != ClientOptions::Versions::handshake_only) {
      // It was only slow to answer the first question.
      server.modern = true;
      server.protocol_version = *modern;
      co_return Called<void>();
    }
    co_return failure(answer.error());
  }
  server.protocol_version = text_of(&*answer, "protocolVersion");
  if (!protocol::is_handshake_version(server.protocol_version)) {
    session.reset();
    co_return failure(no_version());
  }
  session->protocol_version = server.protocol_version;
  const Json* capabilities_found = answer->find("capabilities");
  if (capabilities_found != nullptr && capabilities_found->is_object())
    server.capabilities = *capabilities_found;
  server.name = text_of(answer->find("serverInfo"), "name");
  server.version = text_of(answer->find("serverInfo"), "version");
  server.instructions = text_of(&*answer, "instructions");
  Exchange around;
  around.principal = Principal::local();
  around.outlet = session_outlet.get();
  around.executor = &executor;
  around.session = session.get();
  service.notify(Notification("notifications/initialized", Json()), around);
  if (options.log_level && server.capabilities.contains("logging")) {
    const Task<void> setting = set_log_level();
    co_await setting;
  }
  co_return Called<void>();
}

Task<void> ClientImpl::set_log_level() {
  const CallPtr call =
      std::make_shared<CallState>(executor, *options.clock, CallOptions(), options.probe_timeout);
  Json params = Json::object({{"level", *options.log_level}});
  const Task<Called<Json>> asking = exchange("logging/setLevel", std::move(params), call);
  const Called<Json> answer = co_await asking;
  if (!answer) log(LogLevel::warning, "log_level_refused", "reason", answer.error().message);
}

}  // namespace signet
