// For programs without an event loop: run a task elsewhere, and wait here.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include <signet/base/executor.h>
#include <signet/base/task.h>

namespace signet {

// Starts the task on the executor; its result, or what it throws, comes through the future. The executor must keep
// running until then.
template <typename T>
std::future<T> start(Executor& executor, Task<T> task) {
  auto finished = std::make_shared<std::promise<T>>();
  std::future<T> result = finished->get_future();
  auto running = std::make_shared<Task<T>>(std::move(task));
  executor.post([running, finished] {
    running->start([running, finished] {
      try {
        if constexpr (std::is_void_v<T>) {
          running->take();
          *running = Task<T>();
          finished->set_value();
        } else {
          T value = running->take();
          *running = Task<T>();
          finished->set_value(std::move(value));
        }
      } catch (...) {
        *running = Task<T>();
        finished->set_exception(std::current_exception());
      }
    });
  });
  return result;
}

// The same, and blocks until it has finished. Must not be called on the executor's own thread.
template <typename T>
T wait(Executor& executor, Task<T> task) {
  return start(executor, std::move(task)).get();
}

}  // namespace signet
