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
    lock.unlock();
    work();
    work = nullptr;  // what it holds is destroyed outside the lock
    lock.lock();
  }
}

}  // namespace signet::detail
