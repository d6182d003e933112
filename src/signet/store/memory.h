// Redemption, states and tasks within one process.
#pragma once

#include <cstddef>
#include <memory>

#include <signet/base/clock.h>
#include <signet/store/stores.h>

namespace signet::store {

struct MemoryOptions {
  Limits limits;
  std::size_t claims_max = 1'000'000;                      // at one time
  std::size_t replies_bytes_max = std::size_t{256} << 20;  // all kept replies together
  std::size_t states_max = 1'000'000;                      // at one time
  std::size_t states_bytes_max = std::size_t{256} << 20;   // all kept states together
  std::size_t tasks_bytes_max = std::size_t{256} << 20;    // all kept tasks together
};

// In the memory of this process: gone when it ends, and unknown to other instances. Full means refused: claims,
// states and tasks beyond a limit fail, and nothing that still counts is forgotten for a newcomer. Thread-safe; never blocks
// for long. Borrows the clock.
Stores memory_stores(const Clock& clock, MemoryOptions options = MemoryOptions());

}  // namespace signet::store
