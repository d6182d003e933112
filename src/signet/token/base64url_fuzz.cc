// The attacker writes the text: whoever makes up a token. The bytes are the attacker's as well: who chooses a state
// chooses what is encoded.
#include <signet/token/base64url.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace {

using namespace signet;
using namespace signet::token;

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void require(bool promise) {
  if (!promise) std::abort();
}

// The specification, one bit after the other: what a text stands for, or nothing where it is none.
std::optional<Bytes> decode_by_bits(std::string_view text) {
  Bytes bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    held = held << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::uint8_t>(held >> bits));
    held &= (1U << bits) - 1;
  }
  if (text.size() % 4 == 1 || held != 0) return std::nullopt;
  return bytes;
}

void read(std::string_view text) {
  const std::optional<Bytes> bytes = decode_base64url(text);
  require(bytes == decode_by_bits(text));
  if (bytes) require(encode_base64url(*bytes) == text);  // one spelling

  const std::optional<std::size_t> size = base64url_decoded_size(text.size());
  require(size.has_value() == (text.size() % 4 != 1));
  if (!size) return;
  Bytes scalar(*size);
  Bytes wide(*size);
  require(detail::decode_base64url_scalar(text, scalar.data()) == bytes.has_value());
  require(detail::decode_base64url_wide(text, wide.data()) == bytes.has_value());
  if (bytes) require(scalar == *bytes && wide == *bytes);
}

void write(ByteView bytes) {
  const std::string text = encode_base64url(bytes);
  require(text.size() == base64url_size(bytes.size()));
  const std::optional<Bytes> back = decode_base64url(text);
  require(back && std::equal(back->begin(), back->end(), bytes.begin(), bytes.end()));
  std::string scalar(text.size(), '\0');
  detail::encode_base64url_scalar(bytes, scalar.data());
  require(scalar == text);

  std::string in_place(text.size(), '\0');  // the bytes may be the last part of the text's own memory
  std::copy(bytes.begin(), bytes.end(), in_place.end() - static_cast<std::ptrdiff_t>(bytes.size()));
  const auto* raw = reinterpret_cast<const std::uint8_t*>(in_place.data()) + text.size() - bytes.size();
  encode_base64url(ByteView(raw, bytes.size()), in_place.data());
  require(in_place == text);
}

// A good text with one character changed: what is of the alphabet reads as other bytes or as nothing, the rest as nothing.
void change(ByteView bytes, std::uint8_t place, std::uint8_t with) {
  std::string text = encode_base64url(bytes);
  if (text.empty()) return;
  char& changed = text[place % text.size()];
  if (changed == static_cast<char>(with)) return;
  changed = static_cast<char>(with);
  const std::optional<Bytes> other = decode_base64url(text);
  if (alphabet.find(changed) == std::string_view::npos) require(!other);
  if (other) require(!std::equal(other->begin(), other->end(), bytes.begin(), bytes.end()));
  read(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  read(as_text(input));
  write(input);
  if (size >= 2) change(input.subspan(2), data[0], data[1]);
  return 0;
}
