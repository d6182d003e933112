// The time, as an argument.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace signet {

// Wall-clock time since 1970-01-01 UTC, leap seconds not counted, in milliseconds.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

// `2026-11-29T12:00:00.000Z` (RFC 3339, in UTC, always with milliseconds).
std::string iso_8601(Timestamp time);

// Where everything in Signet reads the time of day. Implementations are thread-safe and do not throw.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
};

// The system's wall clock, a few milliseconds behind at most. Lives as long as the process.
const Clock& system_clock();

// A clock that stands still until it is moved: for tests, simulations and `--now`. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start) : now_(start.time_since_epoch().count()) {}
  Timestamp now() const override { return Timestamp(std::chrono::milliseconds(now_.load())); }
  void set(Timestamp time) { now_.store(time.time_since_epoch().count()); }
  void advance(std::chrono::milliseconds by) { now_.fetch_add(by.count()); }

 private:
  std::atomic<std::chrono::milliseconds::rep> now_;
};

}  // namespace signet
