#include <signet/json/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace signet::json {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

template <typename Test>
bool all(std::string_view text, Test test) {
  return std::all_of(text.begin(), text.end(), test);
}

// ---- RFC 3339

// The number of exactly `digits` digits at `at`, or -1.
int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  if (text.size() < at + digits) return -1;
  int value = 0;
  for (const char c : text.substr(at, digits)) {
    if (!is_digit(c)) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool is_between(int value, int min, int max) { return value >= min && value <= max; }

int days_of_month(int year, int month) {
  static constexpr std::array<int, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : days[static_cast<std::size_t>(month - 1)];
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const int year = number_at(text, 0, 4);
  const int month = number_at(text, 5, 2);
  const int day = number_at(text, 8, 2);
  return year >= 0 && is_between(month, 1, 12) && is_between(day, 1, days_of_month(year, month));
}

// Minutes east of UTC of `Z` or `+hh:mm`.
std::optional<int> offset_minutes(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || !is_one_of(text[0], "+-") || text[3] != ':') return std::nullopt;
  const int hours = number_at(text, 1, 2);
  const int minutes = number_at(text, 4, 2);
  if (!is_between(hours, 0, 23) || !is_between(minutes, 0, 59)) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

bool is_time(std::string_view text) {
  if (text.size() < 9 || text[2] != ':' || text[5] != ':') return false;
  const int hour = number_at(text, 0, 2);
  const int minute = number_at(text, 3, 2);
  const int second = number_at(text, 6, 2);
  if (!is_between(hour, 0, 23) || !is_between(minute, 0, 59) || !is_between(second, 0, 60)) return false;
  std::string_view rest = text.substr(8);
  if (rest.front() == '.') {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1) return false;
    rest.remove_prefix(end);
  }
  const std::optional<int> offset = offset_minutes(rest);
  if (!offset) return false;
  // Leap seconds end a day of UTC (section 5.7).
  const int minute_of_day = ((hour * 60 + minute - *offset) % 1440 + 1440) % 1440;
  return second < 60 || minute_of_day == 1439;
}

bool is_date_time(std::string_view text) {
  return text.size() > 11 && is_date(text.substr(0, 10)) && is_one_of(text[10], "Tt") &&
         is_time(text.substr(11));
}

// ---- Addresses

bool is_ipv4(std::string_view text) {
  int parts = 0;
  for (;;) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || (part.size() > 1 && part.front() == '0')) return false;
    const int value = number_at(part, 0, part.size());
    if (!is_between(value, 0, 255)) return false;
    ++parts;
    if (dot == text.size()) return parts == 4;
    text.remove_prefix(dot + 1);
  }
}

// How many of the eight groups the colon-parted text has, or -1; an IPv4 address may end it.
int count_groups(std::string_view text) {
  if (text.empty()) return 0;
  for (int groups = 0;;) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view group = text.substr(0, colon);
    if (colon == text.size() && group.find('.') != std::string_view::npos)
      return is_ipv4(group) ? groups + 2 : -1;
    if (group.empty() || group.size() > 4 || !all(group, is_hex)) return -1;
    ++groups;
    if (colon == text.size()) return groups;
    text.remove_prefix(colon + 1);
  }
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return count_groups(text) == 8;
  const std::string_view before = text.substr(0, gap);
  if (before.find('.') != std::string_view::npos) return false;
  const int left = count_groups(before);
  const int right = count_groups(text.substr(gap + 2));
  return left >= 0 && right >= 0 && left + right <= 7;
}

// ---- RFC 5321, section 4.1.2

bool is_atom_character(char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "!#$%&'*+-/=?^_`{|}~"); }

bool is_dot_string(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.' ||
      text.find("..") != std::string_view::npos) {
    return false;
  }
  return all(text, [](char c) { return c == '.' || is_atom_character(c); });
}

bool is_quoted_string(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] < 0x20 || text[i] > 0x7E || text[i] == '"') return false;
    if (text[i] != '\\') continue;
    ++i;
    if (i == text.size() || text[i] < 0x20 || text[i] > 0x7E) return false;
  }
  return true;
}

bool is_domain(std::string_view text) {
  if (text.size() > 253) return false;
  for (;;) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    if (!all(label, [](char c) { return is_letter(c) || is_digit(c) || c == '-'; })) return false;
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_address_literal(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  constexpr std::string_view tag = "IPv6:";
  return text.starts_with(tag) ? is_ipv6(text.substr(tag.size())) : is_ipv4(text);
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at > 64) return false;
  const std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  return (is_dot_string(local) || is_quoted_string(local)) &&
         (is_domain(domain) || is_address_literal(domain));
}

// ---- RFC 3986

bool is_unreserved(char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "-._~"); }
bool is_sub_delimiter(char c) { return is_one_of(c, "!$&'()*+,;="); }

// Unreserved, sub-delimiters, percent-encoded bytes and `extra`.
bool has_only(std::string_view text, std::string_view extra) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
      i += 2;
    } else if (!is_unreserved(c) && !is_sub_delimiter(c) && !is_one_of(c, extra)) {
      return false;
    }
  }
  return true;
}

bool is_ip_literal(std::string_view text) {
  if (is_ipv6(text)) return true;
  const std::size_t dot = text.find('.');  // IPvFuture
  if (text.empty() || !is_one_of(text.front(), "vV") || dot == std::string_view::npos || dot < 2)
    return false;
  const std::string_view rest = text.substr(dot + 1);
  return all(text.substr(1, dot - 1), is_hex) && !rest.empty() &&
         all(rest, [](char c) { return is_unreserved(c) || is_sub_delimiter(c) || c == ':'; });
}

bool is_authority(std::string_view text) {
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    if (!has_only(text.substr(0, at), ":")) return false;
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || !is_ip_literal(text.substr(1, end - 1))) return false;
    port = text.substr(end + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    if (!has_only(text.substr(0, colon), "")) return false;
    port = text.substr(colon);
  }
  return port.empty() || (port.front() == ':' && all(port.substr(1), is_digit));
}

bool is_uri(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text.front())) return false;
  if (!all(text.substr(0, colon), [](char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "+-."); }))
    return false;
  std::string_view rest = text.substr(colon + 1);
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    if (!has_only(rest.substr(hash + 1), ":@/?")) return false;
    rest = rest.substr(0, hash);
  }
  if (const std::size_t query = rest.find('?'); query != std::string_view::npos) {
    if (!has_only(rest.substr(query + 1), ":@/?")) return false;
    rest = rest.substr(0, query);
  }
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (!is_authority(rest.substr(0, slash))) return false;
    rest.remove_prefix(slash);
  }
  return has_only(rest, ":@/");
}

}  // namespace

std::optional<Format> format_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Format> formats[] = {{"email", Format::email},
                                                                    {"uri", Format::uri},
                                                                    {"date", Format::date},
                                                                    {"date-time", Format::date_time}};
  for (const auto& [known, format] : formats) {
    if (name == known) return format;
  }
  return std::nullopt;
}

std::string_view describe(Format format) {
  switch (format) {
    case Format::email:
      return "an e-mail address";
    case Format::uri:
      return "a URI with a scheme, such as https://example.com/";
    case Format::date:
      return "a date, such as 2026-07-28";
    case Format::date_time:
      return "a date and time, such as 2026-07-28T12:00:00Z";
  }
  return {};
}

bool has_format(std::string_view text, Format format) {
  switch (format) {
    case Format::email:
      return is_email(text);
    case Format::uri:
      return is_uri(text);
    case Format::date:
      return is_date(text);
    case Format::date_time:
      return is_date_time(text);
  }
  return false;
}

}  // namespace signet::json
