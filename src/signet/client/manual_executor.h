// An executor with its own time, for tests.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/executor.h>
#include <signet/base/task.h>

namespace signet {

// Runs what is posted; when nothing is, moves the clock to the next timer. Nothing waits for real.
class ManualExecutor final : public Executor {
 public:
  explicit ManualExecutor(ManualClock& clock) : clock_(clock) {}

  void post(std::function<void()> work) override { queue_.push_back(std::move(work)); }

  std::shared_ptr<void> post_after(std::chrono::milliseconds delay, std::function<void()> work) override {
    auto timed = std::make_shared<Timed>(Timed{clock_.now() + delay, std::move(work)});
    timers_.push_back(timed);
    return timed;
  }

  // True if there was something to do.
  bool step() {
    if (!queue_.empty()) {
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      work();
      return true;
    }
    std::shared_ptr<Timed> next;
    std::erase_if(timers_, [](const std::weak_ptr<Timed>& timer) { return timer.expired(); });
    for (const std::weak_ptr<Timed>& weak : timers_) {
      std::shared_ptr<Timed> timer = weak.lock();
      if (!next || timer->at < next->at) next = timer;
    }
    if (!next) return false;
    std::erase_if(timers_, [&](const std::weak_ptr<Timed>& timer) { return timer.lock() == next; });
    if (next->at > clock_.now()) clock_.set(next->at);
    next->work();
    return true;
  }

  template <typename T>
  T run(Task<T> task) {
    bool finished = false;
    task.start([&finished] { finished = true; });
    while (!finished && step()) {
    }
    if (!finished) throw std::runtime_error("the task waits for ever");
    return task.take();
  }

 private:
  struct Timed {
    Timestamp at;
    std::function<void()> work;
  };
  ManualClock& clock_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::weak_ptr<Timed>> timers_;
};

}  // namespace signet
