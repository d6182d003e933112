// The server: what it offers, and the Service that transports and programs call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/server/handler.h>
#include <signet/server/options.h>
#include <signet/server/results.h>

namespace signet {

// What is being completed (schema, CompleteRequestParams).
class CompletionRequest {
 public:
  CompletionRequest(std::string text, Json known_arguments)
      : value(std::move(text)), arguments(std::move(known_arguments)) {}
  std::string value;  // what was typed so far
  Json arguments;     // object: the arguments that are known already
};

// All values that fit, best first. The client is sent 100, and how many there are. Runs on a thread of the server's own,
// like a plain function, so it may block; calls of it overlap. An exception is logged, and the client gets an error.
using Completion = std::function<std::vector<std::string>(const CompletionRequest& request)>;

// An MCP server for 2026-07-28 and the handshake revisions, over the same handlers.
//
//   signet::Server server(signet::ServerInfo("greeter", "1.0"));
//   server.tool("greet", "Greets a person.", [](signet::PlainCall&, Greeting g) { return "Hello " + g.name; });
//   return signet::serve_stdio(server).ok() ? 0 : 1;
//
// Handlers are functions or lambdas (no templates) of (Call&, Input), (Call&), (Input) or nothing. One that returns
// a Task is a coroutine: it runs on the executor of the call and may ask the person (server/call.h). Any other is a
// plain function, takes PlainCall& if it takes a call, and runs on a thread of the server's own, so it may block.
// A handler is kept as long as the server; calls of it overlap. What a coroutine needs besides its call and input it
// takes as parameters, through a lambda that is none itself:
//
//   server.tool("resolve", "Resolves a ticket.",
//               [&db](signet::Call& call, ResolveArgs args) { return resolve(db, call, std::move(args)); });
//
// A mistake in what is registered (a name twice, a schema that does not compile, `once` without a store) throws
// std::invalid_argument, so that it is found when the program starts.
//
// Threads: registration and notify_... from any thread, also while serving. `call` and `notify` as Service says.
// The server outlives every exchange; its destructor waits for plain functions that still run.
class Server final : public Service {
 public:
  explicit Server(ServerInfo info, ServerOptions options = ServerOptions());
  ~Server() override;

  // A tool. Input: a reflected type, whose schema is the tool's; or Json, with the schema from the options (any object
  // without one). Output: ToolResult, text, Content, InputRequired, or a reflected type, which is structured output with
  // that type's schema; or a Result of these, whose failure is a result with isError.
  template <typename F>
  Server& tool(std::string name, std::string description, F handler, ToolOptions options = ToolOptions()) {
    using Traits = detail::HandlerTraits<F>;
    return add_tool(std::move(name), std::move(description), detail::input_schema<typename Traits::Input>(),
                    detail::output_schema<typename Traits::Output>(),
                    detail::make_handler<detail::ToolAnswer>(std::move(handler)), std::move(options));
  }

  // A prompt. Input: a reflected type with string members, which are the prompt's arguments; or Json, an object of
  // strings, with the arguments from the options. Output: PromptResult.
  template <typename F>
  Server& prompt(std::string name, std::string description, F handler,
                 PromptOptions options = PromptOptions()) {
    using Traits = detail::HandlerTraits<F>;
    return add_prompt(std::move(name), std::move(description), detail::input_schema<typename Traits::Input>(),
                      detail::make_handler<detail::PromptAnswer>(std::move(handler)), std::move(options));
  }

  // One resource. The handler takes no input. Output: ResourceResult or ResourceContents.
  template <typename F>
  Server& resource(std::string uri, std::string name, F handler,
                   ResourceOptions options = ResourceOptions()) {
    return add_resource(std::move(uri), std::move(name),
                        detail::make_handler<detail::ResourceAnswer>(std::move(handler)), std::move(options));
  }

  // All resources whose URI fits the template (RFC 6570, level 1: `{id}` is anything but a slash, percent-decoded;
  // `{+path}` takes slashes too). Input: a reflected type whose members are strings, one for each variable and named
  // like it; or Json, an object of strings. Registered resources go first, then templates in their order. What is no URI of
  // RFC 3986 is refused, and values that would climb out of a folder fit no template
  // (ResourceOptions::variables_may_climb); which files may be read is still the handler's to decide (links, for one).
  template <typename F>
  Server& resource_template(std::string uri_template, std::string name, F handler,
                            ResourceOptions options = ResourceOptions()) {
    using Traits = detail::HandlerTraits<F>;
    return add_resource_template(
        std::move(uri_template), std::move(name), detail::input_schema<typename Traits::Input>(),
        detail::make_handler<detail::ResourceAnswer>(std::move(handler)), std::move(options));
  }

  // Suggestions for an argument of a prompt, or a variable of a resource template.
  Server& prompt_completion(std::string prompt, std::string argument, Completion completion);
  Server& template_completion(std::string uri_template, std::string variable, Completion completion);

  // Takes away; false where there is none of that name. Calls that run go on.
  bool remove_tool(std::string_view name);
  bool remove_prompt(std::string_view name);
  bool remove_resource(std::string_view uri);

  // Tells the clients that subscribed (subscriptions/listen, or a session of a handshake revision).
  void notify_tools_changed();
  void notify_prompts_changed();
  void notify_resources_changed();
  void notify_resource_updated(std::string uri);

  Task<Reply> call(Request request, Exchange& exchange) override;
  void notify(Notification notification, Exchange& exchange) override;
  void shut_down() override;

 private:
  class Impl;

  Server& add_tool(std::string name, std::string description, Json input_schema, Json output_schema,
                   detail::Handler handler, ToolOptions options);
  Server& add_prompt(std::string name, std::string description, Json input_schema, detail::Handler handler,
                     PromptOptions options);
  Server& add_resource(std::string uri, std::string name, detail::Handler handler, ResourceOptions options);
  Server& add_resource_template(std::string uri_template, std::string name, Json input_schema,
                                detail::Handler handler, ResourceOptions options);

  std::unique_ptr<Impl> impl_;
};

}  // namespace signet
