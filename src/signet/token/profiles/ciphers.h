// The ciphers of other systems' tokens.
#pragma once

#include <cstddef>
#include <optional>

#include <signet/base/bytes.h>

namespace signet::token::profiles {

enum class Cipher { aes_256_gcm, chacha20_poly1305 };

inline constexpr std::size_t cipher_key_bytes = 32;
inline constexpr std::size_t nonce_bytes = 12;
inline constexpr std::size_t tag_bytes = 16;

struct Sealing {
  ByteView key;    // 32 bytes
  ByteView nonce;  // 12 bytes
  ByteView associated;
};

// Ciphertext, then the tag. Thread-safe.
Bytes encrypt(Cipher cipher, const Sealing& with, ByteView plaintext);
// The plaintext, or nothing where the tag is not right. Thread-safe.
std::optional<Bytes> decrypt(Cipher cipher, const Sealing& with, ByteView ciphertext, ByteView tag);

}  // namespace signet::token::profiles
