// Base64url without padding (RFC 4648, section 5), of which every byte string has exactly one spelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <signet/base/bytes.h>

namespace signet::token {

constexpr std::size_t base64url_size(std::size_t bytes) { return bytes / 3 * 4 + (bytes % 3 * 4 + 2) / 3; }

// How many bytes a text of that size stands for; nothing where no text of that size is base64url.
constexpr std::optional<std::size_t> base64url_decoded_size(std::size_t characters) {
  if (characters % 4 == 1) return std::nullopt;
  return characters / 4 * 3 + characters % 4 * 3 / 4;
}

// Writes base64url_size(bytes.size()) characters. `bytes` may be the last part of `out` itself.
void encode_base64url(ByteView bytes, char* out);
std::string encode_base64url(ByteView bytes);

// Fills `out`, which has base64url_decoded_size(text.size()) bytes, and returns true; or returns false where the text
// has any other character (padding and white space too) or unused bits that are not zero: only the one spelling that
// encode_base64url writes is read. `out` then holds nothing of use.
bool decode_base64url(std::string_view text, std::span<std::uint8_t> out);
std::optional<Bytes> decode_base64url(std::string_view text);

namespace detail {

// The two implementations, for the test that compares them. The second uses AVX2 where the processor has it.
void encode_base64url_scalar(ByteView bytes, char* out);
bool decode_base64url_scalar(std::string_view text, std::uint8_t* out);
void encode_base64url_wide(ByteView bytes, char* out);
bool decode_base64url_wide(std::string_view text, std::uint8_t* out);

}  // namespace detail
}  // namespace signet::token
