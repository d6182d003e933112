// The attacker is whoever may have sealed a journal that we open: another version of this program, or one with a bug.
// Bytes become a journal and are written back; then a flow of rounds goes on over it, whose handler and whose client the
// input plays, beside a second account of what the rules of round.h say. The two must agree in every entry.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/rounds/journal.h>
#include <signet/rounds/round.h>

namespace signet::rounds {
namespace {

void require(bool holds, std::string_view promise) {
  if (holds) return;
  std::cerr << "A promise is broken: " << promise << "\n";
  std::abort();
}

bool same(const Entry& a, const Entry& b) {
  return a.kind == b.kind && a.key == b.key && a.value == b.value &&
         (!a.is_question() || a.question == b.question);
}

bool same(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Entry& x, const Entry& y) { return same(x, y); });
}

constexpr std::size_t unlimited = std::size_t{1} << 30;

// What is written is read as what it was, always in the same bytes, and its size is what the limit counts.
void check_form(const Journal& journal) {
  const Result<Bytes, Oversize> bytes = journal.encode(unlimited);
  require(bytes.ok(), "a journal has a form");
  const Result<Journal, Malformed> again = Journal::decode(*bytes);
  require(again.ok(), "what was written can be read");
  require(same(again->entries(), journal.entries()), "what was written is what is read");
  require(*again->encode(unlimited) == *bytes, "equal journals have equal forms");
  require(journal.encode(bytes->size()).ok(), "the limit may be reached");
  const Result<Bytes, Oversize> cut = journal.encode(bytes->size() - 1);
  if (journal.entries().empty()) return;
  require(!cut.ok() && cut.error().bytes == bytes->size(), "the limit may not be crossed");
}

// The input as a sequence of choices; zeros when it has ended.
class Choices {
 public:
  explicit Choices(ByteView bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  int below(int count) {
    if (rest_.empty()) return 0;
    const int octet = rest_.front();
    rest_ = rest_.subspan(1);
    return octet % count;
  }

 private:
  ByteView rest_;
};

Json question_of(const std::string& key, int wording) {
  Json question;
  question.set("method", "elicitation/create");
  question.set("params", Json::object({{"message", key + " " + std::to_string(wording)}}));
  return question;
}

// Answers are numbers; odd ones do not count.
std::optional<std::string> check_answer(const Json& answer) {
  if (answer.as_int64().value_or(1) % 2 == 0) return std::nullopt;
  return "odd";
}

// The rules, told again: what one run makes of a journal.
class Account {
 public:
  using Outcome = Round::Outcome;

  Account(std::vector<Entry> before, Json::Object responses, bool takes_unasked)
      : entries_(std::move(before)), responses_(std::move(responses)), takes_unasked_(takes_unasked) {
    for (Entry& entry : entries_) {
      const bool explicitly = entry.kind == Entry::Kind::open && !entry.value.is_null();
      const Json* response = responses_.find(entry.key);
      if (explicitly && response != nullptr && !check_answer(*response)) answer(entry, *response);
    }
  }

  Outcome ask(const std::string& key, const Json& question) {
    if (key.empty() || key.size() > key_bytes_max) return Outcome::bad_key;
    const Digest digest = question_digest(question);
    if (asked_.contains(key) && asked_[key] != digest) return Outcome::key_reused;
    const bool first = asked_.emplace(key, digest).second;
    Entry* entry = find(key);
    if (entry != nullptr && entry->question == digest) {
      if (entry->kind == Entry::Kind::answered) return Outcome::answered;
      if (!first) return Outcome::pending;
      const Json* given = entry->kind == Entry::Kind::offered ? &entry->value : responses_.find(entry->key);
      if (given != nullptr && !check_answer(*given)) {
        answer(*entry, Json(*given));
        return Outcome::answered;
      }
    }
    if (entry == nullptr) {
      if (entries_.size() == entries_max) return Outcome::too_many;
      entries_.emplace_back(Entry::Kind::open, key, digest, Json());
      entry = &entries_.back();
      const Json* given = takes_unasked_ ? responses_.find(key) : nullptr;
      if (given != nullptr && !check_answer(*given)) {
        answer(*entry, *given);
        return Outcome::answered;
      }
    }
    open(*entry, digest, Json());
    return Outcome::pending;
  }

