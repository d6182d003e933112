// Threads for handlers that block.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace signet::detail {

// Runs functions on at most `threads_max` threads, made as they are needed and kept. Thread-safe.
class WorkerPool {
 public:
  // Told once, while the pool ends, how many functions have not returned within the patience.
  using StillRunning = std::function<void(std::size_t functions)>;

  WorkerPool(std::size_t threads_max, std::size_t queue_max, StillRunning still_running = StillRunning(),
             std::chrono::milliseconds patience = std::chrono::seconds(1))
      : threads_max_(threads_max),
        queue_max_(queue_max),
        still_running_(std::move(still_running)),
        patience_(patience) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for what runs, however long that takes: a thread cannot be ended from outside. What has not begun is dropped.
  ~WorkerPool();

  // False where all threads are busy and `queue_max` functions wait already. The function must not throw.
  bool submit(std::function<void()> work);

 private:
  void serve();

  const std::size_t threads_max_;
  const std::size_t queue_max_;
  const StillRunning still_running_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable quiet_;
  std::size_t running_ = 0;
  std::deque<std::function<void()>> queue_;
  std::size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace signet::detail
