// A thread of the server's own, for calls that go on after their reply.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <signet/base/executor.h>

namespace signet::detail {

// An executor over one thread, which is made at the first use. Thread-safe.
class TaskLoop final : public Executor {
 public:
  TaskLoop() = default;
  // Ends the thread after the function that runs; what is queued is dropped.
  ~TaskLoop() override { stop(); }
  void stop();

  void post(std::function<void()> work) override;
  std::shared_ptr<void> post_after(std::chrono::milliseconds delay, std::function<void()> work) override;

 private:
  using Steady = std::chrono::steady_clock;
  using Timer = std::function<void()>;

  void start_locked();
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::multimap<Steady::time_point, std::weak_ptr<Timer>> timers_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace signet::detail
