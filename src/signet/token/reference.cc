#include <signet/token/reference.h>

#include <algorithm>

#include <signet/base/digest.h>

namespace signet::token {
namespace {

// The first byte of what the token itself holds: the plaintext, or a reference to it.
constexpr std::uint8_t holds_plaintext = 0;
constexpr std::uint8_t holds_reference = 1;
constexpr std::size_t reference_bytes = 1 + sizeof(StateId) + sizeof(Digest);

Refused refused(Refusal reason, std::string key_id) {
  Refused refused;
  refused.reason = reason;
  refused.key_id = std::move(key_id);
  return refused;
}

}  // namespace

ReferenceCodec::ReferenceCodec(std::shared_ptr<Codec> sealing, std::shared_ptr<StateStore> store,
                               Entropy& entropy, std::size_t inline_bytes_max)
    : sealing_(std::move(sealing)),
      store_(std::move(store)),
      entropy_(entropy),
      inline_bytes_max_(inline_bytes_max) {}

Task<Result<std::string>> ReferenceCodec::seal(Bytes plaintext, Timestamp expires_at, Executor& executor) {
  if (plaintext.size() <= inline_bytes_max_) {
    plaintext.insert(plaintext.begin(), holds_plaintext);
    Result<std::string> token = co_await sealing_->seal(std::move(plaintext), expires_at, executor);
    co_return token;
  }
  Result<std::string> kept = co_await sealing_->seal(std::move(plaintext), expires_at, executor);
  if (!kept) co_return kept;
  // The digest ties the reference to these bytes: whoever writes to the store cannot put another sealed state there.
  const Digest digest = sha256(as_bytes(*kept));
  StateId id;
  entropy_.fill(id);
  Bytes value(kept->begin(), kept->end());
  Result<void> put = co_await store_->put(id, std::move(value), expires_at, executor);
  if (!put) co_return failure(std::move(put).error());

  Bytes reference = {holds_reference};
  reference.reserve(reference_bytes);
  reference.insert(reference.end(), id.begin(), id.end());
  reference.insert(reference.end(), digest.begin(), digest.end());
  Result<std::string> token = co_await sealing_->seal(std::move(reference), expires_at, executor);
  co_return token;
}

Task<Result<Unsealed, Refused>> ReferenceCodec::open(std::string token, Executor& executor) {
  Result<Unsealed, Refused> outer = co_await sealing_->open(std::move(token), executor);
  if (!outer) co_return outer;
  Bytes& held = outer->plaintext;
  if (!held.empty() && held.front() == holds_plaintext) {
    held.erase(held.begin());
    co_return outer;
  }
  if (held.size() != reference_bytes || held.front() != holds_reference) {
    co_return failure(refused(Refusal::malformed, outer->key_id));
  }
  StateId id;
  Digest digest;
  std::copy_n(held.begin() + 1, id.size(), id.begin());
  std::copy_n(held.begin() + 1 + sizeof(StateId), digest.size(), digest.begin());

  Result<std::optional<Bytes>> kept = co_await store_->get(id, executor);
  if (!kept) co_return failure(refused(Refusal::unavailable, outer->key_id));
  if (!kept->has_value()) co_return failure(refused(Refusal::expired, outer->key_id));
  if (sha256(**kept) != digest) co_return failure(refused(Refusal::not_authentic, outer->key_id));
  std::string sealed((*kept)->begin(), (*kept)->end());
  Result<Unsealed, Refused> inner = co_await sealing_->open(std::move(sealed), executor);
  if (!inner) co_return inner;
  // What is redeemed is the token that the client holds.
  outer->plaintext = std::move(inner->plaintext);
  co_return outer;
}

}  // namespace signet::token