  Outcome ask_explicitly(const std::string& key, const Json& question) {
    if (key.empty() || key.size() > key_bytes_max) return Outcome::bad_key;
    const Digest digest = question_digest(question);
    const bool is_pending = std::find(pending_.begin(), pending_.end(), key) != pending_.end();
    if (asked_.contains(key) && (asked_[key] != digest || is_pending)) return Outcome::key_reused;
    asked_.emplace(key, digest);
    Entry* entry = find(key);
    if (entry == nullptr) {
      if (entries_.size() == entries_max) return Outcome::too_many;
      entries_.emplace_back(Entry::Kind::open, key, digest, Json());
      entry = &entries_.back();
    }
    open(*entry, digest, question);
    return Outcome::pending;
  }

  void settle(const std::string& key, const Json& given) {
    answer(*find(key), given);
    std::erase(pending_, key);
  }

  bool remember(const std::string& name, const Json& value) {
    if (name.empty() || name.size() > key_bytes_max) return false;
    for (Entry& entry : entries_) {
      if (entry.kind != Entry::Kind::step || entry.key != name) continue;
      entry.value = value;
      return true;
    }
    if (entries_.size() == entries_max) return false;
    entries_.emplace_back(Entry::Kind::step, name, Digest(), value);
    return true;
  }

  bool set_state(const Json& value) {
    const auto is_state = [](const Entry& entry) { return entry.kind == Entry::Kind::state; };
    const auto kept = std::find_if(entries_.begin(), entries_.end(), is_state);
    if (value.is_null()) {
      std::erase_if(entries_, is_state);
    } else if (kept != entries_.end()) {
      kept->value = value;
    } else {
      if (entries_.size() == entries_max) return false;
      entries_.emplace_back(Entry::Kind::state, std::string(), Digest(), value);
    }
    return true;
  }

  Json::Object responses() const {
    Json::Object all;
    for (const Entry& entry : entries_) {
      if (entry.kind == Entry::Kind::answered) all.set(entry.key, entry.value);
    }
    return all;
  }

  const Json& answer_to(const std::string& key) { return find(key)->value; }
  const std::vector<std::string>& pending() const { return pending_; }

  std::vector<Entry> finish() && {
    for (const auto& [key, given] : responses_) {
      Entry* entry = find(key);
      if (entry == nullptr || entry->kind != Entry::Kind::open) continue;
      if (!entry->value.is_null() || asked_.contains(key)) continue;
      entry->kind = Entry::Kind::offered;
      entry->value = given;
    }
    std::erase_if(entries_, [this](const Entry& entry) {
      return entry.kind == Entry::Kind::open &&
             std::find(pending_.begin(), pending_.end(), entry.key) == pending_.end();
    });
    return std::move(entries_);
  }

 private:
  Entry* find(const std::string& key) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&key](const Entry& entry) {
      return entry.is_question() && entry.key == key;
    });
    return found == entries_.end() ? nullptr : &*found;
  }
  static void answer(Entry& entry, Json given) {
    entry.kind = Entry::Kind::answered;
    entry.value = std::move(given);
  }
  void open(Entry& entry, const Digest& digest, Json kept_question) {
    entry.kind = Entry::Kind::open;
    entry.question = digest;
    entry.value = std::move(kept_question);
    pending_.push_back(entry.key);
  }

  std::vector<Entry> entries_;
  Json::Object responses_;
  bool takes_unasked_;
  std::map<std::string, Digest> asked_;
  std::vector<std::string> pending_;
};

// One run: false where the handler made a mistake, after which no journal is kept.
class Play {
 public:
  Play(Choices& choices, Journal& journal, std::vector<std::string> keys)
      : choices_(choices),
        journal_(journal),
        keys_(std::move(keys)),
        given_(responses()),
        mode_(static_cast<Unasked>(choices.below(2))),
        account_(journal.entries(), given_, mode_ == Unasked::taken),
        round_(std::move(journal), given_, mode_) {
    round_.accept([](const Json& question, const Json& given) {
      require(!question.is_null(), "what is asked explicitly is kept");
      return check_answer(given);
    });
    require(Json(round_.responses()) == Json(account_.responses()), "all answers are shown");
  }

  bool run() {
    while (!choices_.empty()) {
      const int what = choices_.below(7);
      if (what == 0) break;
      if (!act(what)) return false;
    }
    std::vector<std::string> pending;
    for (const Pending& one : round_.pending()) pending.push_back(one.key);
    require(pending == account_.pending(), "what is asked is what was not answered");
    const std::vector<Entry> expected = std::move(account_).finish();
    journal_ = std::move(round_).finish();
    require(same(journal_.entries(), expected), "a run leaves what the rules say");
    check_form(journal_);
    return true;
  }

