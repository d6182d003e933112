// Tasks that nobody awaits, and their owner.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <utility>

#include <signet/base/task.h>

namespace signet {

// Starts tasks and keeps each until it finishes. Destroying the group drops, and so cancels, what still runs; it
// must not happen inside one of its tasks. Exceptions that leave a task are lost with it. One logical thread.
class TaskGroup {
 public:
  TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  void start(Task<void> task) {
    tasks_.push_back(std::move(task));
    const auto place = std::prev(tasks_.end());
    place->start([this, place] {
      tasks_.erase(place);
      if (tasks_.empty() && emptied_) std::exchange(emptied_, nullptr)();
    });
  }

  // Calls `emptied` once, when the last task finishes of itself; it must not destroy the group. Not called
  // where there is none at the moment.
  void when_empty(std::function<void()> emptied) { emptied_ = std::move(emptied); }

  std::size_t size() const { return tasks_.size(); }
  void drop_all() { tasks_.clear(); }

 private:
  std::list<Task<void>> tasks_;
  std::function<void()> emptied_;
};

}  // namespace signet
