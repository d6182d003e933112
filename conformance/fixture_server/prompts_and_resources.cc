#include <string>
#include <vector>

#include "fixture_server/parts.h"

namespace fixture {
namespace {

using signet::Call;
using signet::CompletionRequest;
using signet::ElicitResult;
using signet::InputRequired;
using signet::PromptOptions;
using signet::PromptResult;
using signet::ResourceContents;
using signet::ResourceOptions;
using signet::ResourceResult;
using signet::Server;
using signet::Task;

struct Greet {
  std::string name;
};
struct Item {
  std::string id;
};

Task<PromptResult> ask_prompt(Call& call) {
  auto question = signet::form("Name?").string("name");
  ElicitResult answer = co_await call.elicit("user_name", question);
  if (!answer.accepted()) co_return InputRequired().elicit("user_name", question);
  co_return PromptResult().user("prompt for " + answer.string("name"));
}

Task<ResourceResult> ask_resource(Call& call) {
  auto question = signet::form("Name?").string("name");
  ElicitResult answer = co_await call.elicit("user_name", question);
  if (!answer.accepted()) co_return InputRequired().elicit("user_name", question);
  co_return ResourceContents::text("resource for " + answer.string("name"));
}

std::vector<std::string> names(const CompletionRequest& request) {
  std::vector<std::string> fitting;
  for (int i = 0; i < 150; ++i) {
    const std::string name = "n" + std::to_string(i);
    if (name.starts_with(request.value)) fitting.push_back(name);
  }
  return fitting;
}

}  // namespace

void add_prompts_and_resources(Server& server) {
  server.prompt("greet", "Greets.", [](Greet input) { return PromptResult().user("greet " + input.name); });
  server.prompt_completion("greet", "name", names);
  server.prompt("ask_prompt", "Asks first.", ask_prompt, PromptOptions().accepts_unasked_answers());
  server.resource(
      "test://static", "static", [] { return ResourceContents::text("static-text"); },
      ResourceOptions().mime_type("text/plain"));
  server.resource("test://ask", "ask", ask_resource,
                  ResourceOptions().mime_type("text/plain").accepts_unasked_answers());
  server.resource_template(
      "test://item/{id}", "item", [](Item item) { return ResourceContents::text("item " + item.id); },
      ResourceOptions().mime_type("text/plain"));
}

}  // namespace fixture
