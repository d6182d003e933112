// What goes over the wire, shown to a person.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <signet/protocol/service.h>

namespace signet::cli {

// How a trace is written: for people one header line for each message and its JSON, indented; or one line of JSON for
// each: {"direction":"sent"|"received","message":...,"body":...}. States are shortened unless `in_full`, since whoever
// holds one may continue the call.
struct TraceForm {
  TraceForm(bool json_lines, bool states_in_full) : as_json(json_lines), in_full(states_in_full) {}
  bool as_json;
  bool in_full;
};

// A Service in front of another that shows each request, notification and reply, on the executor.
class TracingService final : public Service {
 public:
  TracingService(Service& behind, std::function<void(std::string_view)> show, TraceForm form)
      : behind_(behind), show_(std::move(show)), form_(form) {}

  Task<Reply> call(Request request, Exchange& exchange) override;
  void notify(Notification notification, Exchange& exchange) override;
  void shut_down() override { behind_.shut_down(); }

  // The last requestState of the server, or empty. When no task runs.
  const std::string& last_state() const { return last_state_; }

  enum class Direction : bool { sent, received };
  void show(Direction direction, std::string_view what, const Json& body);

 private:
  Service& behind_;
  std::function<void(std::string_view)> show_;
  TraceForm form_;
  std::string last_state_;
};

// JSON on several lines, two blanks a level.
std::string indented(const Json& value);

// A copy in which every string member named requestState is shortened to its beginning and its length.
Json with_short_states(const Json& value);

}  // namespace signet::cli
