// A transport for tests: a queue that is run by hand, and a client that speaks through Service.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <signet/json/text.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/service.h>
#include <signet/protocol/versions.h>

namespace signet::testing {

inline Json parsed(std::string_view text) {
  Result<Json, json::ParseError> value = json::parse(text);
  return value.ok() ? std::move(*value) : Json("not JSON: " + std::string(text));
}

// Work is run by `run`; timers by `advance`, each at its time. `post` from any thread.
class ManualExecutor final : public Executor {
 public:
  void post(std::function<void()> work) override {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    wake_.notify_one();
  }
  std::shared_ptr<void> post_after(std::chrono::milliseconds delay, std::function<void()> work) override {
    auto timer = std::make_shared<std::function<void()>>(std::move(work));
    timers_.emplace(now_ + delay, timer);
    return timer;
  }
  // Runs until nothing is queued. Returns whether anything ran.
  bool run() {
    bool any = false;
    while (const std::function<void()> work = next(false)) {
      work();
      any = true;
    }
    return any;
  }
  // Waits for another thread to post.
  void run_one() { next(true)(); }
  void advance(std::chrono::milliseconds by) {
    const std::chrono::milliseconds until = now_ + by;
    while (!timers_.empty() && timers_.begin()->first <= until) {
      now_ = timers_.begin()->first;
      const std::weak_ptr<std::function<void()>> timer = timers_.begin()->second;
      timers_.erase(timers_.begin());
      if (const auto live = timer.lock()) (*live)();
      run();
    }
    now_ = until;
    run();
  }

 private:
  std::function<void()> next(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) wake_.wait(lock, [this] { return !queue_.empty(); });
    if (queue_.empty()) return nullptr;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    return work;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::chrono::milliseconds now_{0};
  std::multimap<std::chrono::milliseconds, std::weak_ptr<std::function<void()>>> timers_;
};

// Keeps what is sent. Requests of handshake revisions are answered by `answer`.
class RecordingOutlet final : public Outlet {
 public:
  std::vector<Notification> sent;
  std::vector<Request> requests;
  std::function<Reply(const std::string& method, const Json& params)> answer;
  bool behind = false;  // as if the peer did not read

  bool is_behind() const override { return behind; }
  void notify(Notification notification) override { sent.push_back(std::move(notification)); }
  Task<Reply> request(std::string method, Json params) override {
    requests.emplace_back(Json(requests.size()), method, params);
    co_return answer(method, params);
  }
};

// One request under way.
class Exchanged {
 public:
  Exchanged(Service& service, ManualExecutor& executor, Request request,
            std::function<void(Exchange&)> prepare = {}) {
    exchange.executor = &executor;
    exchange.outlet = &outlet;
    exchange.stop = stop.get_token();
    exchange.principal = Principal::local();
    if (prepare) prepare(exchange);
    task_ = service.call(std::move(request), exchange);
    task_.start([this] {
      reply.emplace(task_.take());
      task_ = Task<Reply>();
    });
    executor.run();
  }
  // The client is gone.
  void drop() { task_ = Task<Reply>(); }

  std::stop_source stop;
  RecordingOutlet outlet;
  Exchange exchange;
  std::optional<Reply> reply;

 private:
  Task<Reply> task_;
};

inline const Json& all_capabilities() {
  static const Json all =
      parsed(R"({"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}})");
  return all;
}

// Of a client that takes forms and knows tasks.
inline const Json& with_tasks() {
  static const Json all = parsed(R"({"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})");
  return all;
}

// The answer to a question `confirm` whose one field has that name too.
inline const Json& yes() {
  static const Json answers = parsed(R"({"confirm":{"action":"accept","content":{"confirm":true}}})");
  return answers;
}

// The params of a modern request.
inline Json modern(Json params = Json::object(), const Json& capabilities = all_capabilities()) {
  Json meta = params.contains("_meta") ? *params.find("_meta") : Json::object();
  meta.set(std::string(protocol::meta::protocol_version), protocol::version_2026_07_28);
  meta.set(std::string(protocol::meta::client_capabilities), capabilities);
  params.set("_meta", std::move(meta));
  return params;
}

inline Json call_params(std::string_view tool, std::string_view arguments = "{}") {
  Json params;
  params.set("name", tool);
  params.set("arguments", parsed(arguments));
  return params;
}

// Calls and waits for the reply, also of handlers on other threads.
inline Reply ask(Service& service, std::string method, Json params,
                 std::function<void(Exchange&)> prepare = {}) {
  ManualExecutor executor;
  Exchanged exchanged(service, executor, Request(1, std::move(method), std::move(params)),
                      std::move(prepare));
  while (!exchanged.reply) {
    executor.run();
    std::this_thread::yield();
  }
  return std::move(*exchanged.reply);
}

// tasks/get, tasks/update or tasks/cancel; with `inputResponses` unless they are null.
inline Reply ask_task(Service& service, std::string method, const Json& id, const Json& responses = Json(),
                      std::function<void(Exchange&)> prepare = {}) {
  Json params;
  params.set("taskId", id);
  if (!responses.is_null()) params.set("inputResponses", responses);
  return ask(service, std::move(method), modern(params, with_tasks()), std::move(prepare));
}

inline std::string show(const Reply& reply) {
  if (reply.ok()) return json::write(*reply);
  return "error " + std::to_string(reply.error().code) + " " + reply.error().message + " " +
         json::write(reply.error().data);
}

// The value at a path of member names and indices; null where there is none.
inline Json at(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* here = &value;
  for (const std::string_view step : path) {
    if (const JsonArray* array = here->as_array()) {
      const std::size_t index = static_cast<std::size_t>(std::stoi(std::string(step)));
      if (index >= array->size()) return Json();
      here = &(*array)[index];
    } else {
      here = here->find(step);
      if (here == nullptr) return Json();
    }
  }
  return *here;
}

inline Json at(const Reply& reply, std::initializer_list<std::string_view> path) {
  return reply.ok() ? at(*reply, path) : Json();
}

// The task once it has come to that status; the error where there is no such task.
inline Reply wait_for_task(Service& service, const Json& id, std::string_view status,
                           const std::function<void(Exchange&)>& prepare = {}) {
  while (true) {
    Reply reply = ask_task(service, "tasks/get", id, Json(), prepare);
    if (!reply.ok() || at(reply, {"status"}) == Json(status)) return reply;
    std::this_thread::yield();
  }
}

inline std::string text_of(const Reply& reply) {
  if (!reply.ok()) return show(reply);
  const Json text = at(*reply, {"content", "0", "text"});
  return text.is_string() ? *text.as_string() : show(reply);
}

}  // namespace signet::testing
