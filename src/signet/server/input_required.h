// The explicit style: a handler that returns its questions instead of awaiting them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <signet/json/value.h>
#include <signet/server/form.h>
#include <signet/server/sampling.h>

namespace signet {

// Questions for the client, and what the handler wants to find again when they are answered (basic, mrtr,
// InputRequiredResult). The server seals the state: nothing that is given here travels in the clear.
//
//   if (!call.input_responses().contains("name"))
//     return signet::InputRequired().elicit("name", signet::form("Who?").string("name")).state(progress);
//
// A key that is used twice is a mistake of the program: the call ends with an internal error (S47).
class InputRequired {
 public:
  InputRequired() = default;

  InputRequired& elicit(std::string key, const Form& form);
  InputRequired& elicit_url(std::string key, std::string message, std::string url);
  [[deprecated("sampling is deprecated since 2026-07-28")]] InputRequired& sample(
      std::string key, const SampleRequest& request);
  [[deprecated("roots are deprecated since 2026-07-28")]] InputRequired& list_roots(std::string key);

  // Any JSON value; comes back as `call.state()` in the next round.
  InputRequired& state(Json state);

  struct Question {
    Question(std::string its_key, Json its_request)
        : key(std::move(its_key)), request(std::move(its_request)) {}
    std::string key;
    Json request;  // {"method": ..., "params": ...}
  };
  const std::vector<Question>& questions() const { return questions_; }
  const Json& state() const { return state_; }

 private:
  std::vector<Question> questions_;
  Json state_;
};

}  // namespace signet
