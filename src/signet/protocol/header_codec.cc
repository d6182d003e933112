#include <signet/protocol/header_codec.h>

#include <algorithm>

#include <signet/base/bytes.h>
#include <signet/json/base64.h>
#include <signet/json/utf8.h>

namespace signet::protocol {
namespace {

constexpr std::string_view opening = "=?base64?";
constexpr std::string_view closing = "?=";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_sentinel(std::string_view text) {
  return text.size() >= opening.size() + closing.size() && text.starts_with(opening) &&
         text.ends_with(closing);
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c <= 0x7e; });
}

// What may stand in a field value (RFC 9110, section 5.5): the plain characters, and tabs.
bool is_field_value(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == '\t' || (c >= 0x20 && c <= 0x7e); });
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string encode_header_value(std::string_view value) {
  const bool kept = is_plain(value) && !is_sentinel(value) &&
                    (value.empty() || (!is_blank(value.front()) && !is_blank(value.back())));
  if (kept) return std::string(value);
  return std::string(opening) + json::base64_encode(as_bytes(value)) + std::string(closing);
}

std::optional<std::string> decode_header_value(std::string_view header) {
  const std::string_view value = trim_blanks(header);
  if (!is_field_value(value)) return std::nullopt;
  if (!is_sentinel(value)) return std::string(value);
  const std::string_view payload =
      value.substr(opening.size(), value.size() - opening.size() - closing.size());
  const std::optional<Bytes> bytes = json::base64_decode(payload);
  if (!bytes || !json::is_utf8(as_text(*bytes))) return std::nullopt;
  return std::string(as_text(*bytes));
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower);
  return out;
}

}  // namespace signet::protocol
