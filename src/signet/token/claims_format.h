// Claims as bytes: what is sealed in front of every state. Deterministic and versioned; doc/token_format.md.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/token/claims.h>

namespace signet::token {

// 9999-12-31T23:59:59.999Z: no stamp lies beyond, so that arithmetic on stamps cannot overflow.
inline constexpr Timestamp latest_stamp{std::chrono::milliseconds(253'402'300'799'999)};

// The stamp nearest to a time: a clock may say anything.
inline Timestamp as_stamp(Timestamp time) { return std::clamp(time, Timestamp(), latest_stamp); }

// `start + by`, but never beyond latest_stamp, however long the time, and never back.
inline Timestamp later(Timestamp start, std::chrono::milliseconds by) {
  const Timestamp stamp = as_stamp(start);
  return stamp + std::clamp(by, std::chrono::milliseconds(0), latest_stamp - stamp);
}

// A text among the claims is written as itself, which a holder of the keys can read, up to this size, and as its
// SHA-256 beyond.
inline constexpr std::size_t claim_text_bytes_max = 64;

// One text among the claims, as it was written.
class ClaimText {
 public:
  ClaimText() = default;
  explicit ClaimText(ByteView written) : written_(written) {}
  bool is_digest() const;
  // The text, or the 32 bytes of its digest. Lives as long as the bytes that were decoded.
  ByteView bytes() const { return written_.subspan(1); }
  // Whether this was written for `text`. In a time that depends on the sizes alone.
  bool matches(std::string_view text) const;

 private:
  ByteView written_;  // the length byte, then the text or the digest
};

struct Claims {
  Flow flow;
  Timestamp issued_at{};
  Timestamp expires_at{};
  Digest arguments{};
  Principal::Kind principal_kind = Principal::Kind::anonymous;
  ClaimText method;
  ClaimText target;
  ClaimText audience;
  ClaimText principal;
  ClaimText protocol_version;
};

// The claims of one state, in a buffer of their own.
class EncodedClaims {
 public:
  EncodedClaims(const Binding& binding, const Flow& flow, Timestamp issued_at, Timestamp expires_at);
  ByteView bytes() const { return ByteView(buffer_).first(size_); }

  static constexpr std::size_t fixed_bytes = 1 + 16 + 4 + 3 * 8 + 32 + 1;
  static constexpr std::size_t bytes_max = fixed_bytes + 5 * (1 + claim_text_bytes_max);

 private:
  void put(ByteView bytes);
  template <typename Value>
  void put_value(const Value& value);  // its bytes, of which the compiler knows how many they are
  template <typename Number>
  void put_number(Number number);  // big-endian
  void put_text(std::string_view text);

  std::array<std::uint8_t, bytes_max> buffer_;
  std::size_t size_ = 0;
};

struct DecodedClaims {
  DecodedClaims() {}  // a defaulted one would first clear it all, at a cost that shows
  Claims claims;
  std::size_t size = 0;  // of the claims; the state is the rest
};

// Nothing where these are not claims of this version, or not as EncodedClaims would write them.
std::optional<DecodedClaims> decode_claims(ByteView plaintext);

// Why a state with these claims may not be used for this request at this time; nothing where it may. `now` lies between
// 1970 and latest_stamp.
std::optional<Refusal> refusal_of(const Claims& claims, const Binding& binding, Timestamp now,
                                  std::chrono::milliseconds clock_skew, std::uint32_t rounds_max);

}  // namespace signet::token
