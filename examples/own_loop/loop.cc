#include "loop.h"

#include <fcntl.h>
#include <sys/poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

Loop::Loop() {
  if (pipe2(wake_up_, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
}

Loop::~Loop() {
  close(wake_up_[0]);
  close(wake_up_[1]);
}

void Loop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const char byte = 0;
  // A full pipe wakes the loop as well as one more byte would.
  [[maybe_unused]] const ssize_t written = write(wake_up_[1], &byte, 1);
}

std::shared_ptr<void> Loop::post_after(std::chrono::milliseconds delay, std::function<void()> work) {
  auto timer = std::make_shared<Timer>(Timer{std::move(work)});
  const Time due = std::chrono::steady_clock::now() + delay;
  post([this, due, weak = std::weak_ptr<Timer>(timer)] { add_timer(due, weak); });
  return timer;
}

void Loop::add_timer(Time due, std::weak_ptr<Timer> timer) { timers_.emplace(due, std::move(timer)); }

void Loop::run_posted() {
  std::vector<std::function<void()>> now;
  {
    const std::lock_guard lock(mutex_);
    now.swap(posted_);
  }
  for (const auto& work : now) work();
}

void Loop::run_timers() {
  while (!timers_.empty() && timers_.begin()->first <= std::chrono::steady_clock::now()) {
    const std::shared_ptr<Timer> timer = timers_.begin()->second.lock();
    timers_.erase(timers_.begin());
    if (timer) timer->work();
  }
}

int Loop::milliseconds_to_next_timer() {
  if (timers_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void Loop::run_lines(int input, const std::function<void(const std::string& line)>& take) {
  constexpr std::size_t line_bytes_max = std::size_t{1} << 20;
  std::string waiting;
  char piece[65536];
  while (waiting.size() <= line_bytes_max) {
    pollfd events[2] = {{input, POLLIN, 0}, {wake_up_[0], POLLIN, 0}};
    if (poll(events, 2, milliseconds_to_next_timer()) < 0 && errno != EINTR) return;
    while (read(wake_up_[0], piece, sizeof(piece)) > 0) continue;
    run_posted();
    run_timers();
    if ((events[0].revents & (POLLIN | POLLHUP)) == 0) continue;

    const ssize_t bytes = read(input, piece, sizeof(piece));
    if (bytes <= 0) return;
    waiting.append(piece, static_cast<std::size_t>(bytes));
    for (std::size_t end = waiting.find('\n'); end != std::string::npos; end = waiting.find('\n')) {
      take(waiting.substr(0, end));
      waiting.erase(0, end + 1);
    }
  }
}
