// Where the continuation of a task runs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace signet {

// One logical thread: functions given to it run one after another, never two at once, never inside `post`
// itself. A transport gives each exchange the executor of its event loop; a program that mounts a Service in
// its own loop writes one (two functions). `post` and `post_after` may be called from any thread.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  virtual void post(std::function<void()> work) = 0;

  // Runs `work` after `delay`, unless the returned handle is dropped before. Dropping it on the executor's
  // own thread guarantees that `work` does not run afterwards.
  virtual std::shared_ptr<void> post_after(std::chrono::milliseconds delay, std::function<void()> work) = 0;
};

}  // namespace signet
