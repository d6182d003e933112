// From bytes to a token and back, whatever protects them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/token/claims.h>
#include <signet/token/key_ring.h>

namespace signet::token {

// What a codec found in a token that is authentic.
struct Unsealed {
  Bytes plaintext;
  TokenId token_id{};  // unique per seal, from the decoded token, never from its spelling
  std::string key_id;
};

// A codec's quick way, for those that never wait.
class ImmediateCodec {
 public:
  // The token of the two parts, one after the other.
  virtual Result<std::string> seal_now(ByteView first, ByteView second) = 0;
  virtual Result<Unsealed, Refused> open_now(std::string_view token) = 0;

 protected:
  ~ImmediateCodec() = default;
};

// Turns bytes into a token that nobody else can make, read or change, and back. It knows no claims: the Sealer stamps
// and verifies them, for every codec alike. Write one to seal with a key management service or a format of your own.
// A codec must be authenticated encryption: what `open` returns is believed. Thread-safe.
// The executor is the one on which the task is awaited, and outlives it.
class Codec {
 public:
  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  virtual ~Codec() = default;

  // The token, or one sentence for the operator why there is none. It need not open after `expires_at`.
  virtual Task<Result<std::string>> seal(Bytes plaintext, Timestamp expires_at, Executor& executor) = 0;
  // The reasons a codec gives are malformed, unknown_key, key_retired, not_authentic, expired and unavailable.
  virtual Task<Result<Unsealed, Refused>> open(std::string token, Executor& executor) = 0;
  // Whether the token could be one of this codec: the others go to the format a migration names.
  virtual bool recognizes(std::string_view token) const = 0;
  // Not null where the codec never waits. Lives as long as the codec.
  virtual ImmediateCodec* immediate() { return nullptr; }
};

// `sg1.<key id>.<base64url(nonce ‖ ciphertext ‖ tag)>` by XAES-256-GCM: doc/token_format.md. One spelling per token.
// The clock tells which keys have retired. Borrows clock and entropy; they outlive it.
class NativeCodec final : public Codec, private ImmediateCodec {
 public:
  NativeCodec(std::shared_ptr<RingSource> rings, const Clock& clock, Entropy& entropy);

  Task<Result<std::string>> seal(Bytes plaintext, Timestamp expires_at, Executor& executor) override;
  Task<Result<Unsealed, Refused>> open(std::string token, Executor& executor) override;
  bool recognizes(std::string_view token) const override;
  ImmediateCodec* immediate() override { return rings_->immediate() ? this : nullptr; }

 private:
  Result<std::string> seal_now(ByteView first, ByteView second) override;
  Result<Unsealed, Refused> open_now(std::string_view token) override;

  std::shared_ptr<RingSource> rings_;
  const Clock& clock_;
  Entropy& entropy_;
};

// The key id that a native token names, or nothing where it is no native token. Says nothing of its authenticity.
std::optional<std::string_view> native_key_id(std::string_view token);

}  // namespace signet::token
