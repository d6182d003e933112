#include <signet/token/codec.h>

#include <algorithm>

#include <signet/token/aead.h>
#include <signet/token/base64url.h>

namespace signet::token {
namespace {

constexpr std::string_view native_prefix = "sg1.";
// The nonce fills whole groups of characters, so that it can be decoded apart from what follows.
constexpr std::size_t nonce_characters = base64url_size(xaes_nonce_bytes);
static_assert(base64url_decoded_size(nonce_characters) == xaes_nonce_bytes && nonce_characters % 4 == 0);

Refused refused(Refusal reason, std::string_view key_id = {}) {
  Refused refused;
  refused.reason = reason;
  refused.key_id = key_id;
  return refused;
}

// A native token taken apart at its dots; nothing is decoded.
struct NativeParts {
  std::string_view header;  // `sg1.<key id>`: the associated data
  std::string_view key_id;
  std::string_view body;
};

std::optional<NativeParts> split(std::string_view token) {
  if (!token.starts_with(native_prefix)) return std::nullopt;
  const std::size_t dot =
      token.substr(0, native_prefix.size() + key_id_bytes_max + 1).find('.', native_prefix.size());
  if (dot == std::string_view::npos) return std::nullopt;
  NativeParts parts;
  parts.header = token.substr(0, dot);
  parts.key_id = token.substr(native_prefix.size(), dot - native_prefix.size());
  parts.body = token.substr(dot + 1);
  if (!is_key_id(parts.key_id)) return std::nullopt;
  return parts;
}

// Whether a ring might open it: what is not even written as a token need not wait for one.
bool has_form(std::string_view token) {
  const std::optional<NativeParts> parts = split(token);
  if (!parts) return false;
  const std::optional<Bytes> raw = decode_base64url(parts->body);
  return raw && raw->size() >= xaes_nonce_bytes + aead_tag_bytes;
}

std::string seal_with(const RingKey& key, ByteView first, ByteView second, Entropy& entropy) {
  const std::size_t text_bytes = first.size() + second.size();
  const std::size_t raw_bytes = xaes_nonce_bytes + text_bytes + aead_tag_bytes;
  const std::size_t header_characters = native_prefix.size() + key.id().size();
  std::string token(header_characters + 1 + base64url_size(raw_bytes), '.');
  native_prefix.copy(token.data(), native_prefix.size());
  key.id().copy(token.data() + native_prefix.size(), key.id().size());

  // The raw bytes are made at the end of the token's own memory and encoded from there to the front.
  const std::span<std::uint8_t> raw(reinterpret_cast<std::uint8_t*>(token.data()) + token.size() - raw_bytes,
                                    raw_bytes);
  const auto nonce = raw.first<xaes_nonce_bytes>();
  const std::span<std::uint8_t> text = raw.subspan(xaes_nonce_bytes, text_bytes);
  const auto tag = raw.last<aead_tag_bytes>();
  entropy.fill(nonce);
  std::copy(first.begin(), first.end(), text.begin());
  std::copy(second.begin(), second.end(), text.begin() + static_cast<std::ptrdiff_t>(first.size()));
  key.request_state_key().seal(nonce, as_bytes(std::string_view(token).substr(0, header_characters)), text,
                               tag);
  encode_base64url(raw, token.data() + header_characters + 1);
  return token;
}

Result<Unsealed, Refused> open_with(const KeyRing& ring, std::string_view token, const Clock& clock) {
  const std::optional<NativeParts> parts = split(token);
  if (!parts) return failure(refused(Refusal::malformed));
  const RingKey* key = ring.find(parts->key_id);
  if (key == nullptr) return failure(refused(Refusal::unknown_key, parts->key_id));
  // Reading the clock costs as much as a hash: most keys have no date.
  if (key->retires_at() && !key->opens_at(clock.now()))
    return failure(refused(Refusal::key_retired, parts->key_id));

  if (parts->body.size() < nonce_characters) return failure(refused(Refusal::malformed, parts->key_id));
  const std::string_view sealed = parts->body.substr(nonce_characters);
  const std::optional<std::size_t> sealed_bytes = base64url_decoded_size(sealed.size());
  if (!sealed_bytes || *sealed_bytes < aead_tag_bytes) {
    return failure(refused(Refusal::malformed, parts->key_id));
  }
  Unsealed unsealed;
  Bytes& text = unsealed.plaintext;
  text.resize(*sealed_bytes);
  if (!decode_base64url(parts->body.substr(0, nonce_characters), unsealed.token_id) ||
      !decode_base64url(sealed, text)) {
    return failure(refused(Refusal::malformed, parts->key_id));
  }
  const std::span<std::uint8_t> view(text);
  const std::size_t text_bytes = view.size() - aead_tag_bytes;
  if (!key->request_state_key().open(unsealed.token_id, as_bytes(parts->header), view.first(text_bytes),
                                     view.last<aead_tag_bytes>())) {
    return failure(refused(Refusal::not_authentic, parts->key_id));
  }
  unsealed.key_id = parts->key_id;
  text.resize(text_bytes);
  return unsealed;
}

}  // namespace

NativeCodec::NativeCodec(std::shared_ptr<RingSource> rings, const Clock& clock, Entropy& entropy)
    : rings_(std::move(rings)), clock_(clock), entropy_(entropy) {}

Result<std::string> NativeCodec::seal_now(ByteView first, ByteView second) {
  const std::shared_ptr<const KeyRing> ring = rings_->current();
  return seal_with(ring->sealing(), first, second, entropy_);
}

Result<Unsealed, Refused> NativeCodec::open_now(std::string_view token) {
  const std::shared_ptr<const KeyRing> ring = rings_->current();
  return open_with(*ring, token, clock_);
}

Task<Result<std::string>> NativeCodec::seal(Bytes plaintext, Timestamp, Executor& executor) {
  Result<std::shared_ptr<const KeyRing>> ring = co_await rings_->ring(executor);
  if (!ring) co_return failure(std::move(ring).error());
  co_return seal_with((*ring)->sealing(), plaintext, ByteView(), entropy_);
}

Task<Result<Unsealed, Refused>> NativeCodec::open(std::string token, Executor& executor) {
  if (!has_form(token)) co_return failure(refused(Refusal::malformed, native_key_id(token).value_or("")));
  Result<std::shared_ptr<const KeyRing>> ring = co_await rings_->ring(executor);
  if (!ring) co_return failure(refused(Refusal::unavailable, native_key_id(token).value_or("")));
  co_return open_with(**ring, token, clock_);
}

bool NativeCodec::recognizes(std::string_view token) const { return token.starts_with(native_prefix); }

std::optional<std::string_view> native_key_id(std::string_view token) {
  const std::optional<NativeParts> parts = split(token);
  if (!parts) return std::nullopt;
  return parts->key_id;
}

}  // namespace signet::token
