// Sampling and roots are deprecated by the specification, and the suite looks for them all the same.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <string>
#include <tuple>
#include <vector>

#include "everything_server/parts.h"

namespace everything {
namespace {

using signet::Call;
using signet::ElicitResult;
using signet::Root;
using signet::SampleRequest;
using signet::SampleResult;
using signet::Server;
using signet::Task;
using signet::ToolOptions;
using signet::ToolResult;

Task<ToolResult> ask_name(Call& call) {
  auto question = signet::form("What is your name?").string("name");
  ElicitResult answer = co_await call.elicit("user_name", question);
  if (!answer.accepted()) co_return signet::text("Hello, whoever you are!");
  co_return signet::text("Hello, " + answer.string("name") + "!");
}

Task<ToolResult> ask_model(Call& call) {
  auto request = SampleRequest(100).user("What is the capital of France?");
  SampleResult answer = co_await call.sample("capital_question", request);
  co_return signet::text("The model says: " + answer.text());
}

Task<ToolResult> ask_roots(Call& call) {
  std::vector<Root> roots = co_await call.list_roots("client_roots");
  std::string names;
  for (const Root& root : roots) names += " " + root.uri;
  co_return signet::text("Roots:" + names);
}

// Asks for a confirmation; what comes back has to be the sealed state, untouched.
Task<ToolResult> ask_to_confirm(Call& call) {
  auto question = signet::form("Please confirm.").boolean("ok");
  ElicitResult answer = co_await call.elicit("confirm", question);
  co_return signet::text(answer.boolean("ok") ? "state-ok" : "not confirmed");
}

Task<ToolResult> ask_three_at_once(Call& call) {
  auto who = signet::form("What is your name?").string("name");
  auto name = call.elicit("user_name", who);
  auto greeting = call.sample("greeting", SampleRequest(100).user("Greet somebody."));
  auto roots = call.list_roots("client_roots");
  auto [named, greeted, folders] = co_await signet::all(name, greeting, roots);
  co_return signet::text(greeted.text() + " " + named.string("name") + ", with " +
                         std::to_string(folders.size()) + " roots");
}

Task<ToolResult> ask_twice(Call& call) {
  auto first = signet::form("Step 1: what is your name?").string("name");
  ElicitResult name = co_await call.elicit("step1", first);
  if (!name.accepted()) co_return signet::text("Stopped at the name.");
  auto second =
      signet::form("Step 2: which colour do you like, " + name.string("name") + "?").string("color");
  ElicitResult colour = co_await call.elicit("step2", second);
  if (!colour.accepted()) co_return signet::text("Stopped at the colour.");
  co_return signet::text(name.string("name") + " likes " + colour.string("color") + ".");
}

// Asks only what the client declared on this request.
Task<ToolResult> ask_what_is_possible(Call& call) {
  std::string answers;
  if (call.can_elicit()) {
    auto question = signet::form("What is your name?").string("name");
    ElicitResult name = co_await call.elicit("user_name", question);
    answers += name.string("name");
  }
  if (call.can_sample()) {
    auto request = SampleRequest(100).user("Say something.");
    SampleResult said = co_await call.sample("something", request);
    answers += " " + said.text();
  }
  co_return signet::text("Answers: " + answers);
}

Task<ToolResult> need_sampling(Call& call) {
  auto request = SampleRequest(10).user("Ping");
  SampleResult answer = co_await call.sample("ping", request);
  co_return signet::text(answer.text());
}

}  // namespace

void add_asking_tools(Server& server) {
  // The suite answers this one before it was asked; nothing depends on the name.
  server.tool("test_input_required_result_elicitation", "Asks for a name.", ask_name,
              ToolOptions().accepts_unasked_answers());
  server.tool("test_input_required_result_sampling", "Asks the client's model.", ask_model);
  server.tool("test_input_required_result_list_roots", "Asks for the client's roots.", ask_roots);
  server.tool("test_input_required_result_request_state", "Asks, and checks the state that comes back.",
              ask_to_confirm);
  server.tool("test_input_required_result_multiple_inputs", "Asks three things in one round.",
              ask_three_at_once);
  server.tool("test_input_required_result_multi_round", "Asks in two rounds.", ask_twice);
  server.tool("test_input_required_result_tampered_state", "Asks, and refuses a changed state.",
              ask_to_confirm);
  server.tool("test_input_required_result_capabilities", "Asks what the client can answer.",
              ask_what_is_possible);
  server.tool("test_missing_capability", "Needs sampling.", need_sampling);
  server.tool("test_streaming_elicitation", "Asks, without a request on the stream.", ask_name);
}

}  // namespace everything
