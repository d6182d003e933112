#include <signet/base/secret.h>

#include <openssl/crypto.h>

#include <cstring>
#include <utility>

namespace signet {

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe(bytes_);
    bytes_ = std::move(other.bytes_);
    other.bytes_.clear();
  }
  return *this;
}

Secret::~Secret() { wipe(bytes_); }

void wipe(std::span<std::uint8_t> bytes) {
  if (!bytes.empty()) OPENSSL_cleanse(bytes.data(), bytes.size());
}

bool equal_in_constant_time(ByteView a, ByteView b) {
  if (a.size() != b.size()) return false;
  // As CRYPTO_memcmp, but eight bytes at a time: that one costs a nanosecond a byte.
  std::uint64_t difference = 0;
  const auto compare_eight_at = [&](std::size_t at) {
    std::uint64_t left, right;
    std::memcpy(&left, a.data() + at, sizeof left);
    std::memcpy(&right, b.data() + at, sizeof right);
    difference |= left ^ right;
    // The compiler may not see that all bits set need no further look.
    asm volatile("" : "+r"(difference));
  };
  std::size_t i = 0;
  for (; i + sizeof difference <= a.size(); i += sizeof difference) compare_eight_at(i);
  if (a.size() >= sizeof difference) {
    compare_eight_at(a.size() - sizeof difference);  // what is left, with some that was compared
  } else {
    for (; i < a.size(); ++i) difference |= static_cast<std::uint64_t>(a[i] ^ b[i]);
  }
  asm volatile("" : "+r"(difference));
  return difference == 0;
}

}  // namespace signet
