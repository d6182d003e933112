#include <signet/json/utf8.h>

#include <algorithm>

namespace signet::json {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The bounds of the second byte, which tell overlong forms, surrogates and what is above U+10FFFF (RFC 3629, 4).
bool second_byte_fits(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0 && second <= 0xBF;
    case 0xED:
      return second >= 0x80 && second <= 0x9F;
    case 0xF0:
      return second >= 0x90 && second <= 0xBF;
    case 0xF4:
      return second >= 0x80 && second <= 0x8F;
    default:
      return second >= 0x80 && second <= 0xBF;
  }
}

}  // namespace

std::size_t utf8_length(const char* at, const char* end) {
  const auto lead = static_cast<unsigned char>(*at);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (static_cast<std::size_t>(end - at) < length) return 0;
  if (!second_byte_fits(lead, static_cast<unsigned char>(at[1]))) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_continuation(at[i])) return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const std::size_t length = utf8_length(at, end);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::size_t count_code_points(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t count = 0;
  for (; at != end; ++count) at += std::max(utf8_length(at, end), std::size_t{1});
  return count;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto tail = [code_point](int shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (code_point >> 6)));
    out.push_back(tail(0));
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (code_point >> 12)));
    out.push_back(tail(6));
    out.push_back(tail(0));
  } else {
    out.push_back(static_cast<char>(0xF0 | (code_point >> 18)));
    out.push_back(tail(12));
    out.push_back(tail(6));
    out.push_back(tail(0));
  }
}

}  // namespace signet::json
