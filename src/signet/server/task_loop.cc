#include <signet/server/task_loop.h>

#include <utility>

namespace signet::detail {

void TaskLoop::stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    dropped.swap(queue_);
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void TaskLoop::start_locked() {
  if (!thread_.joinable() && !ending_) thread_ = std::thread([this] { serve(); });
}

void TaskLoop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    queue_.push_back(std::move(work));
    start_locked();
  }
  wake_.notify_one();
}

std::shared_ptr<void> TaskLoop::post_after(std::chrono::milliseconds delay, std::function<void()> work) {
  auto timer = std::make_shared<Timer>(std::move(work));
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return timer;
    timers_.emplace(Steady::now() + delay, timer);
    start_locked();
  }
  wake_.notify_one();
  return timer;
}

void TaskLoop::serve() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!queue_.empty()) {
      std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      work = nullptr;  // what it holds is destroyed outside the lock
      lock.lock();
    } else if (!timers_.empty() && timers_.begin()->first <= Steady::now()) {
      const std::shared_ptr<Timer> timer = timers_.begin()->second.lock();
      timers_.erase(timers_.begin());
      lock.unlock();
      if (timer != nullptr) (*timer)();
      lock.lock();
    } else if (timers_.empty()) {
      wake_.wait(lock);
    } else {
      wake_.wait_until(lock, timers_.begin()->first);
    }
  }
}

}  // namespace signet::detail
