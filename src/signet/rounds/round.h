// One run of a handler over its journal: answers come in, a journal and questions come out.
//
// A pure state machine: no coroutine, no key, no clock, no I/O. Whoever runs the handler asks here at each question;
// what is not answered is sent to the client when the run has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/json/value.h>
#include <signet/rounds/journal.h>

namespace signet::rounds {

// Why an answer does not count, in a sentence for the person who gave it, or nothing where it does.
using Check = std::function<std::optional<std::string>(const Json& answer)>;

// Whether answers count that come before anything was asked.
enum class Unasked : std::uint8_t {
  ignored,
  taken,  // for a flow without a state, where the tool says so
  elsewhere,  // another system asked, and its state does not say what: as taken, and responses() has them unchecked
};

// A question that goes to the client.
struct Pending {
  Pending(std::string question_key, Json question_request)
      : key(std::move(question_key)), question(std::move(question_request)) {}
  std::string key;
  Json question;       // {"method", "params"}
  std::string reason;  // why the last answer did not count; empty where there was none
};

// Rules, for each key:
// - an answer counts only for the question it was given to: same key, same digest;
// - an answer to what was not asked in the round before is ignored, one to what is answered already too;
// - a question whose digest has changed is asked again, and its old answer is forgotten;
// - a missing answer and one that fails its check are asked for again;
// - an answer to a question that this run does not come to (an earlier one is asked again) waits for a run that does.
class Round {
 public:
  Round(Journal journal, Json::Object responses, Unasked unasked = Unasked::ignored)
      : journal_(std::move(journal)), responses_(std::move(responses)), unasked_(unasked) {}

  enum class Outcome : std::uint8_t {
    answered,
    pending,     // to be sent when the run has ended
    key_reused,  // the handler asked something else under this key in the same run: a bug of the handler
    bad_key,     // empty, or longer than key_bytes_max
    too_many,    // more than entries_max
  };
  struct Asked {
    Outcome outcome;
    const Json* answer;  // where answered; borrowed until the next call of a member
  };

  // The handler is at the question `key`.
  Asked ask(std::string_view key, const Json& question, const Check& check);
  // The answer to a pending question came in the same run (a connection of a handshake revision). Checked by the caller.
  const Json& settle(std::string_view key, Json answer);

  // A value that a step of that name computed before, or null; and the new one. Returns false beyond entries_max, or
  // for a bad name.
  const Json* remembered(std::string_view name) const;
  bool remember(std::string_view name, Json value);

  // The explicit style. `accept` checks the answers of questions that were asked with ask_explicitly, before the
  // handler runs; `check` gets the question too. `responses` has all that are answered, by key.
  void accept(
      const std::function<std::optional<std::string>(const Json& question, const Json& answer)>& check);
  Json::Object responses() const;
  // Null in the first round.
  Json state() const;
  // Asks whatever was answered before: the handler has seen it.
  Outcome ask_explicitly(std::string_view key, const Json& question);
  // Null takes it away. Returns false beyond entries_max.
  bool set_state(Json state);

  const std::vector<Pending>& pending() const { return pending_; }
  // What the next round begins with: the answers, the steps, and as open questions only those of this round.
  Journal finish() &&;

 private:
  const Json* offered(const Entry* entry, const Digest& digest, std::string_view key) const;
  Outcome add_pending(Entry* entry, std::string_view key, const Json& question, const Digest& digest,
                      bool keep_question);
  Pending* find_pending(std::string_view key);
  void keep_offered();

  Journal journal_;
  Json::Object responses_;
  Unasked unasked_;
  std::vector<std::pair<std::string, Digest>> asked_;  // in this run
  std::vector<Pending> pending_;
  std::vector<std::pair<std::string, std::string>> reasons_;
};

}  // namespace signet::rounds
