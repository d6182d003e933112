// SHA-256 and what is built on it, over contexts that each thread keeps.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include <signet/base/bytes.h>

namespace signet {

using Digest = std::array<std::uint8_t, 32>;

// SHA-256 (FIPS 180-4) of the parts one after another. Thread-safe.
Digest sha256(ByteView data);
Digest sha256(std::initializer_list<ByteView> parts);

// HMAC-SHA256 (RFC 2104) of the parts one after another. Thread-safe.
Digest hmac_sha256(ByteView key, std::initializer_list<ByteView> parts);

// HKDF-SHA256 (RFC 5869), extract and expand; fills all of `out` (at most 255 * 32 bytes). An empty salt is
// 32 zero bytes, as the RFC has it. Thread-safe.
void hkdf_sha256(ByteView input_key, ByteView salt, ByteView info, std::span<std::uint8_t> out);

}  // namespace signet
