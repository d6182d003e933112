// Sampling is deprecated by the specification, and the suite looks for it all the same.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <chrono>
#include <string>
#include <thread>

#include <signet/json/text.h>

#include "everything_server/parts.h"

namespace everything {
namespace {

using signet::Call;
using signet::ElicitResult;
using signet::Field;
using signet::Option;
using signet::SampleRequest;
using signet::SampleResult;
using signet::Server;
using signet::Task;
using signet::ToolResult;

struct Prompted {
  std::string prompt;
};
struct Message {
  std::string message;
};

std::string_view to_string(signet::ElicitAction action) {
  switch (action) {
    case signet::ElicitAction::accept:
      return "accept";
    case signet::ElicitAction::decline:
      return "decline";
    case signet::ElicitAction::cancel:
      return "cancel";
  }
  return "";
}

ToolResult told(const ElicitResult& answer) {
  return signet::text("Elicitation completed: action=" + std::string(to_string(answer.action())) +
                      ", content=" + signet::json::write(answer.content()));
}

Task<ToolResult> sampling(Call& call, Prompted input) {
  auto request = SampleRequest(100).user(input.prompt);
  SampleResult answer = co_await call.sample("completion", request);
  co_return signet::text("LLM response: " + answer.text());
}

Task<ToolResult> elicitation(Call& call, Message input) {
  auto question = signet::form(input.message).string("username").string("email");
  ElicitResult answer = co_await call.elicit("user", question);
  co_return told(answer);
}

Task<ToolResult> with_defaults(Call& call) {
  auto question = signet::form("Please review the values.")
                      .string("name", Field().value("John Doe").optional())
                      .integer("age", Field().value(30).optional())
                      .number("score", Field().value(95.5).optional())
                      .choice("status", {"active", "inactive", "pending"}, Field().value("active").optional())
                      .boolean("verified", Field().value(true).optional());
  ElicitResult answer = co_await call.elicit("values", question);
  co_return told(answer);
}

Task<ToolResult> with_choices(Call& call) {
  auto question =
      signet::form("Please choose.")
          .choice("untitledSingle", {"option1", "option2", "option3"})
          .choice("titledSingle",
                  {Option("value1", "First"), Option("value2", "Second"), Option("value3", "Third")})
          .custom("legacyEnum", signet::json::parse(R"({"type": "string", "enum": ["opt1", "opt2", "opt3"],
                                                        "enumNames": ["One", "Two", "Three"]})")
                                    .value())
          .choices("untitledMulti", {"option1", "option2", "option3"})
          .choices("titledMulti",
                   {Option("value1", "First"), Option("value2", "Second"), Option("value3", "Third")});
  ElicitResult answer = co_await call.elicit("choices", question);
  co_return told(answer);
}

// Closes its stream before it answers; the client comes back for the answer.
ToolResult reconnection(signet::PlainCall& call) {
  call.detach_stream(std::chrono::milliseconds(100));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return signet::text("You came back for this.");
}

}  // namespace

void add_session_tools(Server& server) {
  server.tool("test_sampling", "Asks the client's model.", sampling);
  server.tool("test_elicitation", "Asks for a name and an address.", elicitation);
  server.tool("test_elicitation_sep1034_defaults", "Asks with a default for each kind of field.",
              with_defaults);
  server.tool("test_reconnection", "Closes its stream before it answers.", reconnection);
  server.tool("test_elicitation_sep1330_enums", "Asks with each kind of choice.", with_choices);
}

}  // namespace everything
