// What goes over the wire, shown to a person.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <signet/protocol/service.h>

namespace signet::cli {

// A Service in front of another that shows each request, notification and reply: one header line and the JSON,
// indented. States are shortened unless `in_full`, since whoever holds one may continue the call.
class TracingService final : public Service {
 public:
  TracingService(Service& behind, std::function<void(std::string_view)> show, bool in_full)
      : behind_(behind), show_(std::move(show)), in_full_(in_full) {}

  Task<Reply> call(Request request, Exchange& exchange) override;
  void notify(Notification notification, Exchange& exchange) override;
  void shut_down() override { behind_.shut_down(); }

  // The last requestState of the server, or empty. When no task runs.
  const std::string& last_state() const { return last_state_; }

  void show(std::string_view arrow, std::string_view what, const Json& body);

 private:
  Service& behind_;
  std::function<void(std::string_view)> show_;
  bool in_full_;
  std::string last_state_;
};

// JSON on several lines, two blanks a level.
std::string indented(const Json& value);

// A copy in which every string member named requestState is shortened to its beginning and its length.
Json with_short_states(const Json& value);

}  // namespace signet::cli
