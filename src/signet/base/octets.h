// Records of octets: pieces of a fixed size, and texts behind their lengths, which are big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <signet/base/bytes.h>

namespace signet {

// The text behind its length in so many octets. Precondition: the length fits.
inline void put_text(Bytes& out, std::string_view text, int length_octets) {
  for (int shift = (length_octets - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(text.size() >> shift));
  }
  out.insert(out.end(), text.begin(), text.end());
}

// Takes pieces from the front; after the first that is not there, nothing. Borrows the octets.
class OctetReader {
 public:
  explicit OctetReader(ByteView bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::optional<ByteView> take(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    const ByteView piece = rest_.first(count);
    rest_ = rest_.subspan(count);
    return piece;
  }
  // What put_text wrote.
  std::optional<std::string_view> text(std::size_t length_octets) {
    const std::optional<ByteView> length = take(length_octets);
    if (!length) return std::nullopt;
    std::size_t size = 0;
    for (const std::uint8_t octet : *length) size = size << 8 | octet;
    const std::optional<ByteView> piece = take(size);
    if (!piece) return std::nullopt;
    return as_text(*piece);
  }

 private:
  ByteView rest_;
};

}  // namespace signet
