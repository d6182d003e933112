// A program's own event loop: poll(2) over one input, with timers. The part that Signet needs is the Executor.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <signet/base/executor.h>

class Loop final : public signet::Executor {
 public:
  Loop();
  ~Loop() override;

  // The Executor. `post` from any thread: the loop wakes up.
  void post(std::function<void()> work) override;
  std::shared_ptr<void> post_after(std::chrono::milliseconds delay, std::function<void()> work) override;

  // Runs until the end of the input; gives each line of it to `take`. A line over 1 MiB ends it too.
  void run_lines(int input, const std::function<void(const std::string& line)>& take);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Timer {
    std::function<void()> work;
  };

  void add_timer(Time due, std::weak_ptr<Timer> timer);
  void run_posted();
  void run_timers();
  int milliseconds_to_next_timer();

  int wake_up_[2];  // a pipe
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  std::multimap<Time, std::weak_ptr<Timer>> timers_;  // a timer whose handle was dropped is gone
};
