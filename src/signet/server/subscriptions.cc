#include <signet/server/subscriptions.h>

#include <signet/protocol/errors.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/methods.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace signet::detail {

namespace notifications = protocol::method::notifications;

namespace {

// Of one listener.
constexpr std::size_t uris_max = 1024;
constexpr std::size_t uris_bytes_max = std::size_t{128} << 10;

struct Filter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris;
  std::size_t uris_bytes = 0;

  // False beyond the limits.
  bool add(const std::string& uri) {
    if (uris.contains(uri)) return true;
    if (uris.size() == uris_max || uris_bytes + uri.size() > uris_bytes_max) return false;
    uris.insert(uri);
    uris_bytes += uri.size();
    return true;
  }
  void remove(const std::string& uri) {
    if (uris.erase(uri) != 0) uris_bytes -= uri.size();
  }
};

bool wants(const Json& filter, std::string_view name) {
  const Json* value = filter.find(name);
  return value != nullptr && value->as_boolean().value_or(false);
}

Result<Filter, Fault> read_filter(const Json& params, const Announced& announced) {
  const Json* given = params.find("notifications");
  if (given == nullptr || !given->is_object()) {
    return failure(Fault(protocol::invalid_params, "notifications must be an object"));
  }
  Filter filter;
  filter.tools = announced.tools && wants(*given, "toolsListChanged");
  filter.prompts = announced.prompts && wants(*given, "promptsListChanged");
  filter.resources = announced.resources && wants(*given, "resourcesListChanged");
  const Json* uris = given->find("resourceSubscriptions");
  if (uris == nullptr) return filter;
  const bool usable = uris->is_array() && uris->as_array()->size() <= uris_max;
  if (!usable)
    return failure(Fault(protocol::invalid_params, "resourceSubscriptions must be a list of URIs"));
  for (const Json& uri : *uris->as_array()) {
    if (!uri.is_string())
      return failure(Fault(protocol::invalid_params, "resourceSubscriptions must be a list of URIs"));
    if (announced.resources && !filter.add(*uri.as_string()))
      return failure(Fault(protocol::invalid_params, "resourceSubscriptions are too long"));
  }
  return filter;
}

// What of the filter is granted, as the acknowledgement says it.
Json granted(const Filter& filter) {
  Json json = Json::object();
  if (filter.tools) json.set("toolsListChanged", true);
  if (filter.prompts) json.set("promptsListChanged", true);
  if (filter.resources) json.set("resourcesListChanged", true);
  if (!filter.uris.empty()) {
    Json uris = Json::array();
    for (const std::string& uri : filter.uris) uris.push_back(uri);
    json.set("resourceSubscriptions", std::move(uris));
  }
  return json;
}

Json subscription_meta(const Json& id) {
  Json meta;
  meta.set(std::string(protocol::meta::subscription_id), id);
  return meta;
}

std::string_view method_of(Change change) {
  switch (change) {
    case Change::tools:
      return notifications::tools_list_changed;
    case Change::prompts:
      return notifications::prompts_list_changed;
    case Change::resources:
      return notifications::resources_list_changed;
    case Change::resource_updated:
      break;
  }
  return notifications::resources_updated;
}

}  // namespace

// A stream or a session. `alive`, `session` and `outlet` belong to the executor's thread; the executor is used under the
// lock, until it is taken away.
struct Subscriptions::Listener {
  std::mutex mutex;
  Executor* executor = nullptr;
  bool alive = true;
  Outlet* outlet = nullptr;    // of a stream
  Session* session = nullptr;  // of a session: its outlet comes and goes
  Json id;                     // of a stream
  Filter filter;               // of a session under `mutex`
  OneShot<bool> ended;

  void close() {
    const std::lock_guard lock(mutex);
    executor = nullptr;
    alive = false;
  }
};

// Takes the listener off the list when its stream ends or is dropped.
class Subscriptions::Registered {
 public:
  Registered(std::shared_ptr<Subscriptions> subscriptions, std::shared_ptr<Listener> listener)
      : subscriptions_(std::move(subscriptions)), listener_(std::move(listener)) {}
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() {
    listener_->close();
    subscriptions_->remove(listener_);
  }

 private:
  std::shared_ptr<Subscriptions> subscriptions_;
  std::shared_ptr<Listener> listener_;
};

