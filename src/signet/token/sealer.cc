#include <signet/token/sealer.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include <signet/token/claims_format.h>
#include <signet/token/codec.h>
#include <signet/token/foreign.h>

namespace signet::token {
namespace {

using std::chrono::milliseconds;

Refused refused(Refusal reason, std::string key_id = {}) {
  Refused refused;
  refused.reason = reason;
  refused.key_id = std::move(key_id);
  return refused;
}

}  // namespace

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::malformed:
      return "malformed";
    case Refusal::too_large:
      return "too_large";
    case Refusal::unknown_key:
      return "unknown_key";
    case Refusal::key_retired:
      return "key_retired";
    case Refusal::not_authentic:
      return "not_authentic";
    case Refusal::issued_in_future:
      return "issued_in_future";
    case Refusal::expired:
      return "expired";
    case Refusal::flow_expired:
      return "flow_expired";
    case Refusal::rounds_exceeded:
      return "rounds_exceeded";
    case Refusal::other_method:
      return "other_method";
    case Refusal::other_target:
      return "other_target";
    case Refusal::other_arguments:
      return "other_arguments";
    case Refusal::other_audience:
      return "other_audience";
    case Refusal::other_principal:
      return "other_principal";
    case Refusal::other_version:
      return "other_version";
    case Refusal::already_used:
      return "already_used";
    case Refusal::unavailable:
      return "unavailable";
  }
  return "malformed";
}

Sealer::Sealer(std::shared_ptr<Codec> codec, Policy policy, const Clock& clock, Entropy& entropy,
               Migration migration)
    : codec_(std::move(codec)),
      policy_(policy),
      clock_(clock),
      entropy_(entropy),
      migration_(std::move(migration)) {
  if (migration_.format == nullptr) migration_.seal = false;
}

// Whatever the clock says, what is stamped can be read back and differences of stamps do not overflow.
Timestamp Sealer::now() const { return as_stamp(clock_.now()); }

Flow Sealer::begin_flow(std::optional<milliseconds> flow_lifetime) {
  Flow flow;
  entropy_.fill(flow.id);
  flow.deadline =
      later(now(), std::min(flow_lifetime.value_or(policy_.flow_lifetime), policy_.flow_lifetime));
  return flow;
}

Timestamp Sealer::expiry(const Binding& binding, const Flow& flow, Timestamp now,
                         std::optional<milliseconds> lifetime) const {
  // Whoever holds the state of an anonymous caller may use it, so no tool may let it live longer.
  const bool anonymous = binding.principal.kind == Principal::Kind::anonymous;
  milliseconds life = lifetime.value_or(policy_.lifetime);
  if (anonymous) life = std::min(life, policy_.anonymous_lifetime);
  return std::min(later(now, life), flow.deadline);
}

Result<void> Sealer::may_seal(const Flow& flow, Timestamp now) const {
  if (flow.round < 1 || flow.round > policy_.rounds_max) {
    return failure("the flow has had its " + std::to_string(policy_.rounds_max) + " rounds");
  }
  if (now >= flow.deadline) return failure("the flow is past its deadline");
  return {};
}

Result<std::string> Sealer::within_size(Result<std::string> token) const {
  if (!token.ok() || token->size() <= policy_.sealed_bytes_max) return token;
  return failure("the sealed state has " + std::to_string(token->size()) + " bytes, the limit is " +
                 std::to_string(policy_.sealed_bytes_max));
}

Task<Result<std::string>> Sealer::seal(Binding binding, Flow flow, Bytes state, Executor& executor,
                                       std::optional<milliseconds> lifetime) {
  if (immediate() || migration_.seal) co_return seal_now(binding, flow, state, lifetime);
  const Timestamp now = this->now();
  Result<void> may = may_seal(flow, now);
  if (!may) co_return failure(std::move(may).error());
  const Timestamp expires_at = expiry(binding, flow, now, lifetime);
  const EncodedClaims claims(binding, flow, now, expires_at);
  const ByteView head = claims.bytes();
  state.insert(state.begin(), head.begin(), head.end());
  Result<std::string> token = co_await codec_->seal(std::move(state), expires_at, executor);
  co_return within_size(std::move(token));
}

