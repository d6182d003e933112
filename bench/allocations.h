// Counts calls of operator new.
#pragma once

#include <cstddef>

namespace signet::bench {

// How often this thread has allocated so far.
std::size_t allocations();

}  // namespace signet::bench
