#include <signet/base/clock.h>

#include <cstdio>
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

std::string iso_8601(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<std::chrono::milliseconds> clock(time - day);
  char text[64];
  const int size =
      std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                    static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return std::string(text, static_cast<std::size_t>(size));
}

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace signet
