// A thread of a store's own: blocking work goes in, results come back (base/crossing.h) on the executor of who awaits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <signet/base/crossing.h>

namespace signet::store {

// One thread that takes jobs in their order, as many at once as have gathered (at most `batch_max`), so that a
// database can commit, and a server be asked, once for all of them. The queue is bounded. The destructor lets the
// queued jobs be processed and joins. `process` must not throw.
template <typename Job>
class Worker {
 public:
  using Process = std::function<void(std::vector<Job>& jobs)>;

  Worker(std::size_t queue_max, std::size_t batch_max, Process process)
      : queue_max_(queue_max),
        batch_max_(batch_max),
        process_(std::move(process)),
        thread_([this] { run(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  // False where the queue is full; the job is dropped then.
  bool post(Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (queue_.size() >= queue_max_) return false;
      queue_.push_back(std::move(job));
    }
    wake_.notify_one();
    return true;
  }

 private:
  void run() {
    std::vector<Job> batch;
    while (take(batch)) {
      process_(batch);
      batch.clear();
    }
  }
  bool take(std::vector<Job>& batch) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    while (!queue_.empty() && batch.size() < batch_max_) {
      batch.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    return !batch.empty();
  }

  const std::size_t queue_max_;
  const std::size_t batch_max_;
  const Process process_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace signet::store