// Kept by the Session; goes away with it.
struct Subscriptions::SessionState {
  SessionState(std::shared_ptr<Subscriptions> owner, std::shared_ptr<Listener> its_listener)
      : registered(std::move(owner), its_listener), listener(std::move(its_listener)) {}
  Registered registered;
  std::shared_ptr<Listener> listener;
};

Task<Reply> Subscriptions::listen(const Request& request, Exchange& exchange, Announced announced) {
  Result<Filter, Fault> filter = read_filter(request.params, announced);
  if (!filter.ok()) co_return failure(std::move(filter.error()));
  auto listener = std::make_shared<Listener>();
  listener->executor = exchange.executor;
  listener->outlet = exchange.outlet;
  listener->id = request.id;
  listener->filter = std::move(*filter);
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    refused = ended_ || streams_ == streams_max_;
    if (!refused) {
      ++streams_;
      listeners_.push_back(listener);
    }
  }
  if (refused) co_return failure(Fault(protocol::internal_error, "No more subscriptions are taken"));
  const Registered registered(shared_from_this(), listener);

  Json acknowledged;
  acknowledged.set("notifications", granted(listener->filter));
  acknowledged.set("_meta", subscription_meta(request.id));
  exchange.outlet->notify(
      Notification(std::string(notifications::subscriptions_acknowledged), std::move(acknowledged)));

  const OneShot<bool> ended = listener->ended;
  co_await ended;
  Json result;
  result.set("resultType", "complete");
  result.set("_meta", subscription_meta(request.id));
  co_return result;
}

void Subscriptions::open_session(Exchange& exchange) {
  auto listener = std::make_shared<Listener>();
  listener->executor = exchange.executor;
  listener->session = exchange.session;
  listener->filter.tools = listener->filter.prompts = listener->filter.resources = true;
  {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(listener);
  }
  exchange.session->server_state = std::make_shared<SessionState>(shared_from_this(), std::move(listener));
}

bool Subscriptions::subscribe(Session& session, const std::string& uri) {
  const auto state = std::static_pointer_cast<SessionState>(session.server_state);
  if (state == nullptr) return false;
  const std::lock_guard lock(state->listener->mutex);
  return state->listener->filter.add(uri);
}

void Subscriptions::unsubscribe(Session& session, const std::string& uri) {
  const auto state = std::static_pointer_cast<SessionState>(session.server_state);
  if (state == nullptr) return;
  const std::lock_guard lock(state->listener->mutex);
  state->listener->filter.remove(uri);
}

void Subscriptions::remove(const std::shared_ptr<Listener>& listener) {
  const std::lock_guard lock(mutex_);
  if (listener->session == nullptr) --streams_;
  std::erase(listeners_, listener);
}

bool Subscriptions::concerns(const Listener& listener, Change change, const std::string& uri) {
  switch (change) {
    case Change::tools:
      return listener.filter.tools;
    case Change::prompts:
      return listener.filter.prompts;
    case Change::resources:
      return listener.filter.resources;
    case Change::resource_updated:
      break;
  }
  return listener.filter.uris.contains(uri);
}

void Subscriptions::publish(Change change, const std::string& uri) {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  for (const std::shared_ptr<Listener>& listener : listeners) {
    const std::lock_guard lock(listener->mutex);
    if (listener->executor == nullptr || !concerns(*listener, change, uri)) continue;
    listener->executor->post([listener, change, uri] {
      if (!listener->alive) return;
      Outlet* outlet = listener->session != nullptr ? listener->session->outlet : listener->outlet;
      if (outlet == nullptr) return;
      Json params = Json::object();
      if (change == Change::resource_updated) params.set("uri", uri);
      if (listener->session == nullptr) params.set("_meta", subscription_meta(listener->id));
      outlet->notify(Notification(std::string(method_of(change)), std::move(params)));
    });
  }
}

void Subscriptions::shut_down() {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    listeners = listeners_;
  }
  for (const std::shared_ptr<Listener>& listener : listeners) {
    const std::lock_guard lock(listener->mutex);
    if (listener->executor == nullptr || listener->session != nullptr) continue;
    listener->executor->post([listener] {
      if (listener->alive) listener->ended.set(true);
    });
  }
}

}  // namespace signet::detail
