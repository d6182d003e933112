#include <signet/base/secret.h>

#include <openssl/crypto.h>

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
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace signet
