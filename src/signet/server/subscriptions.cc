#include <signet/server/subscriptions.h>

#include <signet/protocol/errors.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/methods.h>
#include <signet/server/uri_template.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace signet::detail {

namespace notifications = protocol::method::notifications;

namespace {

// Of one listener.
constexpr std::size_t uris_max = 1024;
constexpr std::size_t uris_bytes_max = std::size_t{128} << 10;
constexpr std::size_t task_ids_max = 64;
constexpr std::size_t task_id_bytes_max = 128;

struct Filter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris;
  std::size_t uris_bytes = 0;
  std::set<std::string> tasks;

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

// False where it is no list of ids, or of too many.
bool read_task_ids(const Json& given, Filter& filter) {
  if (!given.is_array() || given.as_array()->size() > task_ids_max) return false;
  for (const Json& id : *given.as_array()) {
    if (!id.is_string() || id.as_string()->size() > task_id_bytes_max) return false;
    filter.tasks.insert(*id.as_string());
  }
  return true;
}

Result<Filter, Fault> read_filter(const Json& params, const Announced& announced) {
  const Json* given = params.find("notifications");
  if (given == nullptr || !given->is_object()) {
    return failure(Fault(protocol::invalid_params, "notifications must be an object"));
  }
  for (const std::string_view kind : {"toolsListChanged", "promptsListChanged", "resourcesListChanged"}) {
    const Json* wanted = given->find(kind);
    if (wanted != nullptr && !wanted->as_boolean())
      return failure(Fault(protocol::invalid_params, std::string(kind) + " must be true or false"));
  }
  Filter filter;
  filter.tools = announced.tools && wants(*given, "toolsListChanged");
  filter.prompts = announced.prompts && wants(*given, "promptsListChanged");
  filter.resources = announced.resources && wants(*given, "resourcesListChanged");
  const Json* task_ids = given->find("taskIds");
  if (task_ids != nullptr && !read_task_ids(*task_ids, filter)) {
    return failure(Fault(protocol::invalid_params,
                         "taskIds must be a list of at most " + std::to_string(task_ids_max) + " ids"));
  }
  const Json* uris = given->find("resourceSubscriptions");
  if (uris == nullptr) return filter;
  const bool usable = uris->is_array() && uris->as_array()->size() <= uris_max;
  if (!usable)
    return failure(Fault(protocol::invalid_params, "resourceSubscriptions must be a list of URIs"));
  for (const Json& uri : *uris->as_array()) {
    if (!uri.is_string() || uri.as_string()->size() > uri_bytes_max || !is_absolute_uri(*uri.as_string()))
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
  if (!filter.tasks.empty()) {
    Json ids = Json::array();
    for (const std::string& id : filter.tasks) ids.push_back(id);
    json.set("taskIds", std::move(ids));
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

// A stream or a session. `alive`, `session`, `outlet` and what follows `filter` belong to the executor's thread; the
// executor is used under the lock, until it is taken away.
struct Subscriptions::Listener {
  std::mutex mutex;
  Executor* executor = nullptr;
  bool alive = true;
  Outlet* outlet = nullptr;    // of a stream
  Session* session = nullptr;  // of a session: its outlet comes and goes
  Json id;                     // of a stream
  Filter filter;               // of a session under `mutex`; of a stream constant
  bool has_ended = false;
  bool is_time = false;           // to look at all tasks again
  std::set<std::string> changed;  // tasks
  OneShot<bool> wake;             // that one of these three is so

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

Task<Reply> Subscriptions::listen(const Request& request, Exchange& exchange, Announced announced,
                                  TaskWatch watch) {
  Result<Filter, Fault> filter = read_filter(request.params, announced);
  if (!filter.ok()) co_return failure(std::move(filter.error()));
  const std::set<std::string> task_ids = std::exchange(filter->tasks, std::set<std::string>());
  for (const std::string& id : task_ids) {
    if (!watch.look) break;
    Task<TaskNews> looking = watch.look(id);
    const TaskNews news = co_await looking;
    if (news.state == TaskNews::State::away)
      co_return failure(Fault(protocol::internal_error, "Internal error"));
    if (news.state != TaskNews::State::unknown) filter->tasks.insert(id);
  }
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

  Task<void> staying = stay(listener, *exchange.executor, std::move(watch));
  co_await staying;
  Json result;
  result.set("resultType", "complete");
  result.set("_meta", subscription_meta(request.id));
  co_return result;
}

// Tells of the tasks, each revision once, until the stream ends.
Task<void> Subscriptions::stay(std::shared_ptr<Listener> listener, Executor& executor, TaskWatch watch) {
  std::set<std::string> going_on = listener->filter.tasks;
  std::set<std::string> due = going_on;
  std::map<std::string, std::uint64_t> told;
  std::shared_ptr<void> timer;
  while (!listener->has_ended) {
    for (const std::string& id : due) {
      if (!going_on.contains(id)) continue;
      Task<TaskNews> looking = watch.look(id);
      TaskNews news = co_await looking;
      if (listener->has_ended) co_return;
      const bool is_over = news.state == TaskNews::State::ended || news.state == TaskNews::State::unknown;
      if (is_over) going_on.erase(id);
      if (news.task.is_null() || std::exchange(told[id], news.revision) == news.revision) continue;
      news.task.set("_meta", subscription_meta(listener->id));
      listener->outlet->notify(Notification(std::string(notifications::tasks), std::move(news.task)));
    }
    if (watch.interval.count() > 0 && !going_on.empty()) {
      timer = executor.post_after(watch.interval, [listener] {
        listener->is_time = true;
        listener->wake.set(true);
      });
    }
    const OneShot<bool> wake = listener->wake;
    co_await wake;
    listener->wake = OneShot<bool>();
    due = std::exchange(listener->changed, std::set<std::string>());
    if (std::exchange(listener->is_time, false)) due = going_on;
  }
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

// Posts to each listener that is there and wanted, from any thread.
void Subscriptions::post_to_each(const std::function<bool(const Listener&)>& wanted,
                                 const std::function<void(Listener&)>& work) {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  for (const std::shared_ptr<Listener>& listener : listeners) {
    const std::lock_guard lock(listener->mutex);
    if (listener->executor == nullptr || !wanted(*listener)) continue;
    listener->executor->post([listener, work] { work(*listener); });
  }
}

void Subscriptions::publish(Change change, const std::string& uri) {
  const auto wanted = [change, &uri](const Listener& listener) { return concerns(listener, change, uri); };
  post_to_each(wanted, [change, uri](Listener& listener) {
    if (!listener.alive) return;
    Outlet* outlet = listener.session != nullptr ? listener.session->outlet : listener.outlet;
    if (outlet == nullptr) return;
    Json params = Json::object();
    if (change == Change::resource_updated) params.set("uri", uri);
    if (listener.session == nullptr) params.set("_meta", subscription_meta(listener.id));
    outlet->notify(Notification(std::string(method_of(change)), std::move(params)));
  });
}

void Subscriptions::task_changed(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    if (streams_ == 0) return;  // as nearly always
  }
  const auto wanted = [&id](const Listener& listener) {
    return listener.session == nullptr && listener.filter.tasks.contains(id);
  };
  post_to_each(wanted, [id](Listener& listener) {
    listener.changed.insert(id);
    listener.wake.set(true);
  });
}

void Subscriptions::shut_down() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  const auto is_stream = [](const Listener& listener) { return listener.session == nullptr; };
  post_to_each(is_stream, [](Listener& listener) {
    listener.has_ended = true;
    listener.wake.set(true);
  });
}

}  // namespace signet::detail
