// Times as people and files write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <signet/base/clock.h>

namespace signet::keys {

// RFC 3339 in UTC: 2026-11-29T12:00:00Z, with milliseconds only where there are some.
std::string to_text(Timestamp time);

// What to_text writes; with one to three digits of a fraction. No other offset than Z, no leap second, years 1970 to 9999.
std::optional<Timestamp> parse_time(std::string_view text);

}  // namespace signet::keys
