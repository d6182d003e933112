#include <signet/token/profiles/text.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

namespace signet::token::profiles {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of the UTF-8 sequence at the front of `text`, or 0. With `surrogates`, also those of lone surrogates.
std::size_t sequence_length(std::string_view text, bool surrogates) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned least, unsigned most) {
    return byte(i) >= least && byte(i) <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned least = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned most = first == 0xED && !surrogates ? 0x9F : 0xBF;
    return follows(1, least, most) && follows(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned least = first == 0xF0 ? 0x90 : 0x80;
    const unsigned most = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, least, most) && follows(2, 0x80, 0xBF) && follows(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

bool is_all_sequences(std::string_view text, bool surrogates) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text, surrogates);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Precondition: a sequence as above.
char32_t code_point_of(std::string_view sequence) {
  const auto low = [&](std::size_t i) { return static_cast<char32_t>(sequence[i]) & 0x3F; };
  const auto first = static_cast<std::uint8_t>(sequence[0]);
  switch (sequence.size()) {
    case 1:
      return first;
    case 2:
      return (first & 0x1FU) << 6 | low(1);
    case 3:
      return (first & 0x0FU) << 12 | low(1) << 6 | low(2);
    default:
      return (first & 0x07U) << 18 | low(1) << 12 | low(2) << 6 | low(3);
  }
}

void append_code_point(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_high_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDBFF; }
bool is_low_surrogate(char32_t c) { return c >= 0xDC00 && c <= 0xDFFF; }

class Reader {
 public:
  Reader(std::string_view text, Dialect dialect, int depth_max)
      : rest_(text), dialect_(dialect), depth_max_(depth_max) {}

  std::optional<Text> whole() {
    Text value;
    if (!read_value(value, 0)) return std::nullopt;
    skip_space();
    if (!rest_.empty()) return std::nullopt;
    return value;
  }

 private:
  void skip_space() {
    do {
      const std::size_t at = rest_.find_first_not_of(" \t\n\r");
      rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
    } while (dialect_ == Dialect::ruby && (skip_comment("/*", "*/") || skip_comment("//", "\n")));
  }
  bool skip_comment(std::string_view begin, std::string_view end) {
    if (!rest_.starts_with(begin)) return false;
    const std::size_t at = rest_.find(end, begin.size());
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + end.size());
    return true;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool read_value(Text& value, int depth) {
    skip_space();
    if (rest_.empty()) return false;
    switch (rest_.front()) {
      case '{':
        return depth < depth_max_ && read_object(value, depth + 1);
      case '[':
        return depth < depth_max_ && read_array(value, depth + 1);
      case '"':
        value.kind = Text::Kind::string;
        return read_string(value.value);
      default:
        return read_word(value) || read_number(value);
    }
  }

  bool read_word(Text& value) {
    if (take("null")) return true;
    for (const std::string_view word : {"true", "false"}) {
      if (take(word)) return set(value, Text::Kind::boolean, word);
    }
    if (dialect_ != Dialect::python) return false;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (take(word)) return set(value, Text::Kind::number, word);
    }
    return false;
  }
  static bool set(Text& value, Text::Kind kind, std::string_view text) {
    value.kind = kind;
    value.value = text;
    return true;
  }

  bool read_number(Text& value) {
    std::size_t at = 0;
    const auto digits = [&] {
      const std::size_t from = at;
      while (at < rest_.size() && is_digit(rest_[at])) ++at;
      return at - from;
    };
    const auto next_is = [&](char c) { return at < rest_.size() && rest_[at] == c; };
    if (next_is('-')) ++at;
    const bool zero = next_is('0');
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (next_is('.')) {
      ++at;
      if (digits() == 0) return false;
    }
    if (next_is('e') || next_is('E')) {
      ++at;
      if (next_is('+') || next_is('-')) ++at;
      if (digits() == 0) return false;
    }
    set(value, Text::Kind::number, rest_.substr(0, at));
    rest_.remove_prefix(at);
    return true;
  }

  bool read_array(Text& value, int depth) {
    value.kind = Text::Kind::array;
    rest_.remove_prefix(1);
    skip_space();
    if (take("]")) return true;
    while (true) {
      if (!read_value(value.elements.emplace_back(), depth)) return false;
      skip_space();
      if (take("]")) return true;
      if (!take(",")) return false;
    }
  }

  bool read_object(Text& value, int depth) {
    value.kind = Text::Kind::object;
    rest_.remove_prefix(1);
    skip_space();
    if (take("}")) return true;
    std::unordered_map<std::string, std::size_t> places;
    while (true) {
      skip_space();
      std::string name;
      Text member;
      if (!rest_.starts_with('"') || !read_string(name)) return false;
      skip_space();
      if (!take(":") || !read_value(member, depth)) return false;
      const auto [place, is_new] = places.emplace(name, value.members.size());
      if (is_new) {
        value.members.push_back({std::move(name), std::move(member)});
      } else {
        value.members[place->second].value = std::move(member);
      }
      skip_space();
      if (take("}")) return true;
      if (!take(",")) return false;
    }
  }

  bool read_string(std::string& out) {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      if (take("\"")) return true;
      if (rest_.front() == '\\') {
        if (!read_escape(out)) return false;
        continue;
      }
      const std::size_t length = sequence_length(rest_, false);
      if (length == 0 || static_cast<std::uint8_t>(rest_.front()) < 0x20) return false;
      out += rest_.substr(0, length);
      rest_.remove_prefix(length);
    }
    return false;
  }

  bool read_escape(std::string& out) {
    if (rest_.size() < 2) return false;
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view values = "\"\\/\b\f\n\r\t";
    const std::size_t simple = names.find(rest_[1]);
    if (simple != std::string_view::npos) {
      out += values[simple];
      rest_.remove_prefix(2);
      return true;
    }
    if (dialect_ == Dialect::ruby &&
        rest_[1] != 'u') {  // the backslash is nothing; the character is read next
      rest_.remove_prefix(1);
      return true;
    }
    std::optional<char32_t> unit = hex_unit(rest_);
    if (!unit) return false;
    rest_.remove_prefix(6);
    const std::optional<char32_t> second = is_high_surrogate(*unit) ? hex_unit(rest_) : std::nullopt;
    if (second && is_low_surrogate(*second)) {
      unit = 0x10000 + ((*unit - 0xD800) << 10) + (*second - 0xDC00);
      rest_.remove_prefix(6);
    }
    const bool lone = is_high_surrogate(*unit) || is_low_surrogate(*unit);
    if (lone && dialect_ == Dialect::ruby) return false;
    append_code_point(out, *unit);
    return true;
  }

  static std::optional<char32_t> hex_unit(std::string_view text) {
    if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
    unsigned value = 0;
    const char* end = text.data() + 6;
    if (std::from_chars(text.data() + 2, end, value, 16).ptr != end) return std::nullopt;
    return value;
  }

  std::string_view rest_;
  Dialect dialect_;
  int depth_max_;
};

