// Rings of keys as JSON text: what ring files and environment variables hold. doc/operations.md has an example.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <signet/base/result.h>
#include <signet/base/secret.h>
#include <signet/token/key_ring.h>

namespace signet::keys {

inline constexpr std::size_t ring_bytes_max = std::size_t{1} << 20;

// {"version":1,"keys":[{"id":…,"secret":<base64url of 32 bytes>,"stage":"accept"|"seal"|"retire",
//                       "since":<RFC 3339>, "retires_at":<RFC 3339>}, …]}
// Strict: no other member, no other spelling; `since` may be absent, `retires_at` goes with the stage retire alone.
// The sentence of a failure names members and key ids, never a secret. What the keys are together is for
// KeyRing::make to judge.
Result<std::vector<token::KeyEntry>> parse_ring(std::string_view text);

// The text, which holds secrets and is treated as one; ends with a line break.
Secret write_ring(const std::vector<token::KeyEntry>& entries);

// The entries of a ring again, to change them.
std::vector<token::KeyEntry> entries_of(const token::KeyRing& ring);

}  // namespace signet::keys
