#include <signet/rounds/round.h>

#include <algorithm>
#include <cassert>

namespace signet::rounds {

namespace {

bool usable(std::string_view key) { return !key.empty() && key.size() <= key_bytes_max; }

}  // namespace

// The response that may count for this question: the question was open with the same digest, or nothing was asked
// yet and such answers are taken, or it waits here since an earlier run.
const Json* Round::offered(const Entry* entry, const Digest& digest, std::string_view key) const {
  if (entry == nullptr) return unasked_ != Unasked::ignored ? responses_.find(key) : nullptr;
  if (entry->kind == Entry::Kind::offered && entry->question == digest) return &entry->value;
  if (entry->kind != Entry::Kind::open || entry->question != digest) return nullptr;
  return responses_.find(key);
}

Round::Asked Round::ask(std::string_view key, const Json& question, const Check& check) {
  if (!usable(key)) return {Outcome::bad_key, nullptr};
  const Digest digest = question_digest(question);
  const auto before =
      std::find_if(asked_.begin(), asked_.end(), [key](const auto& a) { return a.first == key; });
  const bool again = before != asked_.end();
  if (again && before->second != digest) return {Outcome::key_reused, nullptr};
  if (!again) asked_.emplace_back(key, digest);

  Entry* entry = journal_.find_question(key);
  if (entry != nullptr && entry->kind == Entry::Kind::answered && entry->question == digest) {
    return {Outcome::answered, &entry->value};
  }
  if (again) return {Outcome::pending, nullptr};

  std::string reason;
  if (const Json* answer = offered(entry, digest, key)) {
    std::optional<std::string> objection = check(*answer);
    if (!objection) {
      if (entry == nullptr) {
        if (journal_.entries().size() == entries_max) return {Outcome::too_many, nullptr};
        entry = &journal_.add(Entry(Entry::Kind::answered, std::string(key), digest, Json()));
      }
      if (answer != &entry->value) entry->value = *answer;
      entry->kind = Entry::Kind::answered;
      return {Outcome::answered, &entry->value};
    }
    reason = std::move(*objection);
  }
  const Outcome outcome = add_pending(entry, key, question, digest, false);
  if (outcome == Outcome::pending) pending_.back().reason = std::move(reason);
  return {outcome, nullptr};
}

Round::Outcome Round::add_pending(Entry* entry, std::string_view key, const Json& question,
                                  const Digest& digest, bool keep_question) {
  if (entry == nullptr) {
    if (journal_.entries().size() == entries_max) return Outcome::too_many;
    entry = &journal_.add(Entry(Entry::Kind::open, std::string(key), digest, Json()));
  }
  entry->kind = Entry::Kind::open;
  entry->question = digest;
  entry->value = keep_question ? question : Json();
  pending_.emplace_back(std::string(key), question);
  return Outcome::pending;
}

Pending* Round::find_pending(std::string_view key) {
  const auto found =
      std::find_if(pending_.begin(), pending_.end(), [key](const Pending& p) { return p.key == key; });
  return found == pending_.end() ? nullptr : &*found;
}

const Json& Round::settle(std::string_view key, Json answer) {
  Entry* entry = journal_.find_question(key);
  assert(entry != nullptr && find_pending(key) != nullptr);
  entry->kind = Entry::Kind::answered;
  entry->value = std::move(answer);
  std::erase_if(pending_, [key](const Pending& p) { return p.key == key; });
  return entry->value;
}

const Json* Round::remembered(std::string_view name) const {
  const Entry* entry = journal_.find_step(name);
  return entry == nullptr ? nullptr : &entry->value;
}

bool Round::remember(std::string_view name, Json value) {
  if (!usable(name)) return false;
  if (Entry* entry = journal_.find_step(name)) {
    entry->value = std::move(value);
    return true;
  }
  if (journal_.entries().size() == entries_max) return false;
  journal_.add(Entry(Entry::Kind::step, std::string(name), Digest(), std::move(value)));
  return true;
}

void Round::accept(
    const std::function<std::optional<std::string>(const Json& question, const Json& answer)>& check) {
  for (const Entry& seen : journal_.entries()) {
    if (seen.kind != Entry::Kind::open || seen.value.is_null()) continue;
    const Json* answer = responses_.find(seen.key);
    if (answer == nullptr) continue;
    if (std::optional<std::string> objection = check(seen.value, *answer)) {
      reasons_.emplace_back(seen.key, std::move(*objection));
      continue;
    }
    Entry& entry = *journal_.find_question(seen.key);
    entry.kind = Entry::Kind::answered;
    entry.value = *answer;
  }
}

Json::Object Round::responses() const {
  Json::Object all;
  for (const Entry& entry : journal_.entries()) {
    if (entry.kind == Entry::Kind::answered) all.set(entry.key, entry.value);
  }
  if (unasked_ != Unasked::elsewhere) return all;
  for (const auto& [key, answer] : responses_) {
    if (journal_.find_question(key) == nullptr) all.set(key, answer);
  }
  return all;
}

Json Round::state() const {
  const Entry* entry = journal_.find_state();
  return entry == nullptr ? Json() : entry->value;
}

Round::Outcome Round::ask_explicitly(std::string_view key, const Json& question) {
  if (!usable(key)) return Outcome::bad_key;
  const Digest digest = question_digest(question);
  const auto before =
      std::find_if(asked_.begin(), asked_.end(), [key](const auto& a) { return a.first == key; });
  if (before == asked_.end()) {
    asked_.emplace_back(key, digest);
  } else if (before->second != digest || find_pending(key) != nullptr) {
    return Outcome::key_reused;
  }
  const Outcome outcome = add_pending(journal_.find_question(key), key, question, digest, true);
  const auto reason =
      std::find_if(reasons_.begin(), reasons_.end(), [key](const auto& r) { return r.first == key; });
  if (outcome == Outcome::pending && reason != reasons_.end()) pending_.back().reason = reason->second;
  return outcome;
}

bool Round::set_state(Json state) {
  if (state.is_null()) {
    journal_.drop_state();
    return true;
  }
  if (Entry* entry = journal_.find_state()) {
    entry->value = std::move(state);
    return true;
  }
  if (journal_.entries().size() == entries_max) return false;
  journal_.add(Entry(Entry::Kind::state, std::string(), Digest(), std::move(state)));
  return true;
}

// An answer to a question that was open and that this run did not come to. Unlike what is asked explicitly, such a
// question can be checked by the handler alone.
void Round::keep_offered() {
  for (const auto& [key, answer] : responses_) {
    Entry* entry = journal_.find_question(key);
    if (entry == nullptr || entry->kind != Entry::Kind::open || !entry->value.is_null()) continue;
    const auto is_this = [&name = key](const auto& asked) { return asked.first == name; };
    if (std::any_of(asked_.begin(), asked_.end(), is_this)) continue;
    entry->kind = Entry::Kind::offered;
    entry->value = answer;
  }
}

Journal Round::finish() && {
  keep_offered();
  std::vector<std::string> keep;
  keep.reserve(pending_.size());
  for (const Pending& pending : pending_) keep.push_back(pending.key);
  journal_.drop_open_except(keep);
  return std::move(journal_);
}

}  // namespace signet::rounds