// 0.digits x 10^point, in the fewest digits that read back as the same double.
struct Shortest {
  std::string sign;
  std::string digits;
  int point = 0;
};

// Precondition: finite.
Shortest shortest_of(double value) {
  Shortest result;
  if (std::signbit(value)) result.sign = "-";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                 std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  int exponent = 0;
  const bool negative = text[e + 1] == '-';
  std::from_chars(text.data() + e + 2, text.data() + text.size(), exponent);
  result.point = (negative ? -exponent : exponent) + 1;
  return result;
}

std::string zeros(int count) { return std::string(static_cast<std::size_t>(count), '0'); }

// Without an exponent; a whole number ends in `whole_end`.
std::string fixed(const Shortest& number, std::string_view whole_end) {
  const int size = static_cast<int>(number.digits.size());
  if (number.point <= 0) return number.sign + "0." + zeros(-number.point) + number.digits;
  if (number.point >= size) {
    return number.sign + number.digits + zeros(number.point - size) + std::string(whole_end);
  }
  const auto at = static_cast<std::size_t>(number.point);
  return number.sign + number.digits.substr(0, at) + "." + number.digits.substr(at);
}

// With an exponent of at least `exponent_digits` digits; a single digit is followed by `single_end`.
std::string scientific(const Shortest& number, std::string_view single_end, std::size_t exponent_digits) {
  const int exponent = number.point - 1;
  std::string power = std::to_string(std::abs(exponent));
  if (power.size() < exponent_digits) power.insert(0, exponent_digits - power.size(), '0');
  std::string text = number.sign + number.digits.substr(0, 1);
  text += number.digits.size() > 1 ? "." + number.digits.substr(1) : std::string(single_end);
  return text + (exponent < 0 ? "e-" : "e+") + power;
}

