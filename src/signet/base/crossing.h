// A result on its way from one thread to the task that awaits it on another.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <signet/base/executor.h>
#include <signet/base/one_shot.h>
#include <signet/base/result.h>

namespace signet {

// Brings one result from a worker to the task that awaits it. The worker calls `deliver` once, from its thread; the
// task drops its Waiting (below) when it goes, and from then on the executor is not touched.
template <typename T>
class Crossing {
 public:
  explicit Crossing(Executor& executor) : executor_(&executor) {}

  void deliver(Result<T> result) {
    auto shared = std::make_shared<Result<T>>(std::move(result));
    const std::lock_guard lock(mutex_);
    if (executor_ == nullptr) return;
    executor_->post([done = done_, shared] { done.set(std::move(*shared)); });
  }
  const OneShot<Result<T>>& done() const { return done_; }
  void forsake() {
    const std::lock_guard lock(mutex_);
    executor_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Executor* executor_;  // null once nobody waits
  OneShot<Result<T>> done_;
};

// Held in the frame of the task that awaits a Crossing.
template <typename T>
class Waiting {
 public:
  explicit Waiting(std::shared_ptr<Crossing<T>> crossing) : crossing_(std::move(crossing)) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { crossing_->forsake(); }

 private:
  std::shared_ptr<Crossing<T>> crossing_;
};

}  // namespace signet
