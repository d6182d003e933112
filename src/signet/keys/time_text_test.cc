#include <signet/keys/time_text.h>

#include <gtest/gtest.h>

namespace signet::keys {
namespace {

Timestamp at(std::int64_t milliseconds) { return Timestamp(std::chrono::milliseconds(milliseconds)); }

TEST(TimeText, WritesAndReadsUtc) {
  EXPECT_EQ(to_text(at(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_text(at(1'790'000'000'000)), "2026-09-21T14:13:20Z");
  EXPECT_EQ(to_text(at(1'790'000'000'050)), "2026-09-21T14:13:20.050Z");
  for (const std::int64_t time : {0LL, 1LL, 951'782'400'000LL, 1'790'000'000'999LL, 253'402'300'799'999LL}) {
    EXPECT_EQ(parse_time(to_text(at(time))), at(time)) << time;
  }
  EXPECT_EQ(parse_time("2026-09-21T14:13:20.5Z"), at(1'790'000'000'500));
}

TEST(TimeText, RefusesEverythingElse) {
  for (const char* text : {"",
                           "2026",
                           "2026-09-21",
                           "2026-09-21T14:13:20",
                           "2026-09-21T14:13:20+00:00",
                           "2026-09-21 14:13:20Z",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:60Z",
                           "1969-12-31T23:59:59Z",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00.0001Z",
                           "2026-01-01T00:00:00Zx",
                           " 2026-01-01T00:00:00Z",
                           "2026-1-01T00:00:00Z",
                           "-026-01-01T00:00:00Z",
                           "2026-01-01T00:00:00.",
                           "2026-01-01T00:00:00.12"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

}  // namespace
}  // namespace signet::keys
