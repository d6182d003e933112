// The digits of the two alphabets of base64 (RFC 4648, sections 4 and 5), for the rooms that read and write them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace signet::detail {

inline constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::string_view base64url_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Has a bit that no digit has, so that several digits can be looked at at once.
inline constexpr std::uint8_t no_base64_digit = 0xff;

// The digit that a character stands for, or no_base64_digit, by the character.
constexpr std::array<std::uint8_t, 256> base64_digits(std::string_view alphabet) {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(no_base64_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}

}  // namespace signet::detail
