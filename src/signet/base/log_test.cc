#include <signet/base/log.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace signet {
namespace {

// What `log_to_stderr` writes for one event.
std::string written(LogLevel least, LogLevel level, std::string_view event, const std::string& value) {
  ::testing::internal::CaptureStderr();
  log_to_stderr(least)(level, event, {{"name", value}});
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, WritesTimeLevelEventAndFieldsOnOneLine) {
  const std::string line = written(LogLevel::info, LogLevel::warning, "state_refused", "expired");
  EXPECT_EQ(line.substr(24), " warning state_refused name=expired\n");
  EXPECT_EQ(line[10], 'T');
  EXPECT_EQ(line[23], 'Z');
}

TEST(Log, LeavesOutWhatIsBelowTheLeastLevel) {
  EXPECT_EQ(written(LogLevel::warning, LogLevel::info, "event", "value"), "");
  EXPECT_NE(written(LogLevel::warning, LogLevel::warning, "event", "value"), "");
}

TEST(Log, NoValueForgesALineOrAField) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string value = std::string("a") + static_cast<char>(byte) + "b";
    const std::string line = written(LogLevel::info, LogLevel::info, "event", value);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << byte;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
  EXPECT_NE(written(LogLevel::info, LogLevel::info, "e", "x other=y").find("name=\"x other=y\"\n"),
            std::string::npos);
  EXPECT_NE(written(LogLevel::info, LogLevel::info, "e", "\"").find("name=\"\\\"\"\n"), std::string::npos);
  EXPECT_NE(written(LogLevel::info, LogLevel::info, "e", "").find("name=\"\"\n"), std::string::npos);
}

TEST(Log, EveryLevelHasAName) {
  EXPECT_EQ(to_string(LogLevel::debug), "debug");
  EXPECT_EQ(to_string(LogLevel::info), "info");
  EXPECT_EQ(to_string(LogLevel::warning), "warning");
  EXPECT_EQ(to_string(LogLevel::error), "error");
}

}  // namespace
}  // namespace signet
