// What every engine offers, and what it keeps to.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include <signet/token/redemption.h>
#include <signet/token/reference.h>
#include <signet/token/task_store.h>

namespace signet::store {

// The stores of one engine; they share its connection and its thread.
struct Stores {
  std::shared_ptr<token::RedemptionStore> redemption;
  std::shared_ptr<token::StateStore> states;
  std::shared_ptr<token::TaskStore> tasks;
};

struct Limits {
  // Of one kept reply, which comes sealed and is a third longer by that. A longer one is not kept: `finish` fails, and a retry of the request is refused.
  std::size_t reply_bytes_max = std::size_t{1} << 20;
  // Of one kept state; `put` refuses longer ones.
  std::size_t state_bytes_max = std::size_t{1} << 20;
  // Of one kept task: its arguments and answers, or its result, sealed. A call whose arguments are longer does not become a
  // task, and a task whose result is longer fails.
  std::size_t task_bytes_max = std::size_t{8} << 20;
  // How long a claim or a state (not a task) is kept after it expired, so that a request that was verified just before is still
  // counted, and instances whose clocks differ agree.
  std::chrono::milliseconds grace = std::chrono::minutes(2);
};

}  // namespace signet::store
