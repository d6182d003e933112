// What the subcommands of `signet` share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <signet/base/clock.h>

namespace CLI {
class App;
}

namespace signet::cli {

// Says `signet: <sentence>` on standard error and ends the program with `exit_code`, by CLI11's way out.
[[noreturn]] void fail(const std::string& sentence, int exit_code = 1);

// All of a file, or of standard input where the path is `-`; fails the command if that is impossible or too much.
std::string read_input(const std::string& path, std::size_t bytes_max);

// The longest time that an option may give: a hundred years, so that sums of times stay far from their limits.
inline constexpr std::int64_t option_seconds_max = std::int64_t{100} * 366 * 24 * 60 * 60;

// An option that takes a time of at least `seconds_min`, in seconds or with a unit: s, m, h or d.
void add_duration(CLI::App& command, const std::string& name, std::int64_t& seconds,
                  const std::string& description, std::int64_t seconds_min);

// The time an option gives, or the system's; ends the command (wrong command line) where the text is no time.
Timestamp time_or_now(const std::string& text);

}  // namespace signet::cli
