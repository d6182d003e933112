#include <signet/base/clock.h>

#include <ctime>

namespace signet {
namespace {

class SystemClock final : public Clock {
 public:
  // The kernel's coarse clock: a tick behind at most, which no lifetime notices, and read in a fraction of the time.
  Timestamp now() const override {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
    return Timestamp(std::chrono::floor<std::chrono::milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                                   std::chrono::nanoseconds(time.tv_nsec)));
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace signet
