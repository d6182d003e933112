#include <signet/json/base64.h>

#include <algorithm>
#include <array>

#include <signet/base/base64_digits.h>

namespace signet::json {
namespace {

constexpr std::string_view alphabet = signet::detail::base64_alphabet;
constexpr std::uint8_t no_digit = signet::detail::no_base64_digit;
constexpr std::array<std::uint8_t, 256> digits = signet::detail::base64_digits(alphabet);

}  // namespace

std::string base64_encode(ByteView bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = static_cast<std::uint32_t>(bytes[i]) << 16;
    if (here > 1) group |= static_cast<std::uint32_t>(bytes[i + 1]) << 8;
    if (here > 2) group |= bytes[i + 2];
    text.push_back(alphabet[group >> 18]);
    text.push_back(alphabet[(group >> 12) & 63]);
    text.push_back(here > 1 ? alphabet[(group >> 6) & 63] : '=');
    text.push_back(here > 2 ? alphabet[group & 63] : '=');
  }
  return text;
}

std::optional<Bytes> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t absent = i + 4 == text.size() ? padding : 0;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::uint8_t digit = j < 4 - absent ? digits[static_cast<unsigned char>(text[i + j])] : 0;
      if (digit == no_digit) return std::nullopt;
      group = group << 6 | digit;
    }
    bytes.push_back(static_cast<std::uint8_t>(group >> 16));
    if (absent < 2) bytes.push_back(static_cast<std::uint8_t>(group >> 8));
    if (absent < 1) bytes.push_back(static_cast<std::uint8_t>(group));
    const std::uint32_t unused = absent == 2 ? 0xFFFF : absent == 1 ? 0xFF : 0;
    if ((group & unused) != 0) return std::nullopt;
  }
  return bytes;
}

}  // namespace signet::json