// An integer as Python and Ruby keep it: there is no negative zero.
std::string integer_text(const Text& number) { return number.value == "-0" ? "0" : number.value; }

void append_escaped(std::string& out, char32_t unit) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += hex[unit >> shift & 0xF];
}

// What all of them write alike: quotes, backslashes and control characters. True where it wrote something.
bool append_common_escape(std::string& out, char32_t c) {
  constexpr std::string_view values = "\"\\\b\f\n\r\t";
  constexpr std::string_view names = "\"\\bfnrt";
  const std::size_t simple = c < 0x80 ? values.find(static_cast<char>(c)) : std::string_view::npos;
  if (simple != std::string_view::npos) {
    out += '\\';
    out += names[simple];
    return true;
  }
  if (c >= 0x20) return false;
  append_escaped(out, c);
  return true;
}

using SortedMembers = std::vector<const Text::Member*>;

// By bytes, which is by code points.
SortedMembers members_of(const Text& object, Sort sort) {
  SortedMembers members;
  for (const Text::Member& member : object.members) members.push_back(&member);
  if (sort == Sort::members) {
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  }
  return members;
}

// The layout all three share; `Style` spells names, strings and numbers, and orders members.
template <typename Style>
void append_value(std::string& out, const Text& value, Style& style) {
  switch (value.kind) {
    case Text::Kind::null:
      out += "null";
      break;
    case Text::Kind::boolean:
      out += value.value;
      break;
    case Text::Kind::number:
      out += style.number(value);
      break;
    case Text::Kind::string:
      out += style.string(value.value);
      break;
    case Text::Kind::array:
      out += '[';
      for (std::size_t i = 0; i < value.elements.size(); ++i) {
        if (i > 0) out += ',';
        append_value(out, value.elements[i], style);
      }
      out += ']';
      break;
    case Text::Kind::object: {
      out += '{';
      bool first = true;
      for (const auto* member : style.members(value)) {
        if (!first) out += ',';
        first = false;
        out += style.string(member->name);
        out += ':';
        append_value(out, member->value, style);
      }
      out += '}';
      break;
    }
  }
}

struct PythonStyle {
  std::string number(const Text& number) const {
    return is_integer(number) ? integer_text(number) : python_float(double_of(number));
  }
  std::string string(std::string_view text) const { return python_string(text, ascii); }
  SortedMembers members(const Text& object) const { return members_of(object, sort); }
  Sort sort;
  Ascii ascii;
};

struct RubyStyle {
  std::string number(const Text& number) {
    if (is_integer(number)) return integer_text(number);
    const double value = double_of(number);
    raises = raises || !std::isfinite(value);
    return raises ? std::string() : ruby_float(value);
  }
  std::string string(std::string_view text) {
    raises = raises || !is_plain_utf8(text);
    return python_string(text, Ascii::no);  // the same characters are escaped, in the same way
  }
  SortedMembers members(const Text& object) const { return members_of(object, sort); }
  Sort sort;
  bool raises = false;
};

// The value of a name that JavaScript takes for an array index, or nothing.
std::optional<std::uint32_t> array_index(std::string_view name) {
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool whole = error == std::errc() && end == name.data() + name.size() && !name.empty();
  const bool canonical = name == "0" || !name.starts_with('0');
  if (!whole || !canonical || index == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return index;
}

struct JavascriptStyle {
  static std::string number(const Text& number) {
    const double value = double_of(number);
    return std::isfinite(value) ? javascript_float(value) : "null";
  }
  static std::string string(std::string_view text) { return javascript_string(text); }
  static SortedMembers members(const Text& object) {
    SortedMembers members;
    SortedMembers names;
    for (const Text::Member& member : object.members) {
      (array_index(member.name) ? members : names).push_back(&member);
    }
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return *array_index(a->name) < *array_index(b->name); });
    members.insert(members.end(), names.begin(), names.end());
    return members;
  }
};

