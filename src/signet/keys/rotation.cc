#include <signet/keys/rotation.h>

#include <algorithm>

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
  entries.push_back(
      token::generate_key(new_id.value_or(free_id(entries, now)), KeyStage::accept, now, entropy));
  return {};
}

Result<void> seal_with_new(std::vector<KeyEntry>& entries, Timestamp now, const RotationTimes& times) {
  const auto fresh = first_at(entries, KeyStage::accept);
  const auto old = first_at(entries, KeyStage::seal);
  if (old == entries.end()) return failure("no key of the ring seals");
  if (fresh->since && now < token::later(*fresh->since, times.settle)) {
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
  const auto alive = std::find_if(entries.begin(), entries.end(), [now](const KeyEntry& entry) {
    return entry.retires_at && now < *entry.retires_at;
  });
  if (alive != entries.end()) {
    return failure("key " + alive->id + " still opens states, until " + to_text(*alive->retires_at));
  }
  std::erase_if(entries, [](const KeyEntry& entry) { return entry.stage == KeyStage::retire; });
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
  if (first_at(entries, KeyStage::accept) != entries.end()) return RotationStep::seal;
  if (first_at(entries, KeyStage::retire) != entries.end()) return RotationStep::retire;
  return RotationStep::accept;
}

Result<void> rotate(std::vector<KeyEntry>& entries, RotationStep step, Timestamp now,
                    const RotationTimes& times, const std::optional<std::string>& new_id, Entropy& entropy) {
  const RotationStep next = next_step(entries);
  if (step != next) {
    return failure("the next step of this ring is " + std::string(to_string(next)) + ", not " +
                   std::string(to_string(step)));
  }
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
  key->stage = KeyStage::retire;
  key->since = now;
  key->retires_at = at;
  return {};
}

std::string free_id(const std::vector<KeyEntry>& entries, Timestamp now) {
  const std::string day = to_text(now).substr(0, 10);
  const auto taken = [&entries](const std::string& id) {
    return std::any_of(entries.begin(), entries.end(),
                       [&id](const KeyEntry& entry) { return entry.id == id; });
  };
  std::string id = day;
  for (int number = 2; taken(id); ++number) id = day + "-" + std::to_string(number);
  return id;
}

}  // namespace signet::keys
