// An executor for tests and benchmarks: runs a task on this thread until it is finished.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <signet/base/executor.h>
#include <signet/base/task.h>

namespace signet::store {

class LoopForTests final : public Executor {
 public:
  void post(std::function<void()> work) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    wake_.notify_one();
  }
  // Nothing here needs to wait.
  std::shared_ptr<void> post_after(std::chrono::milliseconds, std::function<void()> work) override {
    post(std::move(work));
    return nullptr;
  }

  void run_one() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return !queue_.empty(); });
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
  }

  template <typename T>
  T run(Task<T> task) {
    bool done = false;
    task.start([&done] { done = true; });
    while (!done) run_one();
    return task.take();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
};

}  // namespace signet::store
