// Tools that ask. What the cases expect after "declined" or "cancelled" differs from tool to tool, and mostly it is to ask
// once more: an answer that was given stays given, so that is said by returning the question (InputRequired).
#include <string>

#include <signet/json/text.h>

#include "fixture_server/parts.h"

namespace fixture {
namespace {

using signet::Call;
using signet::ElicitResult;
using signet::InputRequired;
using signet::Json;
using signet::PlainCall;
using signet::Server;
using signet::Task;
using signet::ToolOptions;
using signet::ToolResult;

Task<ToolResult> ask_name(Call& call, Json) {
  auto question = signet::form("What is your name?").string("name");
  ElicitResult answer = co_await call.elicit("user_name", question);
  if (answer.declined()) co_return signet::text("declined");
  if (answer.cancelled()) co_return signet::text("cancelled");
  co_return signet::text("Hello, " + answer.string("name") + "!");
}

Task<ToolResult> ask_noargs(Call& call) {
  auto question = signet::form("Name?").string("name");
  ElicitResult answer = co_await call.elicit("user_name", question);
  if (!answer.accepted()) co_return InputRequired().elicit("user_name", question);
  co_return signet::text("Hello, " + answer.string("name") + "!");
}

Task<ToolResult> structured_ask(Call& call) {
  auto question = signet::form("Name?").string("name");
  ElicitResult answer = co_await call.elicit("user_name", question);
  if (!answer.accepted()) co_return InputRequired().elicit("user_name", question);
  Json structured;
  structured.set("name", answer.string("name"));
  co_return signet::text(signet::json::write(structured)).structured(structured);
}

// What was accepted under this key in a question asked explicitly, or null: a declined one does not count, whatever it holds.
const std::string* accepted_text(const signet::CallBase& call, std::string_view key) {
  const Json* answer = call.input_responses().find(key);
  const std::string* action = answer != nullptr ? answer->find_string("action") : nullptr;
  const Json* content = action != nullptr && *action == "accept" ? answer->find("content") : nullptr;
  return content != nullptr ? content->find_string("v") : nullptr;
}

// The second answer counts only with a state that holds the first: in the explicit style nothing counts that comes
// before its question.
Task<ToolResult> two_step(Call& call) {
  auto question = signet::form("first?").string("v");
  ElicitResult first = co_await call.elicit("first", question);
  if (!first.accepted()) co_return InputRequired().elicit("first", question);

  const std::string* second = accepted_text(call, "second");
  if (second == nullptr) co_return InputRequired().elicit("second", signet::form("second?").string("v"));
  co_return signet::text(first.string("v") + "+" + *second);
}

// What was accepted stays so; only what is missing, or was declined, is asked again.
ToolResult ask_two(PlainCall& call) {
  const std::string* a = accepted_text(call, "a");
  const std::string* b = accepted_text(call, "b");
  InputRequired missing;
  if (a == nullptr) missing.elicit("a", signet::form("a?").string("v"));
  if (b == nullptr) missing.elicit("b", signet::form("b?").string("v"));
  if (!missing.questions().empty()) return missing;
  return signet::text(*a + "&" + *b);
}

constexpr const char* transfer_schema = R"({
  "type": "object",
  "properties": {"amount": {"type": "number"}, "to": {"type": "string"}},
  "required": ["amount", "to"]
})";

// Never without having asked.
Task<ToolResult> transfer(Call& call, Json arguments) {
  const std::string what =
      signet::json::canonical(*arguments.find("amount")) + " to " + *arguments.find_string("to");
  auto question = signet::form("Send " + what + "?").boolean("ok");
  ElicitResult answer = co_await call.elicit("confirm", question);
  if (answer.cancelled()) co_return InputRequired().elicit("confirm", question);
  co_return signet::text(answer.boolean("ok") ? "transferred " + what : std::string("not transferred"));
}

ToolResult state_only(PlainCall& call) {
  if (call.state().is_null()) return InputRequired().state("later");
  return signet::text("state-only-done");
}

constexpr const char* name_schema = R"({
  "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]
})";

}  // namespace

void add_asking_tools(Server& server) {
  const auto schema = [](const char* text) { return signet::json::parse(text).value(); };
  const ToolOptions unasked = ToolOptions().accepts_unasked_answers();
  server.tool("ask_name", "Asks one question.", ask_name, unasked);
  server.tool("ask_noargs", "Asks one question, and takes no arguments.", ask_noargs, unasked);
  server.tool("two_step", "Asks in two rounds.", two_step, unasked);
  server.tool("ask_two", "Asks two questions in one round.", ask_two);
  server.tool("transfer", "Asks before it acts.", transfer,
              ToolOptions().input_schema(schema(transfer_schema)));
  server.tool("state_only", "Wants to be called again later.", state_only);
  server.tool("structured_ask", "Asks, and returns structured output.", structured_ask,
              ToolOptions().accepts_unasked_answers().output_schema(schema(name_schema)));
}

}  // namespace fixture
