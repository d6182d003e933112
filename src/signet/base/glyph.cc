#include <signet/base/glyph.h>

#include <array>
#include <cstdint>

namespace signet {
namespace {

bool plays_tricks(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

Glyph first_glyph(std::string_view text) {
  constexpr Glyph stray{1, false};
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, !plays_tricks(lead)};
  if (lead < 0xc2 || lead > 0xf4) return stray;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (text.size() < size) return stray;
  std::uint32_t code = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return stray;
    code = code << 6 | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return stray;
  return {size, !plays_tricks(code)};
}

}  // namespace signet
