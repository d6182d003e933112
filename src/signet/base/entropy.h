// Randomness, as an argument.
#pragma once

#include <cstdint>
#include <span>

namespace signet {

// A source of bytes that nobody can predict. `fill` is thread-safe, and never returns bytes that it or a
// copy of this process (after fork) has returned before.
class Entropy {
 public:
  Entropy() = default;
  Entropy(const Entropy&) = delete;
  Entropy& operator=(const Entropy&) = delete;
  virtual ~Entropy() = default;
  virtual void fill(std::span<std::uint8_t> out) = 0;
};

// The process's source: a per-thread pool keyed from the operating system's, erased as it is used, thrown
// away after fork. Aborts where the operating system has no randomness to give: nothing safe can follow.
Entropy& system_entropy();

}  // namespace signet
