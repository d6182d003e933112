#include <signet/token/claims_format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include <signet/base/digest.h>
#include <signet/base/secret.h>

namespace signet::token {
namespace {

constexpr std::uint8_t layout_version = 1;
constexpr std::uint8_t digest_follows = 0xff;
static_assert(sizeof(Digest) <= claim_text_bytes_max && claim_text_bytes_max < digest_follows);

std::uint64_t number_of(Timestamp time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

// To the byte order of the claims, and back. Compilers do not see a byte swap in the loop that would do the same.
template <typename Number>
Number big_endian(Number number) {
  if constexpr (std::endian::native == std::endian::big || sizeof(Number) == 1) {
    return number;
  } else if constexpr (sizeof(Number) == 4) {
    return __builtin_bswap32(number);
  } else {
    static_assert(sizeof(Number) == 8);
    return __builtin_bswap64(number);
  }
}

// Takes the fields off the front in the order in which EncodedClaims puts them. Once one is out of range, `ok` stays
// false and what is read is of no use.
class Reader {
 public:
  explicit Reader(ByteView bytes) : left_(bytes) {}

  // The bytes of the fields of fixed size must be there.
  template <std::size_t size>
  std::array<std::uint8_t, size> array() {
    std::array<std::uint8_t, size> bytes;
    std::memcpy(bytes.data(), left_.data(), size);
    left_ = left_.subspan(size);
    return bytes;
  }
  template <typename Number>
  Number number() {
    return big_endian(std::bit_cast<Number>(array<sizeof(Number)>()));
  }
  Timestamp time() {
    const std::uint64_t milliseconds = number<std::uint64_t>();
    require(milliseconds <= number_of(latest_stamp));
    return Timestamp(std::chrono::milliseconds(ok_ ? static_cast<std::int64_t>(milliseconds) : 0));
  }
  ByteView text() {
    const std::uint8_t length = left_.empty() ? 0 : left_.front();
    const std::size_t size = 1 + (length == digest_follows ? sizeof(Digest) : std::size_t{length});
    require(size <= left_.size() && (length <= claim_text_bytes_max || length == digest_follows));
    const ByteView written = left_.first(ok_ ? size : 0);
    left_ = left_.subspan(written.size());
    return written;
  }
  void require(bool condition) { ok_ = ok_ && condition; }

  bool ok() const { return ok_; }
  std::size_t left() const { return left_.size(); }

 private:
  ByteView left_;
  bool ok_ = true;
};

}  // namespace

bool ClaimText::is_digest() const { return written_.front() == digest_follows; }

bool ClaimText::matches(std::string_view text) const {
  if (text.size() > claim_text_bytes_max)
    return is_digest() && equal_in_constant_time(bytes(), sha256(as_bytes(text)));
  return !is_digest() && equal_in_constant_time(bytes(), as_bytes(text));
}

template <typename Value>
void EncodedClaims::put_value(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::memcpy(buffer_.data() + size_, &value, sizeof value);
  size_ += sizeof value;
}

template <typename Number>
void EncodedClaims::put_number(Number number) {
  put_value(big_endian(number));
}

EncodedClaims::EncodedClaims(const Binding& binding, const Flow& flow, Timestamp issued_at,
                             Timestamp expires_at) {
  put_number(layout_version);
  put_value(flow.id);
  put_number(flow.round);
  put_number(number_of(issued_at));
  put_number(number_of(expires_at));
  put_number(number_of(flow.deadline));
  put_value(binding.arguments);
  put_number(static_cast<std::uint8_t>(binding.principal.kind));
  put_text(binding.method);
  put_text(binding.target);
  put_text(binding.audience);
  put_text(binding.principal.id);
  put_text(binding.protocol_version);
}

void EncodedClaims::put(ByteView bytes) {
  if (!bytes.empty()) std::memcpy(buffer_.data() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

void EncodedClaims::put_text(std::string_view text) {
  if (text.size() <= claim_text_bytes_max) {
    put_number(static_cast<std::uint8_t>(text.size()));
    put(as_bytes(text));
  } else {
    put_number(digest_follows);
    put_value(sha256(as_bytes(text)));
  }
}

std::optional<DecodedClaims> decode_claims(ByteView plaintext) {
  if (plaintext.size() < EncodedClaims::fixed_bytes) return std::nullopt;
  Reader reader(plaintext);
  std::optional<DecodedClaims> decoded(std::in_place);
  Claims& claims = decoded->claims;
  reader.require(reader.number<std::uint8_t>() == layout_version);
  claims.flow.id = reader.array<sizeof(FlowId)>();
  claims.flow.round = reader.number<std::uint32_t>();
  reader.require(claims.flow.round >= 1);
  claims.issued_at = reader.time();
  claims.expires_at = reader.time();
  claims.flow.deadline = reader.time();
  claims.arguments = reader.array<sizeof(Digest)>();
  const auto kind = reader.number<std::uint8_t>();
  reader.require(kind <= static_cast<std::uint8_t>(Principal::Kind::authenticated));
  claims.principal_kind = static_cast<Principal::Kind>(kind);
  claims.method = ClaimText(reader.text());
  claims.target = ClaimText(reader.text());
  claims.audience = ClaimText(reader.text());
  claims.principal = ClaimText(reader.text());
  claims.protocol_version = ClaimText(reader.text());
  decoded->size = plaintext.size() - reader.left();
  if (!reader.ok()) decoded.reset();
  return decoded;
}

std::optional<Refusal> refusal_of(const Claims& claims, const Binding& binding, Timestamp now,
                                  std::chrono::milliseconds clock_skew, std::uint32_t rounds_max) {
  if (claims.issued_at - now > clock_skew) return Refusal::issued_in_future;
  if (now >= claims.flow.deadline) return Refusal::flow_expired;
  if (now >= claims.expires_at) return Refusal::expired;
  if (claims.flow.round > rounds_max) return Refusal::rounds_exceeded;
  if (!claims.method.matches(binding.method)) return Refusal::other_method;
  if (!claims.target.matches(binding.target)) return Refusal::other_target;
  if (!equal_in_constant_time(claims.arguments, binding.arguments)) return Refusal::other_arguments;
  if (!claims.audience.matches(binding.audience)) return Refusal::other_audience;
  if (claims.principal_kind != binding.principal.kind) return Refusal::other_principal;
  if (!claims.principal.matches(binding.principal.id)) return Refusal::other_principal;
  if (!claims.protocol_version.matches(binding.protocol_version)) return Refusal::other_version;
  return std::nullopt;
}

}  // namespace signet::token
