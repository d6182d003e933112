#include <signet/token/claims_format.h>

#include <algorithm>

#include <signet/base/digest.h>
#include <signet/base/secret.h>

namespace signet::token {
namespace {

constexpr std::uint8_t layout_version = 1;
constexpr std::uint8_t digest_follows = 0xff;
constexpr std::size_t text_written_bytes_max = 1 + claim_text_bytes_max;
static_assert(sizeof(Digest) <= claim_text_bytes_max && claim_text_bytes_max < digest_follows);

// `text` as it is written among claims.
class WrittenText {
 public:
  explicit WrittenText(std::string_view text) {
    if (text.size() <= claim_text_bytes_max) {
      buffer_[0] = static_cast<std::uint8_t>(text.size());
      std::copy(text.begin(), text.end(), buffer_.begin() + 1);
      size_ = 1 + text.size();
    } else {
      buffer_[0] = digest_follows;
      const Digest digest = sha256(as_bytes(text));
      std::copy(digest.begin(), digest.end(), buffer_.begin() + 1);
      size_ = 1 + digest.size();
    }
  }
  ByteView bytes() const { return ByteView(buffer_).first(size_); }

 private:
  std::array<std::uint8_t, text_written_bytes_max> buffer_;
  std::size_t size_ = 0;
};

std::uint64_t number_of(Timestamp time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

// Takes the fields off the front in the order in which EncodedClaims puts them. Once something is missing or out of
// range, all that follows is empty and `ok` stays false.
class Reader {
 public:
  explicit Reader(ByteView bytes) : left_(bytes) {}

  ByteView take(std::size_t size) {
    ok_ = ok_ && size <= left_.size();
    if (!ok_) return {};
    const ByteView taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  template <std::size_t size>
  std::array<std::uint8_t, size> array() {
    std::array<std::uint8_t, size> bytes{};
    const ByteView taken = take(size);
    std::copy(taken.begin(), taken.end(), bytes.begin());
    return bytes;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t number = 0;
    for (const std::uint8_t byte : take(bytes)) number = number << 8 | byte;
    return number;
  }
  Timestamp time() {
    const std::uint64_t milliseconds = number(8);
    ok_ = ok_ && milliseconds <= number_of(latest_stamp);
    return Timestamp(std::chrono::milliseconds(ok_ ? static_cast<std::int64_t>(milliseconds) : 0));
  }
  ClaimText text() {
    const std::uint8_t length = left_.empty() ? 0 : left_.front();
    ok_ = ok_ && (length <= claim_text_bytes_max || length == digest_follows);
    return ClaimText(take(1 + (length == digest_follows ? sizeof(Digest) : length)));
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
  return equal_in_constant_time(written_, WrittenText(text).bytes());
}

EncodedClaims::EncodedClaims(const Binding& binding, const Flow& flow, Timestamp issued_at,
                             Timestamp expires_at) {
  put_number(layout_version, 1);
  put(flow.id);
  put_number(flow.round, 4);
  put_number(number_of(issued_at), 8);
  put_number(number_of(expires_at), 8);
  put_number(number_of(flow.deadline), 8);
  put(binding.arguments);
  put_number(static_cast<std::uint8_t>(binding.principal.kind), 1);
  put_text(binding.method);
  put_text(binding.target);
  put_text(binding.audience);
  put_text(binding.principal.id);
  put_text(binding.protocol_version);
}

void EncodedClaims::put(ByteView bytes) {
  std::copy(bytes.begin(), bytes.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += bytes.size();
}

void EncodedClaims::put_number(std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = bytes; i > 0; --i) buffer_[size_++] = static_cast<std::uint8_t>(number >> 8 * (i - 1));
}

void EncodedClaims::put_text(std::string_view text) { put(WrittenText(text).bytes()); }

std::optional<DecodedClaims> decode_claims(ByteView plaintext) {
  Reader reader(plaintext);
  DecodedClaims decoded;
  Claims& claims = decoded.claims;
  reader.require(reader.number(1) == layout_version);
  claims.flow.id = reader.array<sizeof(FlowId)>();
  claims.flow.round = static_cast<std::uint32_t>(reader.number(4));
  reader.require(claims.flow.round >= 1);
  claims.issued_at = reader.time();
  claims.expires_at = reader.time();
  claims.flow.deadline = reader.time();
  claims.arguments = reader.array<sizeof(Digest)>();
  const std::uint64_t kind = reader.number(1);
  reader.require(kind <= static_cast<std::uint64_t>(Principal::Kind::authenticated));
  claims.principal_kind = static_cast<Principal::Kind>(kind);
  claims.method = reader.text();
  claims.target = reader.text();
  claims.audience = reader.text();
  claims.principal = reader.text();
  claims.protocol_version = reader.text();
  if (!reader.ok()) return std::nullopt;
  decoded.size = plaintext.size() - reader.left();
  return decoded;
}

std::optional<Refusal> refusal_of(const Claims& claims, const Binding& binding, Timestamp now,
                                  std::chrono::milliseconds clock_skew, std::uint32_t rounds_max) {
  if (claims.issued_at > now + clock_skew) return Refusal::issued_in_future;
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