// Whether a number that no double can hold is too large, rather than too small. Precondition: not zero.
bool is_huge(std::string_view number) {
  const std::size_t e = number.find_first_of("eE");
  if (e != std::string_view::npos && number.substr(e + 1).starts_with('-')) {
    // Only many thousand digits before the point could outweigh a negative exponent; then the exponent is small.
    const std::size_t digits = number.substr(0, e).find_first_of(".eE");
    const std::size_t whole = digits == std::string_view::npos ? e : digits;
    unsigned long long exponent = 0;
    const auto result = std::from_chars(number.data() + e + 2, number.data() + number.size(), exponent);
    return result.ec == std::errc() && exponent < whole;
  }
  return e != std::string_view::npos || !number.substr(number.starts_with('-') ? 1 : 0).starts_with("0.");
}

}  // namespace

const Text* Text::find(std::string_view name) const {
  for (const auto& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

const std::string* Text::find_string(std::string_view name) const {
  const Text* member = find(name);
  return member != nullptr && member->is(Kind::string) ? &member->value : nullptr;
}

Text Text::of_string(std::string_view value) {
  Text text;
  text.kind = Kind::string;
  text.value = value;
  return text;
}

std::optional<Text> read_text(std::string_view json, Dialect dialect, int depth_max) {
  return Reader(json, dialect, depth_max).whole();
}

bool is_deeper(std::string_view json, int depth_max) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > depth_max) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

bool is_integer(const Text& number) {
  return number.is(Text::Kind::number) && number.value.find_first_not_of("-0123456789") == std::string::npos;
}

double double_of(const Text& number) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (number.value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (number.value.ends_with("Infinity")) return number.value.starts_with('-') ? -infinity : infinity;
  double value = 0;
  const char* begin = number.value.data();
  const auto result = std::from_chars(begin, begin + number.value.size(), value);
  if (result.ec == std::errc()) return value;
  const double magnitude = is_huge(number.value) ? infinity : 0.0;
  return number.value.starts_with('-') ? -magnitude : magnitude;
}

std::string python_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  const Shortest number = shortest_of(value);
  return number.point > -4 && number.point <= 16 ? fixed(number, ".0") : scientific(number, "", 2);
}

std::string python_str(const Text& number) {
  if (is_integer(number)) return integer_text(number);
  const double value = double_of(number);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return python_float(value);
}

std::string ruby_float(double value) {
  const Shortest number = shortest_of(value);
  const bool has_fraction = number.point > 0 && number.point < static_cast<int>(number.digits.size());
  const bool plain = has_fraction || (number.point > -4 && number.point <= 15);
  return plain ? fixed(number, ".0") : scientific(number, ".0", 2);
}

std::string javascript_float(double value) {
  if (value == 0) return "0";
  const Shortest number = shortest_of(value);
  return number.point > -6 && number.point <= 21 ? fixed(number, "") : scientific(number, "", 1);
}

std::string python_json(const Text& value, Sort sort, Ascii ascii) {
  PythonStyle style{sort, ascii};
  std::string out;
  append_value(out, value, style);
  return out;
}

std::optional<std::string> ruby_json(const Text& value, Sort sort) {
  RubyStyle style{sort};
  std::string out;
  append_value(out, value, style);
  if (style.raises) return std::nullopt;
  return out;
}

std::string javascript_json(const Text& value) {
  JavascriptStyle style;
  std::string out;
  append_value(out, value, style);
  return out;
}

std::string python_string(std::string_view text, Ascii ascii) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(sequence_length(text, true), 1);
    const char32_t c = code_point_of(text.substr(0, length));
    if (append_common_escape(out, c)) {
    } else if (ascii == Ascii::no || c < 0x7F) {
      out += text.substr(0, length);
    } else if (c < 0x10000) {
      append_escaped(out, c);
    } else {
      append_escaped(out, 0xD800 + ((c - 0x10000) >> 10));
      append_escaped(out, 0xDC00 + ((c - 0x10000) & 0x3FF));
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

std::string javascript_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(sequence_length(text, true), 1);
    const char32_t c = code_point_of(text.substr(0, length));
    if (is_high_surrogate(c) || is_low_surrogate(c)) {
      append_escaped(out, c);
    } else if (!append_common_escape(out, c)) {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

std::string without_surrogates(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(sequence_length(text, true), 1);
    const bool plain = sequence_length(text, false) != 0;
    out += plain ? text.substr(0, length) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(length);
  }
  return out;
}

bool is_plain_utf8(std::string_view text) { return is_all_sequences(text, false); }
bool is_string_value(std::string_view text) { return is_all_sequences(text, true); }

}  // namespace signet::token::profiles
