#include <string>
#include <vector>

#include <signet/json/text.h>

#include "everything_server/media.h"
#include "everything_server/parts.h"

namespace everything {
namespace {

using signet::Call;
using signet::Content;
using signet::ElicitResult;
using signet::Json;
using signet::PromptOptions;
using signet::PromptResult;
using signet::ResourceContents;
using signet::ResourceOptions;
using signet::Server;
using signet::Task;

struct TwoArguments {
  std::string arg1;
  std::string arg2;
};
struct Embedded {
  std::string resourceUri;  // the suite's spelling
};
struct Item {
  std::string id;
};

Task<PromptResult> asking_prompt(Call& call) {
  auto question = signet::form("What is it about?").string("context");
  ElicitResult answer = co_await call.elicit("user_context", question);
  co_return PromptResult().user("Use this context: " + answer.string("context"));
}

void add_prompts(Server& server) {
  server.prompt("test_simple_prompt", "A prompt without arguments.",
                [] { return PromptResult().user("This is a simple prompt for testing."); });
  server.prompt("test_prompt_with_arguments", "A prompt with two arguments.", [](TwoArguments input) {
    return PromptResult().user("Prompt with arguments: arg1='" + input.arg1 + "', arg2='" + input.arg2 + "'");
  });
  server.prompt_completion("test_prompt_with_arguments", "arg1",
                           [](const signet::CompletionRequest& request) {
                             std::vector<std::string> fitting;
                             for (const char* value : {"paris", "park", "party"}) {
                               if (std::string(value).starts_with(request.value)) fitting.emplace_back(value);
                             }
                             return fitting;
                           });
  server.prompt("test_prompt_with_embedded_resource", "A prompt that holds a resource.", [](Embedded input) {
    ResourceContents contents = ResourceContents::text("Embedded resource content for testing.");
    return PromptResult()
        .user(Content::resource(contents.uri(input.resourceUri)))
        .user("Please process the embedded resource above.");
  });
  server.prompt("test_prompt_with_image", "A prompt that holds an image.", [] {
    return PromptResult().user(Content::image(png, "image/png")).user("Please analyse the image above.");
  });
  server.prompt("test_input_required_result_prompt", "A prompt that asks first.", asking_prompt);
}

}  // namespace

void add_prompts_and_resources(Server& server) {
  add_prompts(server);
  server.resource(
      "test://static-text", "Static text",
      [] { return ResourceContents::text("This is the content of the static text resource."); },
      ResourceOptions().description("A text.").mime_type("text/plain"));
  server.resource(
      "test://static-binary", "Static binary", [] { return ResourceContents::blob(png, "image/png"); },
      ResourceOptions().description("An image.").mime_type("image/png"));
  server.resource(
      "test://watched-resource", "Watched", [] { return ResourceContents::text("Watched content."); },
      ResourceOptions().description("A resource to subscribe to.").mime_type("text/plain"));
  server.resource_template(
      "test://template/{id}/data", "Template",
      [](Item item) {
        Json data;
        data.set("id", item.id);
        data.set("templateTest", true);
        data.set("data", "Data for ID: " + item.id);
        return ResourceContents::text(signet::json::write(data)).mime_type("application/json");
      },
      ResourceOptions().description("Data of one item.").mime_type("application/json"));
}

}  // namespace everything
