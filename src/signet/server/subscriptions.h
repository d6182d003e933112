// Who is told of changes: open subscriptions/listen streams, and sessions of the handshake revisions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/executor.h>
#include <signet/base/one_shot.h>
#include <signet/base/task.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>

namespace signet::detail {

enum class Change : std::uint8_t { tools, prompts, resources, resource_updated };

// What of it a server can tell at all.
struct Announced {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
};

// What is known of a task that somebody listens for.
struct TaskNews {
  enum class State : std::uint8_t {
    going_on,
    ended,
    unknown,  // there is none of that id for this caller
    away,     // the store cannot tell now
  };
  State state = State::unknown;
  std::uint64_t revision = 0;  // differs where anything of the task does
  Json task;                   // DetailedTask
};

// How one caller's tasks are looked at.
struct TaskWatch {
  std::function<Task<TaskNews>(const std::string& id)> look;  // empty: there are no tasks
  // How often, where other processes may change them; 0 where none can.
  std::chrono::milliseconds interval{0};
};

// Thread-safe; the members of a stream or a session are used on its executor. Made by make_shared: a session that
// outlives the server keeps it.
class Subscriptions final : public std::enable_shared_from_this<Subscriptions> {
 public:
  explicit Subscriptions(std::size_t streams_max) : streams_max_(streams_max) {}

  // subscriptions/listen: acknowledges, then stays until the client leaves or the server shuts down (S56, S57, S61).
  // Of tasks it tells at first how they are, then each change, until they have ended (SEP-2663).
  Task<Reply> listen(const Request& request, Exchange& exchange, Announced announced, TaskWatch watch);

  // Sessions: told of list changes from now on, and of the resources they subscribe to.
  void open_session(Exchange& exchange);
  // False where the session has as many as it may have.
  bool subscribe(Session& session, const std::string& uri);
  void unsubscribe(Session& session, const std::string& uri);

  // Tells everybody it concerns. From any thread.
  void publish(Change change, const std::string& uri = std::string());
  // A task of this process has changed. From any thread.
  void task_changed(const std::string& id);
  // Ends all streams with their result, and refuses new ones.
  void shut_down();

 private:
  struct Listener;
  struct SessionState;
  class Registered;

  Task<void> stay(std::shared_ptr<Listener> listener, Executor& executor, TaskWatch watch);
  void remove(const std::shared_ptr<Listener>& listener);
  void post_to_each(const std::function<bool(const Listener&)>& wanted,
                    const std::function<void(Listener&)>& work);
  static bool concerns(const Listener& listener, Change change, const std::string& uri);

  const std::size_t streams_max_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::size_t streams_ = 0;
  bool ended_ = false;
};

}  // namespace signet::detail
