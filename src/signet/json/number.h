// The numbers of JSON as exact decimals: compared, divided and laid out without losing a digit.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <signet/json/value.h>

namespace signet::json {

// Up to here a double and the integer it stands for are the same in every reading (2^53).
inline constexpr double exact_integers_max = 9007199254740992.0;

// sign 0.digits x 10^point; the digits neither begin nor end with 0, and zero has none (and no sign). So equal
// numbers have equal members. Doubles count as the decimal of their shortest form.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t point = 0;

  bool operator==(const Decimal&) const = default;
  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return point >= static_cast<std::int64_t>(digits.size()); }
};

// Precondition: a number.
Decimal decimal_of(const Json& number);
// Precondition: the text is a JSON number whose exponent has at most 18 digits.
Decimal decimal_of(std::string_view text);

// Integers that fit.
std::optional<std::int64_t> as_int64(const Decimal& number);
std::optional<std::uint64_t> as_uint64(const Decimal& number);

std::strong_ordering compare(const Decimal& a, const Decimal& b);
// Whether `value` is an integral multiple of `divisor`; exact. Precondition: the divisor is above zero and has at
// most 19 digits.
bool is_multiple(const Decimal& value, const Decimal& divisor);

// In ECMAScript's layout (RFC 8785, section 3.2.2.3): one spelling for each number.
void append_number(std::string& out, const Decimal& number);
void append_number(std::string& out, double finite);

// The value a reader makes of a JSON number's text: see Json. Precondition as above.
Json number_of(std::string_view text);

}  // namespace signet::json
