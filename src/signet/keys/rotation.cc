#include <signet/keys/rotation.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include <signet/base/bytes.h>
#include <signet/keys/time_text.h>
#include <signet/token/claims_format.h>

namespace signet::keys {
namespace {

using token::KeyEntry;
using token::KeyStage;

std::vector<KeyEntry>::const_iterator first_at(const std::vector<KeyEntry>& entries, KeyStage stage) {
  return std::find_if(entries.begin(), entries.end(),
                      [stage](const KeyEntry& entry) { return entry.stage == stage; });
}
std::vector<KeyEntry>::iterator first_at(std::vector<KeyEntry>& entries, KeyStage stage) {
  return std::find_if(entries.begin(), entries.end(),
                      [stage](const KeyEntry& entry) { return entry.stage == stage; });
}

Result<void> accept_new(std::vector<KeyEntry>& entries, Timestamp now,
                        const std::optional<std::string>& new_id, Entropy& entropy) {
  const auto waiting = first_at(entries, KeyStage::accept);
  if (waiting == entries.end()) {
    entries.push_back(token::generate_key(new_id ? *new_id : free_id(entries, now, entropy), KeyStage::accept,
                                          now, entropy));
    return {};
  }
  if (waiting->since || new_id) {
    return failure("key " + waiting->id +
                   " is in the ring already and waits to seal; no other comes in before it does");
  }
  waiting->since = now;
  return {};
}

Result<void> seal_with_new(std::vector<KeyEntry>& entries, Timestamp now, const RotationTimes& times) {
  const auto fresh = first_at(entries, KeyStage::accept);
  const auto old = first_at(entries, KeyStage::seal);
  if (fresh == entries.end()) return failure("no key of the ring waits to seal: the next step is accept");
  if (old == entries.end()) return failure("no key of the ring seals");
  if (!fresh->since) {
    return failure("the ring does not say since when it has key " + fresh->id +
                   ", so instances may not have read it: step accept counts from now on");
  }
  if (now < token::later(*fresh->since, times.settle)) {
    return failure("key " + fresh->id + " is new: instances may not have read it before " +
                   to_text(token::later(*fresh->since, times.settle)));
  }
  fresh->stage = KeyStage::seal;
  fresh->since = now;
  old->stage = KeyStage::retire;
  old->since = now;
  // Instances that have not read this yet still seal with the old key for a while.
  old->retires_at = token::later(token::later(now, times.settle), times.lifetime);
  return {};
}

Result<void> drop_retired(std::vector<KeyEntry>& entries, Timestamp now) {
  const auto first =
      std::min_element(entries.begin(), entries.end(), [](const KeyEntry& a, const KeyEntry& b) {
        return a.retires_at.value_or(Timestamp::max()) < b.retires_at.value_or(Timestamp::max());
      });
  if (first == entries.end() || !first->retires_at) return failure("the ring has no retired key");
  if (now < *first->retires_at) {
    return failure("key " + first->id + " still opens states, until " + to_text(*first->retires_at) +
                   "; a new key may come in before that (step accept)");
  }
  std::erase_if(entries,
                [now](const KeyEntry& entry) { return entry.retires_at && now >= *entry.retires_at; });
  return {};
}

}  // namespace

std::string_view to_string(RotationStep step) {
  switch (step) {
    case RotationStep::accept:
      return "accept";
    case RotationStep::seal:
      return "seal";
    case RotationStep::retire:
      return "retire";
  }
  return "accept";
}

RotationStep next_step(const std::vector<KeyEntry>& entries) {
  const auto waiting = first_at(entries, KeyStage::accept);
  if (waiting != entries.end()) return waiting->since ? RotationStep::seal : RotationStep::accept;
  if (first_at(entries, KeyStage::retire) != entries.end()) return RotationStep::retire;
  return RotationStep::accept;
}

Result<void> rotate(std::vector<KeyEntry>& entries, RotationStep step, Timestamp now,
                    const RotationTimes& times, const std::optional<std::string>& new_id, Entropy& entropy) {
  switch (step) {
    case RotationStep::accept:
      return accept_new(entries, now, new_id, entropy);
    case RotationStep::seal:
      return seal_with_new(entries, now, times);
    case RotationStep::retire:
      return drop_retired(entries, now);
  }
  return failure("no such step");
}

Result<void> retire_key(std::vector<KeyEntry>& entries, std::string_view id, Timestamp now, Timestamp at) {
  const auto key =
      std::find_if(entries.begin(), entries.end(), [id](const KeyEntry& entry) { return entry.id == id; });
  if (key == entries.end()) return failure("the ring has no key " + std::string(id));
  if (key->stage == KeyStage::seal) {
    return failure("key " + std::string(id) + " seals: let another take its place first (rotate)");
  }
  if (key->retires_at && at >= *key->retires_at) {
    if (at <= now || at == *key->retires_at) return {};
    return failure("key " + std::string(id) + " opens until " + to_text(*key->retires_at) +
                   ": retiring brings the end of a key nearer, and never puts it off");
  }
  key->stage = KeyStage::retire;
  key->since = now;
  key->retires_at = at;
  return {};
}

std::string free_id(const std::vector<KeyEntry>& entries, Timestamp now, Entropy& entropy) {
  const std::string day = to_text(now).substr(0, 10);
  const auto taken = [&entries](const std::string& id) {
    return std::any_of(entries.begin(), entries.end(),
                       [&id](const KeyEntry& entry) { return entry.id == id; });
  };
  std::string id;
  do {
    std::array<std::uint8_t, 3> number;
    entropy.fill(number);
    id = day + "-" + hex(number);
  } while (taken(id));
  return id;
}

}  // namespace signet::keys
