#include <signet/client/client.h>

#include <algorithm>

#include <signet/client/client_impl.h>
#include <signet/json/text.h>
#include <signet/protocol/mirrored_headers.h>

namespace signet {
namespace {

using Kind = CallError::Kind;

constexpr std::size_t schemas_kept_max = 10'000;

std::string text_of(const Json& object, std::string_view name) {
  const std::string* text = object.find_string(name);
  return text != nullptr ? *text : std::string();
}

Json member_of(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  return member != nullptr ? *member : Json();
}

Failure<CallError> invalid(std::string sentence) {
  return failure(CallError(Kind::invalid_reply, std::move(sentence)));
}

ToolDescription tool_of(const Json& json) {
  ToolDescription tool;
  tool.name = text_of(json, "name");
  tool.title = text_of(json, "title");
  tool.description = text_of(json, "description");
  tool.input_schema = member_of(json, "inputSchema");
  tool.output_schema = member_of(json, "outputSchema");
  tool.json = json;
  return tool;
}

ResourceDescription resource_of(const Json& json, std::string_view address) {
  ResourceDescription resource;
  resource.uri = text_of(json, address);
  resource.name = text_of(json, "name");
  resource.title = text_of(json, "title");
  resource.description = text_of(json, "description");
  resource.mime_type = text_of(json, "mimeType");
  resource.json = json;
  return resource;
}

CallError session_lost_error() {
  CallError error(Kind::transport, "the server has forgotten the session, and the subscription with it");
  error.transport.emplace(protocol::TransportFailure::Kind::session_ended, error.message);
  return error;
}

// Keeps a listener of a session's notifications as long as it listens.
class Listening {
 public:
  Listening(ClientImpl& client, CallState& call) : client_(client), call_(call) {
    client_.listeners.push_back(&call_);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { std::erase(client_.listeners, &call_); }

 private:
  ClientImpl& client_;
  CallState& call_;
};

Json named(std::string name, Json arguments) {
  Json params = Json::object({{"name", std::move(name)}});
  if (!arguments.is_null()) params.set("arguments", std::move(arguments));
  return params;
}

// The implementation by value: the Client may go while a task runs.
using Held = std::shared_ptr<ClientImpl>;

Task<Called<ServerDescription>> connect_with(Held impl, std::stop_token stop) {
  const Task<Called<void>> connecting = impl->ensure_connected(stop);
  const Called<void> connected = co_await connecting;
  if (!connected) co_return failure(connected.error());
  co_return impl->server;
}

Task<Called<std::vector<ToolDescription>>> tools_with(Held impl, CallOptions options) {
  const Task<Called<std::vector<Json>>> listing = impl->list("tools/list", "tools", std::move(options));
  const Called<std::vector<Json>> listed = co_await listing;
  if (!listed) co_return failure(listed.error());
  std::vector<ToolDescription> tools;
  for (const Json& json : *listed) {
    if (json.find_string("name") == nullptr) {  // nobody could call it
      impl->log(LogLevel::warning, "tool_left_out", "tool", "it has no name");
      continue;
    }
    ToolDescription tool = tool_of(json);
    const auto headers = protocol::mirrored_headers(tool.input_schema);
    if (impl->server.modern && !headers) {
      impl->log(LogLevel::warning, "tool_left_out", "tool", tool.name + ": " + headers.error().message);
      continue;
    }
    tools.push_back(std::move(tool));
  }
  co_return tools;
}

Task<Called<std::vector<PromptDescription>>> prompts_with(Held impl, CallOptions options) {
  const Task<Called<std::vector<Json>>> listing = impl->list("prompts/list", "prompts", std::move(options));
  const Called<std::vector<Json>> listed = co_await listing;
  if (!listed) co_return failure(listed.error());
  std::vector<PromptDescription> prompts;
  for (const Json& json : *listed) {
    PromptDescription prompt;
    prompt.name = text_of(json, "name");
    prompt.title = text_of(json, "title");
    prompt.description = text_of(json, "description");
    prompt.arguments = member_of(json, "arguments");
    prompt.json = json;
    prompts.push_back(std::move(prompt));
  }
  co_return prompts;
}

Task<Called<std::vector<ResourceDescription>>> resources_with(Held impl, std::string method,
                                                              std::string member, std::string address,
                                                              CallOptions options) {
  const Task<Called<std::vector<Json>>> listing =
      impl->list(std::move(method), std::move(member), std::move(options));
  const Called<std::vector<Json>> listed = co_await listing;
  if (!listed) co_return failure(listed.error());
  std::vector<ResourceDescription> resources;
  for (const Json& json : *listed) resources.push_back(resource_of(json, address));
  co_return resources;
}

Task<Called<ToolOutcome>> tool_with(Held impl, std::string name, Json arguments, CallOptions options) {
  const Task<Called<Json>> running =
      impl->run("tools/call", named(name, std::move(arguments)), std::move(options));
  Called<Json> result = co_await running;
  if (!result) co_return failure(std::move(result.error()));
  const Json* content = result->find("content");
  if (content != nullptr && !content->is_array()) co_return invalid("the content of the result is no array");
  ToolOutcome outcome;
  if (content != nullptr) outcome.content = *content->as_array();
  outcome.structured = member_of(*result, "structuredContent");
  outcome.is_error = member_of(*result, "isError") == Json(true);
  const Called<void> checked = impl->check_output(name, *result);
  if (!checked) co_return failure(checked.error());
  outcome.json = std::move(*result);
  co_return outcome;
}

Task<Called<PromptMessages>> prompt_with(Held impl, Json params, CallOptions options) {
  const Task<Called<Json>> running = impl->run("prompts/get", std::move(params), std::move(options));
  Called<Json> result = co_await running;
  if (!result) co_return failure(std::move(result.error()));
  const Json* messages = result->find("messages");
  if (messages == nullptr || !messages->is_array()) co_return invalid("the prompt has no messages");
  PromptMessages prompt;
  prompt.description = text_of(*result, "description");
  prompt.messages = *messages->as_array();
  prompt.json = std::move(*result);
  co_return prompt;
}

Task<Called<ReadResourceResult>> read_with(Held impl, Json params, CallOptions options) {
  const Task<Called<Json>> running = impl->run("resources/read", std::move(params), std::move(options));
  Called<Json> result = co_await running;
  if (!result) co_return failure(std::move(result.error()));
  const Json* contents = result->find("contents");
  if (contents == nullptr || !contents->is_array()) co_return invalid("the resource has no contents");
  ReadResourceResult resource;
  resource.contents = *contents->as_array();
  resource.json = std::move(*result);
  co_return resource;
}

Task<Called<CompleteResult>> complete_with(Held impl, Json params, CallOptions options) {
  const Task<Called<Json>> running = impl->run("completion/complete", std::move(params), std::move(options));
  const Called<Json> result = co_await running;
  if (!result) co_return failure(result.error());
  const Json* completion = result->find("completion");
  const Json* values = completion != nullptr ? completion->find("values") : nullptr;
  if (values == nullptr || !values->is_array()) co_return invalid("the completion has no values");
  CompleteResult out;
  for (const Json& value : *values->as_array()) {
    if (value.is_string()) out.values.push_back(*value.as_string());
  }
  const Json* total = completion->find("total");
  if (total != nullptr) out.total = total->as_int64();
  out.has_more = member_of(*completion, "hasMore") == Json(true);
  co_return out;
}

Task<Called<Json>> run_with(Held impl, std::string method, Json params, CallOptions options) {
  const Task<Called<Json>> running = impl->run(std::move(method), std::move(params), std::move(options));
  Called<Json> result = co_await running;
  co_return result;
}

Task<Called<Json>> listen_with(Held impl, ListenFilter filter, CallPtr call) {
  const Task<Called<Json>> listening = impl->listen(std::move(filter), call);
  Called<Json> result = co_await listening;
  co_return result;
}

Task<Called<Step>> step_with(Held impl, Continuation from, Json responses, CallPtr call) {
  const Task<Called<Step>> stepping = impl->step(std::move(from), std::move(responses), call);
  Called<Step> reached = co_await stepping;
  co_return reached;
}

Task<Called<Step>> refused(CallError error) { co_return failure(std::move(error)); }

}  // namespace

Task<Called<std::vector<Json>>> ClientImpl::list(std::string method, std::string member,
                                                 CallOptions call_options) {
  const CallPtr call = begin(method, Json(), std::move(call_options));
  std::vector<Json> all;
  std::optional<std::string> cursor;
  std::size_t bytes = 0;
  for (std::size_t page = 0; page < options.pages_max; ++page) {
    Json params = Json::object();
    if (cursor) params.set("cursor", *cursor);
    const Task<Called<Json>> getting = drive(method, std::move(params), call);
    const Called<Json> result = co_await getting;
    if (!result) co_return failure(result.error());
    const Json* items = result->find(member);
    if (items == nullptr || !items->is_array()) co_return invalid("the list has no member " + member);
    bytes += json::write(*items).size();
    if (bytes > options.list_bytes_max)
      co_return invalid("the list has more than " + std::to_string(options.list_bytes_max) + " bytes");
    all.insert(all.end(), items->as_array()->begin(), items->as_array()->end());
    const Json* next = result->find("nextCursor");
    // An empty string is a cursor like any other (C39).
    const bool last = next == nullptr || next->is_null();
    if (last && method == "tools/list") learn_tools(all);
    if (last) co_return all;
    if (!next->is_string()) co_return invalid("the cursor is no string");
    if (cursor == *next->as_string()) co_return invalid("the list repeats its cursor");
    cursor = *next->as_string();
  }
  co_return invalid("the list has more than " + std::to_string(options.pages_max) + " pages");
}

void ClientImpl::learn_tools(const std::vector<Json>& tools) {
  output_schemas.clear();
  for (const Json& tool : tools) {
    const std::string* name = tool.find_string("name");
    const Json* schema = tool.find("outputSchema");
    if (name == nullptr || schema == nullptr || output_schemas.size() >= schemas_kept_max) continue;
    output_schemas.insert_or_assign(*name, json::Schema::compile(*schema));
  }
}

Called<void> ClientImpl::check_output(std::string_view tool, const Json& result) const {
  const auto schema = output_schemas.find(tool);
  if (!options.validate_output || schema == output_schemas.end()) return {};
  const Json* is_error = result.find("isError");
  if (is_error != nullptr && *is_error == Json(true)) return {};
  const auto refuse = [](std::string sentence) {
    return failure(CallError(Kind::invalid_output, std::move(sentence)));
  };
  if (!schema->second)
    return refuse("the tool's output schema cannot be used: " + schema->second.error().message);
  const Json* structured = result.find("structuredContent");
  if (structured == nullptr)
    return refuse("the tool has an output schema, but its result no structured content");
  const Result<void, json::Violation> fits = schema->second->validate(*structured);
  if (!fits)
    return refuse("the structured content does not fit at " + client::quoted(fits.error().instance) + ": " +
                  fits.error().message);
  return {};
}

Task<Called<Json>> ClientImpl::listen(ListenFilter filter, CallPtr call) {
  const Task<Called<void>> connecting = ensure_connected(call->options.stop);
  const Called<void> ready = co_await connecting;
  if (!ready) co_return failure(ready.error());
  if (!server.modern) {
    const Task<Called<Json>> listening = listen_on_session(std::move(filter), call);
    Called<Json> ended = co_await listening;
    co_return ended;
  }
  Json wanted = Json::object();
  if (filter.tools) wanted.set("toolsListChanged", true);
  if (filter.prompts) wanted.set("promptsListChanged", true);
  if (filter.resources) wanted.set("resourcesListChanged", true);
  JsonArray uris(filter.uris.begin(), filter.uris.end());
  if (!uris.empty()) wanted.set("resourceSubscriptions", std::move(uris));
  JsonArray task_ids(filter.task_ids.begin(), filter.task_ids.end());
  if (!task_ids.empty()) wanted.set("taskIds", std::move(task_ids));
  Json params = Json::object({{"notifications", std::move(wanted)}});
  const Task<Called<Json>> listening = send_now("subscriptions/listen", std::move(params), call);
  Called<Json> ended = co_await listening;
  co_return ended;
}

// Sessions have no such request: resources are subscribed to one by one, the rest comes unasked.
Task<Called<Json>> ClientImpl::listen_on_session(ListenFilter filter, CallPtr call) {
  const OneShot<bool> ended;
  call->on_session_lost = [ended] { ended.set(true); };
  const Listening listening(*this, *call);
  for (const std::string& uri : filter.uris) {
    Json params = Json::object({{"uri", uri}});
    const Task<Called<Json>> subscribing = exchange("resources/subscribe", std::move(params), call);
    Called<Json> subscribed = co_await subscribing;
    if (!subscribed) co_return subscribed;
  }
  const std::stop_callback<std::function<void()>> on_stop(
      call->options.stop, [on = &executor, ended] { on->post([ended] { ended.set(false); }); });
  const bool lost = co_await ended;
  if (lost) co_return failure(session_lost_error());
  co_return failure(CallError(Kind::cancelled, "the subscription was stopped"));
}

Client::Client(Service& service, Executor& executor, ClientOptions options)
    : impl_(std::make_shared<ClientImpl>(service, executor, std::move(options))) {}

Client::~Client() {
  // Its session ends on the executor, where the transport lives.
  Executor& executor = impl_->executor;
  executor.post([impl = std::move(impl_)] {});
}

Task<Called<ServerDescription>> Client::connect(CallOptions options) {
  return connect_with(impl_, std::move(options.stop));
}

Task<Called<std::vector<ToolDescription>>> Client::list_tools(CallOptions options) {
  return tools_with(impl_, std::move(options));
}

Task<Called<std::vector<PromptDescription>>> Client::list_prompts(CallOptions options) {
  return prompts_with(impl_, std::move(options));
}

Task<Called<std::vector<ResourceDescription>>> Client::list_resources(CallOptions options) {
  return resources_with(impl_, "resources/list", "resources", "uri", std::move(options));
}

Task<Called<std::vector<ResourceDescription>>> Client::list_resource_templates(CallOptions options) {
  return resources_with(impl_, "resources/templates/list", "resourceTemplates", "uriTemplate",
                        std::move(options));
}

Task<Called<ToolOutcome>> Client::call_tool(std::string name, Json arguments, CallOptions options) {
  return tool_with(impl_, std::move(name), std::move(arguments), std::move(options));
}

Task<Called<PromptMessages>> Client::get_prompt(std::string name, Json arguments, CallOptions options) {
  return prompt_with(impl_, named(std::move(name), std::move(arguments)), std::move(options));
}

Task<Called<ReadResourceResult>> Client::read_resource(std::string uri, CallOptions options) {
  return read_with(impl_, Json::object({{"uri", std::move(uri)}}), std::move(options));
}

Task<Called<CompleteResult>> Client::complete(Json reference, std::string argument, std::string value,
                                              Json context, CallOptions options) {
  Json params = Json::object(
      {{"ref", std::move(reference)}, {"argument", Json::object({{"name", argument}, {"value", value}})}});
  if (!context.is_null()) params.set("context", Json::object({{"arguments", std::move(context)}}));
  return complete_with(impl_, std::move(params), std::move(options));
}

Task<Called<Json>> Client::listen(ListenFilter filter, std::function<void(const Notification&)> on_event,
                                  CallOptions options) {
  const auto call = std::make_shared<CallState>(impl_->executor, *impl_->options.clock, std::move(options),
                                                std::chrono::milliseconds(0));
  call->method = "subscriptions/listen";
  call->on_event = std::move(on_event);
  return listen_with(impl_, std::move(filter), call);
}

Task<Called<Json>> Client::request(std::string method, Json params, CallOptions options) {
  return run_with(impl_, std::move(method), std::move(params), std::move(options));
}

Task<Called<Step>> Client::call_once(std::string tool, Json arguments, CallOptions options) {
  return request_once("tools/call", named(std::move(tool), std::move(arguments)), std::move(options));
}

Task<Called<Step>> Client::request_once(std::string method, Json params, CallOptions options) {
  const CallPtr call = impl_->begin(method, params, std::move(options));
  call->declares_without_handlers = true;
  Continuation from;
  from.method_ = std::move(method);
  from.params_ = std::move(params);
  return step_with(impl_, std::move(from), Json(), call);
}

Task<Called<Step>> Client::resume(Continuation continuation, Answers answers, CallOptions options) {
  Json responses = Json::object();
  for (const Question& question : continuation.questions()) {
    const auto answer = answers.find(question.key);
    if (answer == answers.end()) {
      return refused(CallError(Kind::invalid_call, "there is no answer to " + client::quoted(question.key)));
    }
    responses.set(question.key, with_defaults(question, answer->second));
  }
  const CallPtr call = impl_->begin(continuation.method(), continuation.params(), std::move(options));
  call->declares_without_handlers = true;
  return step_with(impl_, std::move(continuation), std::move(responses), call);
}

}  // namespace signet
