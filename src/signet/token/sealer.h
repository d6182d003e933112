// The sealed request state, as a server uses it: stamp and seal, open and verify.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/token/claims.h>

namespace signet::token {

// Lives of states and their sizes. Times are per server and may be overridden per call.
struct Policy {
  std::chrono::milliseconds lifetime = std::chrono::seconds(600);  // of one round's state
  std::chrono::milliseconds anonymous_lifetime =
      std::chrono::seconds(300);                                     // where the principal is anonymous
  std::chrono::milliseconds flow_lifetime = std::chrono::hours(24);  // first question to last answer
  std::chrono::milliseconds clock_skew = std::chrono::seconds(60);
  std::uint32_t rounds_max = 16;
  std::size_t sealed_bytes_max = std::size_t{16} << 10;    // of a token we emit
  std::size_t accepted_bytes_max = std::size_t{64} << 10;  // of a token we read
};

class Codec;          // token/codec.h: bytes to token and back; the native one holds the key ring
class ForeignFormat;  // token/foreign.h: tokens of another system
struct Unsealed;      // token/codec.h
class Sealer;

// What came out of a state. Only Sealer::open makes one.
struct Opened {
  Bytes state;
  Flow flow;
  TokenId token_id{};  // unique per seal; what redemption is keyed by, whatever the token's spelling
  Timestamp issued_at{};
  Timestamp expires_at{};
  std::string key_id;
  std::string format;  // empty for our own; else the other system's name, and `state` is what it had sealed

 private:
  friend Sealer;
  Opened() = default;
};

// How a fleet moves from another system to this one. Tokens with the native prefix are opened natively; all others by
// `format` alone, which verifies its own claims (a new flow begins with such a state). `seal` makes new states in
// that format too, while instances of the other system still serve.
struct Migration {
  std::shared_ptr<const ForeignFormat> format;  // null: only our own tokens are accepted
  bool seal = false;
};

// Stamps every claim into a state and verifies every claim of one that comes back, over any codec.
// Thread-safe. Borrows the clock and the entropy; they outlive it.
class Sealer {
 public:
  Sealer(std::shared_ptr<Codec> codec, Policy policy, const Clock& clock, Entropy& entropy,
         Migration migration = Migration());

  const Policy& policy() const { return policy_; }
  // Whether `Binding::params_json` is read: callers leave it empty otherwise.
  bool reads_params() const { return migration_.format != nullptr; }
  // Whether new states are made in the other system's format, whose handlers must be able to read them.
  bool seals_foreign() const { return migration_.seal; }

  // A new flow: random id, round 1, deadline from the policy (or sooner, from `flow_lifetime`).
  Flow begin_flow(std::optional<std::chrono::milliseconds> flow_lifetime = std::nullopt);

  // The token for `state`, or one sentence for the operator why there is none: it is larger than sealed_bytes_max, the
  // flow is past its deadline or its last round, the codec failed. It lives for `lifetime`, else as the policy says;
  // never beyond the flow's deadline, and where the principal is anonymous never beyond anonymous_lifetime.
  // The executor is the one on which the task is awaited, and outlives it.
  Task<Result<std::string>> seal(Binding binding, Flow flow, Bytes state, Executor& executor,
                                 std::optional<std::chrono::milliseconds> lifetime = std::nullopt);

  // The state, if `token` was sealed for this binding and is still good; otherwise the reason, for the log only.
  Task<Result<Opened, Refused>> open(std::string token, Binding binding, Executor& executor);

  // The same without waiting, where the codec never waits (the native one over a ring that is at hand). Neither
  // allocates more than its result. Precondition: immediate().
  bool immediate() const;
  Result<std::string> seal_now(const Binding& binding, const Flow& flow, ByteView state,
                               std::optional<std::chrono::milliseconds> lifetime = std::nullopt);
  Result<Opened, Refused> open_now(std::string_view token, const Binding& binding);

 private:
  Timestamp now() const;
  Timestamp expiry(const Binding& binding, const Flow& flow, Timestamp now,
                   std::optional<std::chrono::milliseconds> lifetime) const;
  Result<void> may_seal(const Flow& flow, Timestamp now) const;
  Result<std::string> within_size(Result<std::string> token) const;
  bool is_foreign(std::string_view token) const;
  Result<Opened, Refused> open_foreign(std::string_view token, const Binding& binding);
  // Verifies the claims of what a codec found authentic.
  Result<Opened, Refused> admit(Unsealed&& unsealed, const Binding& binding) const;

  std::shared_ptr<Codec> codec_;
  Policy policy_;
  const Clock& clock_;
  Entropy& entropy_;
  Migration migration_;
};

}  // namespace signet::token
