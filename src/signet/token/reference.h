// State that stays on the server: the client holds a sealed reference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/token/codec.h>

namespace signet::token {

using StateId = std::array<std::uint8_t, 24>;

// Keeps bytes under random names until they expire. The bytes are sealed: a store can lose them, but neither read nor
// change them unnoticed. Failures (the store is away, is full, the value is too large) are errors.
// Threads and executor as of RedemptionStore.
class StateStore {
 public:
  StateStore() = default;
  StateStore(const StateStore&) = delete;
  StateStore& operator=(const StateStore&) = delete;
  virtual ~StateStore() = default;

  // Keeps `value` at least until `expires_at` unless the store is full; may forget it afterwards.
  virtual Task<Result<void>> put(StateId id, Bytes value, Timestamp expires_at, Executor& executor) = 0;
  // Nothing where it is not there (any more).
  virtual Task<Result<std::optional<Bytes>>> get(StateId id, Executor& executor) = 0;
  // Forgets it; no error where it is not there.
  virtual Task<Result<void>> erase(StateId id, Executor& executor) = 0;
};

// Seals with `sealing`, keeps the sealed bytes in the store, and hands out a sealed reference that holds their name
// and digest. Plaintexts of at most `inline_bytes_max` travel in the token itself. Borrows the entropy.
class ReferenceCodec final : public Codec {
 public:
  ReferenceCodec(std::shared_ptr<Codec> sealing, std::shared_ptr<StateStore> store, Entropy& entropy,
                 std::size_t inline_bytes_max = 0);

  Task<Result<std::string>> seal(Bytes plaintext, Timestamp expires_at, Executor& executor) override;
  // A reference whose state the store no longer has is refused as expired.
  Task<Result<Unsealed, Refused>> open(std::string token, Executor& executor) override;
  bool recognizes(std::string_view token) const override { return sealing_->recognizes(token); }

 private:
  std::shared_ptr<Codec> sealing_;
  std::shared_ptr<StateStore> store_;
  Entropy& entropy_;
  std::size_t inline_bytes_max_;
};

}  // namespace signet::token
