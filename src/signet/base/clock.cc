#include <signet/base/clock.h>

namespace signet {
namespace {

class SystemClock final : public Clock {
 public:
  Timestamp now() const override {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace signet
