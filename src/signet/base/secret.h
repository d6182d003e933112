// Bytes that must not be seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <signet/base/bytes.h>

namespace signet {

// Key material. Moves, does not copy, does not print, does not compare with ==; its memory is wiped when it
// goes. The bytes come out of `expose()` alone, so one search finds every use.
class Secret {
 public:
  Secret() = default;
  // Takes the bytes over: the caller's vector is left empty, and the memory is wiped with the Secret.
  explicit Secret(Bytes&& bytes) : bytes_(std::move(bytes)) {}
  // Copies; the caller wipes its own with `wipe`.
  static Secret copy_of(ByteView bytes) { return Secret(Bytes(bytes.begin(), bytes.end())); }

  Secret(Secret&& other) noexcept : bytes_(std::move(other.bytes_)) { other.bytes_.clear(); }
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  ByteView expose() const { return bytes_; }

  // A second Secret with the same bytes; named, so that it is seen.
  Secret clone() const { return copy_of(bytes_); }

 private:
  Bytes bytes_;
};

// Overwrites memory in a way the compiler may not leave out.
void wipe(std::span<std::uint8_t> bytes);

// Equal sizes and equal bytes, in a time that depends on the sizes alone.
bool equal_in_constant_time(ByteView a, ByteView b);

}  // namespace signet
