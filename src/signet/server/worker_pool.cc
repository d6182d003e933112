#include <signet/server/worker_pool.h>

#include <utility>

namespace signet::detail {

WorkerPool::~WorkerPool() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    dropped.swap(queue_);
  }
  wake_.notify_all();
  std::size_t still = 0;
  {
    std::unique_lock lock(mutex_);
    if (!quiet_.wait_for(lock, patience_, [this] { return running_ == 0; })) still = running_;
  }
  if (still != 0 && still_running_) still_running_(still);
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= idle_) {  // every idle thread has its work already
      if (threads_.size() < threads_max_) {
        threads_.emplace_back([this] { serve(); });
      } else if (queue_.size() - idle_ >= queue_max_) {
        return false;
      }
    }
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
  return true;
}

void WorkerPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    --idle_;
    if (ending_) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    work();
    work = nullptr;  // what it holds is destroyed outside the lock
    lock.lock();
    if (--running_ == 0) quiet_.notify_all();
  }
}

}  // namespace signet::detail