Task<Result<Opened, Refused>> Sealer::open(std::string token, Binding binding, Executor& executor) {
  if (immediate() || is_foreign(token)) co_return open_now(token, binding);
  if (token.size() > policy_.accepted_bytes_max) co_return failure(refused(Refusal::too_large));
  Result<Unsealed, Refused> unsealed = co_await codec_->open(std::move(token), executor);
  if (!unsealed) co_return failure(std::move(unsealed).error());
  co_return admit(std::move(*unsealed), binding);
}

bool Sealer::immediate() const { return codec_->immediate() != nullptr; }

Result<std::string> Sealer::seal_now(const Binding& binding, const Flow& flow, ByteView state,
                                     std::optional<milliseconds> lifetime) {
  const Timestamp now = this->now();
  Result<void> may = may_seal(flow, now);
  if (!may) return failure(std::move(may).error());
  if (migration_.seal) return within_size(migration_.format->seal(state, binding, now, entropy_));
  ImmediateCodec* codec = codec_->immediate();
  assert(codec != nullptr);
  const EncodedClaims claims(binding, flow, now, expiry(binding, flow, now, lifetime));
  return within_size(codec->seal_now(claims.bytes(), state));
}

Result<Opened, Refused> Sealer::open_now(std::string_view token, const Binding& binding) {
  if (token.size() > policy_.accepted_bytes_max) return failure(refused(Refusal::too_large));
  if (is_foreign(token)) return open_foreign(token, binding);
  ImmediateCodec* codec = codec_->immediate();
  assert(codec != nullptr);
  Result<Unsealed, Refused> unsealed = codec->open_now(token);
  if (!unsealed) return failure(std::move(unsealed).error());
  return admit(std::move(*unsealed), binding);
}

bool Sealer::is_foreign(std::string_view token) const {
  return migration_.format != nullptr && !codec_->recognizes(token);
}

Result<Opened, Refused> Sealer::open_foreign(std::string_view token, const Binding& binding) {
  const Timestamp now = this->now();
  Result<ForeignOpened, ForeignRefused> foreign = migration_.format->open(token, binding, now);
  if (!foreign) return failure(refused(foreign.error().reason, std::move(foreign.error().key_id)));
  Opened opened;
  opened.state = std::move(foreign->state);
  opened.flow = begin_flow();
  opened.token_id = foreign->token_id;
  opened.issued_at = as_stamp(foreign->issued_at.value_or(now));
  // One that never expires may be shown again at any time, so that it was redeemed must be remembered as long.
  opened.expires_at = as_stamp(foreign->expires_at.value_or(latest_stamp));
  opened.key_id = std::move(foreign->key_id);
  opened.format = migration_.format->name();
  return opened;
}

Result<Opened, Refused> Sealer::admit(Unsealed&& unsealed, const Binding& binding) const {
  const std::optional<DecodedClaims> decoded = decode_claims(unsealed.plaintext);
  if (!decoded) return failure(refused(Refusal::malformed, std::move(unsealed.key_id)));
  const Claims& claims = decoded->claims;
  const Timestamp now = this->now();
  const std::optional<Refusal> refusal =
      refusal_of(claims, binding, now, policy_.clock_skew, policy_.rounds_max);
  if (refusal) {
    Refused why = refused(*refusal, std::move(unsealed.key_id));
    why.age = now - claims.issued_at;
    return failure(std::move(why));
  }
  Opened opened;
  opened.flow = claims.flow;
  opened.token_id = unsealed.token_id;
  opened.issued_at = claims.issued_at;
  opened.expires_at = claims.expires_at;
  opened.key_id = std::move(unsealed.key_id);
  opened.state = std::move(unsealed.plaintext);
  opened.state.erase(opened.state.begin(), opened.state.begin() + static_cast<std::ptrdiff_t>(decoded->size));
  return opened;
}

}  // namespace signet::token
