// The formats of strings that are checked: those that elicitation's forms know.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace signet::json {

enum class Format : std::uint8_t {
  email,      // RFC 5321, section 4.1.2, Mailbox: ASCII, no comments
  uri,        // RFC 3986, with a scheme
  date,       // RFC 3339, full-date
  date_time,  // RFC 3339, date-time
};

// By the name that schemas use.
std::optional<Format> format_of(std::string_view name);
// "an e-mail address", to follow "must be".
std::string_view describe(Format format);

bool has_format(std::string_view text, Format format);

}  // namespace signet::json
