// Threads for handlers that block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace signet::detail {

// Runs functions on at most `threads_max` threads, made as they are needed and kept. Thread-safe.
class WorkerPool {
 public:
  WorkerPool(std::size_t threads_max, std::size_t queue_max)
      : threads_max_(threads_max), queue_max_(queue_max) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for what runs; what has not begun is dropped.
  ~WorkerPool();

  // False where all threads are busy and `queue_max` functions wait already. The function must not throw.
  bool submit(std::function<void()> work);

 private:
  void serve();

  const std::size_t threads_max_;
  const std::size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace signet::detail
