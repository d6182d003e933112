// What every engine offers, and what it keeps to.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include <signet/token/redemption.h>
#include <signet/token/reference.h>

namespace signet::store {

// Both stores of one engine; they share its connection and its thread.
struct Stores {
  std::shared_ptr<token::RedemptionStore> redemption;
  std::shared_ptr<token::StateStore> states;
};

struct Limits {
  // Of one kept reply. A longer one is not kept: `finish` fails, and a retry of the request is refused.
  std::size_t reply_bytes_max = std::size_t{1} << 20;
  // Of one kept state; `put` refuses longer ones.
  std::size_t state_bytes_max = std::size_t{1} << 20;
  // How long a claim or a state is kept after it expired, so that a request that was verified just before is still
  // counted, and instances whose clocks differ agree.
  std::chrono::milliseconds grace = std::chrono::minutes(2);
};

}  // namespace signet::store
