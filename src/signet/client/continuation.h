// A call between two rounds, as a value that another process can take up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/client/types.h>

namespace signet {

// What is needed to answer and finish: the request, the state to echo, the open questions. The state is the server's
// and opaque; who holds it may continue the call, so keep it as you keep a password.
class Continuation {
 public:
  Continuation() = default;

  // One line of JSON.
  std::string serialize() const;
  // What serialize wrote, of at most 8 MiB; an error for anything else.
  static Result<Continuation> parse(std::string_view text);

  const std::string& method() const { return method_; }
  const Json& params() const { return params_; }
  // In the order in which the server put them.
  std::vector<Question> questions() const;
  int rounds() const { return rounds_; }

 private:
  friend class Client;
  friend struct ClientImpl;
  std::string method_;
  Json params_;                       // as first sent, without _meta
  std::optional<std::string> state_;  // only where the server gave one
  Json requests_;                     // inputRequests, or null
  int rounds_ = 0;
};

// Where a call stands after one round.
struct Step {
  Step() = default;
  bool finished = false;
  Json result;                      // when finished
  std::vector<Question> questions;  // else: what to answer
  Continuation continuation;        // and how to go on
};

using Answers = std::map<std::string, Answer, std::less<>>;

}  // namespace signet
