// Where answers come from: a file, the command line, --yes, and the person at the terminal, in this order.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>
#include <signet/cli/terminal.h>
#include <signet/client/types.h>

namespace signet::cli {

// Answers prepared beforehand. A file holds one JSON object. Under the key of a question stands its content, or an
// object with `action` as on the wire, or an array of these, one for each time it is asked. What is under no key is
// looked up field by field.
class PreparedAnswers {
 public:
  PreparedAnswers() = default;
  // From the text of a file.
  Result<void> add_file(std::string_view text);
  // From `--answer field=value`.
  Result<void> add_field(std::string_view assignment);
  // Yes to questions of yes and no, the defaults to all others, and consent to http and https addresses, none of which is
  // opened by it.
  void accept_everything() { yes_ = true; }

  // The answer to this question; nothing where none was prepared; an error where it does not fit the form.
  Result<std::optional<Answer>> find(const Question& question);

  // A sentence for each `--answer` that no question has taken so far, with the field that may have been meant.
  std::vector<std::string> untaken() const;

 private:
  Result<std::optional<Json>> prepared_for(const Question& question);
  Result<std::optional<Json>> field_by_field(const Question& question);
  bool rests_on_yes(const Question& question) const;

  Json file_ = Json::object();
  std::map<std::string, std::string, std::less<>> fields_;
  std::set<std::string, std::less<>> asked_;  // names of fields
  std::map<std::string, std::size_t, std::less<>> used_;
  bool yes_ = false;
};

// Shows an address that was accepted without asking: nobody has seen it, and nothing was opened. Says nothing of other answers.
void tell_unasked(Terminal& terminal, const Question& question, const Answer& answer);

enum class Outcome { answered, interrupted, nobody };

// Asks the person. `nobody`: the input ended before the last field.
Outcome interview(Terminal& terminal, const Question& question, std::optional<Answer>& answer);

}  // namespace signet::cli
