#include <signet/protocol/header_codec.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace signet::protocol {
namespace {

constexpr std::string_view opening = "=?base64?";
constexpr std::string_view closing = "?=";
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> values = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return table;
}();

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_sentinel(std::string_view text) {
  return text.size() >= opening.size() + closing.size() && text.starts_with(opening) &&
         text.ends_with(closing);
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c <= 0x7e; });
}

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? alphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// The one canonical spelling only: full groups, padding where it belongs, unused bits zero.
std::optional<std::string> strict_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t filled = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::int8_t value = k < filled ? values[static_cast<unsigned char>(text[i + k])] : std::int8_t{0};
      if (value < 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    const std::size_t bytes = filled - 1;
    if ((group & ((1u << (24 - 8 * bytes)) - 1)) != 0) return std::nullopt;
    for (std::size_t k = 0; k < bytes; ++k) out += static_cast<char>(group >> (16 - 8 * k) & 0xff);
  }
  return out;
}

// Well-formed UTF-8 (Unicode, table 3-7).
bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    const std::size_t more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (text.size() - i < more) return false;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
    for (std::size_t k = 0; k < more; ++k) {
      const auto next = static_cast<unsigned char>(text[i++]);
      if (next < low || next > high) return false;
      low = 0x80;
      high = 0xbf;
    }
  }
  return true;
}

}  // namespace

std::string encode_header_value(std::string_view value) {
  const bool kept = is_plain(value) && !is_sentinel(value) &&
                    (value.empty() || (!is_blank(value.front()) && !is_blank(value.back())));
  if (kept) return std::string(value);
  return std::string(opening) + base64(value) + std::string(closing);
}

std::optional<std::string> decode_header_value(std::string_view header) {
  const std::string_view value = trim_blanks(header);
  if (!is_plain(value)) return std::nullopt;
  if (!is_sentinel(value)) return std::string(value);
  const std::string_view payload =
      value.substr(opening.size(), value.size() - opening.size() - closing.size());
  std::optional<std::string> bytes = strict_base64(payload);
  if (!bytes || !is_utf8(*bytes)) return std::nullopt;
  return bytes;
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace signet::protocol
