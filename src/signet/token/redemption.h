// How often a state may be redeemed, and who keeps count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <signet/base/clock.h>
#include <signet/base/digest.h>
#include <signet/base/executor.h>
#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/token/claims.h>

namespace signet::token {

enum class Redemption : std::uint8_t {
  many,             // as often as it is shown, until it expires: a lost reply can be repeated
  once,             // at most once: claimed before the handler runs
  once_with_reply,  // once, and the same retry with the same answers gets the same reply until the state expires
};

// What a claim came to.
enum class ClaimOutcome : std::uint8_t {
  won,       // the caller is the first and must finish or abandon
  lost,      // someone claimed it before, with other answers, or without keeping replies
  pending,   // the same retry is being served right now: ask `reply` again
  finished,  // the same retry was served: `reply` has what was answered
};

struct Claim {
  TokenId token{};
  Digest
      answers{};  // of the retry: who asks for what, with which answers; only the same may fetch a kept reply
  Timestamp expires_at{};  // of the state; nothing needs to be kept longer
  bool keep_reply = false;
};

// Remembers which states were redeemed. Every operation is atomic across all processes that share the store.
// Failures (the store is away, is full, the reply is too large) are errors, and the caller refuses the request:
// it fails closed.
// Threads: any. A blocking store does its work on a thread of its own and the task goes on, through `post`, on the
// executor that is named; that is the executor on which the task is awaited, and it outlives the task. Dropping the
// task is safe at any time and leaves open whether the operation took place; a claim that did stands until it
// expires.
class RedemptionStore {
 public:
  RedemptionStore() = default;
  RedemptionStore(const RedemptionStore&) = delete;
  RedemptionStore& operator=(const RedemptionStore&) = delete;
  virtual ~RedemptionStore() = default;

  virtual Task<Result<ClaimOutcome>> claim(Claim claim, Executor& executor) = 0;
  // Keeps the reply of a claim that was won (`keep_reply`), or marks it done. The reply comes sealed.
  virtual Task<Result<void>> finish(Claim claim, std::string reply, Executor& executor) = 0;
  // Gives a won claim back because nothing happened (the handler never ran).
  virtual Task<Result<void>> abandon(Claim claim, Executor& executor) = 0;
  // The kept reply; nothing while the first is still being served, or where none is kept for these answers.
  virtual Task<Result<std::optional<std::string>>> reply(Claim claim, Executor& executor) = 0;

  // Whether what is claimed here is also known to other processes, and to this one after a restart. Any thread, never blocks.
  virtual bool outlives_process() const { return true; }
};

}  // namespace signet::token
