#include <signet/json/number.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace signet::json {
namespace {

// ECMA-262, Number::toString: `digits` are the significant ones, the number is 0.digits x 10^point.
void append_layout(std::string& out, bool negative, std::string_view digits, std::int64_t point) {
  const auto count = static_cast<std::int64_t>(digits.size());
  if (count == 0) {
    out.push_back('0');
    return;
  }
  if (negative) out.push_back('-');
  if (count <= point && point <= 21) {
    out.append(digits).append(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out.append(digits.substr(0, static_cast<std::size_t>(point))).push_back('.');
    out.append(digits.substr(static_cast<std::size_t>(point)));
  } else if (-6 < point && point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
  } else {
    out.push_back(digits.front());
    if (count > 1) out.append(".").append(digits.substr(1));
    out.append(point > 0 ? "e+" : "e-");
    std::array<char, 24> exponent;
    const auto end = std::to_chars(exponent.begin(), exponent.end(), point > 0 ? point - 1 : 1 - point);
    out.append(exponent.begin(), end.ptr);
  }
}

// The shortest digits of a finite double, without a leading or trailing zero.
struct ShortestDigits {
  std::array<char, 32> buffer;
  std::size_t count = 0;
  std::int64_t point = 0;
  bool negative = false;
  std::string_view view() const { return {buffer.data(), count}; }
};

ShortestDigits shortest(double finite) {
  ShortestDigits out;
  if (finite == 0) return out;
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), finite, std::chars_format::scientific).ptr;
  const char* at = text.begin();
  if (*at == '-') {
    out.negative = true;
    ++at;
  }
  for (; *at != 'e'; ++at) {
    if (*at != '.') out.buffer[out.count++] = *at;
  }
  ++at;
  if (*at == '+') ++at;
  std::from_chars(at, end, out.point);
  ++out.point;
  while (out.count > 0 && out.buffer[out.count - 1] == '0') --out.count;
  return out;
}

Decimal from_digits(bool negative, std::string digits, std::int64_t point) {
  const std::size_t leading = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, leading);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  if (digits.empty()) return {};
  return Decimal{negative, std::move(digits), point - static_cast<std::int64_t>(leading)};
}

template <typename Integer>
Decimal from_integer(Integer value) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.begin(), text.end(), value).ptr;
  const bool negative = text[0] == '-';
  std::string digits(text.begin() + (negative ? 1 : 0), end);
  const auto point = static_cast<std::int64_t>(digits.size());
  return from_digits(negative, std::move(digits), point);
}

bool has_nonzero_digit(std::string_view text) {
  const std::size_t mantissa = std::min(text.find_first_of("eE"), text.size());
  return text.substr(0, mantissa).find_first_of("123456789") != std::string_view::npos;
}

// The integer that a decimal stands for, where it fits.
template <typename Integer>
std::optional<Integer> integer_of(const Decimal& decimal) {
  if (decimal.is_zero()) return Integer{0};
  if (!decimal.is_integer() || decimal.point > 20) return std::nullopt;
  std::string text = decimal.negative ? "-" : "";
  text += decimal.digits;
  text.append(static_cast<std::size_t>(decimal.point) - decimal.digits.size(), '0');
  Integer value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

__extension__ using Wide = unsigned __int128;

std::uint64_t multiply_mod(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}

std::uint64_t power_of_ten_mod(std::uint64_t exponent, std::uint64_t modulus) {
  std::uint64_t result = 1 % modulus;
  std::uint64_t base = 10 % modulus;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply_mod(result, base, modulus);
    base = multiply_mod(base, base, modulus);
  }
  return result;
}

}  // namespace

Decimal decimal_of(std::string_view text) {
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  std::int64_t exponent = 0;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    text = text.substr(0, e);
  }
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  if (dot < text.size()) digits.append(text.substr(dot + 1));
  return from_digits(negative, std::move(digits), static_cast<std::int64_t>(dot) + exponent);
}

Decimal decimal_of(const Json& number) {
  switch (number.kind()) {
    case Json::Kind::integer:
      return from_integer(*number.as_int64());
    case Json::Kind::unsigned_integer:
      return from_integer(*number.as_uint64());
    case Json::Kind::number: {
      const ShortestDigits digits = shortest(*number.as_double());
      return Decimal{digits.negative, std::string(digits.view()), digits.point};
    }
    case Json::Kind::decimal:
      return decimal_of(std::string_view(*number.decimal_text()));
    default:
      return {};
  }
}

std::optional<std::int64_t> as_int64(const Decimal& number) { return integer_of<std::int64_t>(number); }
std::optional<std::uint64_t> as_uint64(const Decimal& number) { return integer_of<std::uint64_t>(number); }

std::strong_ordering compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative)
    return a.negative ? std::strong_ordering::less : std::strong_ordering::greater;
  const Decimal& low = a.negative ? b : a;  // by magnitude, turned round below zero
  const Decimal& high = a.negative ? a : b;
  if (low.is_zero() || high.is_zero()) return low.digits.size() <=> high.digits.size();
  if (low.point != high.point) return low.point <=> high.point;
  return low.digits.compare(high.digits) <=> 0;
}

bool is_multiple(const Decimal& value, const Decimal& divisor) {
  if (value.is_zero()) return true;
  std::uint64_t modulus = 0;
  std::from_chars(divisor.digits.data(), divisor.digits.data() + divisor.digits.size(), modulus);
  if (modulus == 0) return false;
  // Both as integers times a power of ten. Where the divisor's power is the higher one, the value would have to end
  // with a zero, and its digits never do.
  const auto exponent = [](const Decimal& d) { return d.point - static_cast<std::int64_t>(d.digits.size()); };
  const std::int64_t shift = exponent(value) - exponent(divisor);
  if (shift < 0) return false;
  std::uint64_t rest = 0;
  for (const char digit : value.digits) {
    rest = static_cast<std::uint64_t>((static_cast<Wide>(rest) * 10 + static_cast<unsigned>(digit - '0')) %
                                      modulus);
  }
  return multiply_mod(rest, power_of_ten_mod(static_cast<std::uint64_t>(shift), modulus), modulus) == 0;
}

void append_number(std::string& out, const Decimal& number) {
  append_layout(out, number.negative, number.digits, number.point);
}

void append_number(std::string& out, double finite) {
  const ShortestDigits digits = shortest(finite);
  append_layout(out, digits.negative, digits.view(), digits.point);
}

Json number_of(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  double value = 0;
  const bool fits = std::from_chars(begin, end, value).ec == std::errc() && std::isfinite(value);
  const bool only_digits = std::all_of(begin, end, [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
  const double magnitude = std::abs(value);
  if (fits && !only_digits && magnitude > 0 && magnitude < exact_integers_max) return Json(value);
  if (!has_nonzero_digit(text)) return only_digits ? Json(0) : Json(value);
  if (!fits || value == 0) return Json::decimal(std::string(text));
  // From here on all doubles are integers, but not all integers are doubles.
  const Decimal exact = decimal_of(text);
  if (!exact.is_integer() || (!only_digits && exact == decimal_of(Json(value)))) return Json(value);
  if (const auto integer = integer_of<std::int64_t>(exact)) return Json(*integer);
  if (const auto integer = integer_of<std::uint64_t>(exact)) return Json(*integer);
  return exact == decimal_of(Json(value)) ? Json(value) : Json::decimal(std::string(text));
}

}  // namespace signet::json
