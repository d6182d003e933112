// How a fleet changes its sealing key without refusing a single state.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/result.h>
#include <signet/token/key_ring.h>

namespace signet::keys {

// The steps, in their order. Each must be in force on every instance before the next begins.
enum class RotationStep : std::uint8_t {
  accept,  // a new key that opens and does not seal yet
  seal,    // the new key seals; the old one opens until one lifetime has passed
  retire,  // the old key, which opens nothing any more, is taken out of the ring
};
std::string_view to_string(RotationStep step);

struct RotationTimes {
  // How long until every instance has read a changed ring.
  std::chrono::milliseconds settle = std::chrono::seconds(60);
  // The longest that any state may live. No state outlives its flow, and flows live 24 hours by default.
  std::chrono::milliseconds lifetime = std::chrono::hours(24);
};

// The step that comes next of itself. A key that waits to seal comes first, then retired keys, then a new key.
RotationStep next_step(const std::vector<token::KeyEntry>& entries);

// Takes the step `step` at the time `now`, or says in one sentence why it may not be taken (yet). Each key goes its own
// way, so that a new one can come in while older ones still retire:
//   accept  makes a key named `new_id`, or as free_id says, unless one waits to seal already. Where that one does not
//           say since when it is in the ring, this step dates it to `now` and makes none: nobody knows who has read it.
//   seal    needs a key that waits to seal, and came `times.settle` ago.
//   retire  takes out the keys that open nothing any more, and needs one.
Result<void> rotate(std::vector<token::KeyEntry>& entries, RotationStep step, Timestamp now,
                    const RotationTimes& times, const std::optional<std::string>& new_id, Entropy& entropy);

// From `at` on, the key opens nothing. Refuses the sealing key, keys that are not there, and to put off the end of a key
// that retires already: an end only ever comes nearer. A key that opens nothing at `at` anyway is left as it is.
Result<void> retire_key(std::vector<token::KeyEntry>& entries, std::string_view id, Timestamp now,
                        Timestamp at);

// A key id for a new key: the day and six random hexadecimal digits, so that the name of a key that was taken out does not
// come back with another secret.
std::string free_id(const std::vector<token::KeyEntry>& entries, Timestamp now, Entropy& entropy);

}  // namespace signet::keys