 private:
  Json::Object responses() {
    Json::Object all;
    const int count = choices_.below(4);
    for (int i = 0; i < count; ++i) all.set(key(), choices_.below(6));
    return all;
  }
  const std::string& key() {
    return keys_[static_cast<std::size_t>(choices_.below(static_cast<int>(keys_.size())))];
  }

  bool act(int what) {
    switch (what) {
      case 1:
      case 2:
        return ask();
      case 3:
        return ask_explicitly();
      case 4:
        return settle();
      case 5:
        return remember(key());
      default:
        return set_state();
    }
  }

  bool ask() {
    const std::string name = key();
    const Json question = question_of(name, choices_.below(3));
    const Round::Outcome expected = account_.ask(name, question);
    const Round::Asked asked = round_.ask(name, question, check_answer);
    require(asked.outcome == expected, "a question comes to what the rules say");
    require((asked.answer != nullptr) == (expected == Round::Outcome::answered),
            "an answer is given where one is");
    if (asked.answer != nullptr)
      require(*asked.answer == account_.answer_to(name), "an answer stays what it was");
    return expected == Round::Outcome::answered || expected == Round::Outcome::pending;
  }

  bool ask_explicitly() {
    const std::string name = key();
    const Json question = question_of(name, choices_.below(3));
    const Round::Outcome expected = account_.ask_explicitly(name, question);
    require(round_.ask_explicitly(name, question) == expected, "a question comes to what the rules say");
    return expected == Round::Outcome::pending;
  }

  bool settle() {
    if (round_.pending().empty()) return true;
    const std::string name = round_.pending().front().key;
    const Json given(choices_.below(6));
    account_.settle(name, given);
    require(round_.settle(name, given) == given, "an answer is what was given");
    return true;
  }

  bool remember(const std::string& name) {
    const Json value(choices_.below(4));
    const bool expected = account_.remember(name, value);
    require(round_.remember(name, value) == expected, "a step is remembered where it can be");
    if (expected) require(*round_.remembered(name) == value, "a step is what it was");
    return expected;
  }

  bool set_state() {
    const int which = choices_.below(3);
    const Json value = which == 0 ? Json() : Json(which);
    const bool expected = account_.set_state(value);
    require(round_.set_state(value) == expected, "a state is kept where it can be");
    require(!expected || round_.state() == value, "the state is what it was");
    return expected;
  }

  Choices& choices_;
  Journal& journal_;
  std::vector<std::string> keys_;
  Json::Object given_;
  Unasked mode_;
  Account account_;
  Round round_;
};

void play(Journal journal, ByteView program, int runs_max) {
  std::vector<std::string> keys{
      "a", "b", "c", "", std::string(key_bytes_max, 'k'), std::string(key_bytes_max + 1, 'k')};
  for (const Entry& entry : journal.entries()) {
    if (keys.size() < 12) keys.push_back(entry.key);
  }
  Choices choices(program);
  for (int run = 0; run < runs_max && !choices.empty(); ++run) {
    if (!Play(choices, journal, keys).run()) return;
  }
}

// Two entries below what a journal holds. Names of many lengths, which are told apart at once.
Journal almost_full() {
  Journal journal;
  for (std::size_t i = 2; i < entries_max; ++i) {
    journal.add(
        Entry(Entry::Kind::step, std::string(1 + i / 8, static_cast<char>('A' + i % 8)), Digest(), 0));
  }
  return journal;
}

}  // namespace
}  // namespace signet::rounds

// The first octet says how many of the next ones, in eights, are a journal; the rest is the program. After `full` it is
// played over a journal that is almost full: rarely, since that takes long.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace signet;
  const ByteView input(data, size);
  if (as_text(input).starts_with("full")) {
    rounds::play(rounds::almost_full(), input.subspan(4), 2);
    return 0;
  }
  if (const auto all = rounds::Journal::decode(input); all.ok()) rounds::check_form(*all);
  if (input.empty()) return 0;
  const std::size_t length = std::min<std::size_t>(std::size_t{8} * input[0], size - 1);
  auto journal = rounds::Journal::decode(input.subspan(1, length));
  const bool whole = journal.ok();
  if (whole) rounds::check_form(*journal);
  rounds::play(whole ? std::move(*journal) : rounds::Journal(), input.subspan(1 + (whole ? length : 0)), 20);
  return 0;
}
