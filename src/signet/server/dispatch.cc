#include <signet/server/server_impl.h>

#include <signet/base/crossing.h>
#include <signet/json/text.h>
#include <signet/protocol/capabilities.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/methods.h>
#include <signet/protocol/versions.h>
#include <signet/server/legacy_questions.h>
#include <signet/token/codec.h>

#include <algorithm>
#include <exception>

namespace signet {

namespace method = protocol::method;
namespace meta = protocol::meta;
using detail::CallFacts;
using detail::FlowRequest;

namespace {

// Of a client's capabilities and name, which are kept as long as its session.
constexpr std::size_t introduction_bytes_max = std::size_t{64} << 10;
constexpr std::size_t completions_max = 100;  // schema, CompleteResult

bool is_object_of_strings(const Json& value) {
  const Json::Object* members = value.as_object();
  return members != nullptr &&
         std::ranges::all_of(*members, [](const JsonMember& member) { return member.second.is_string(); });
}

std::string audience_of(const ServerOptions::Settings& settings, const Json& info) {
  return settings.audience.empty() ? *info.find_string("name") : settings.audience;
}

std::shared_ptr<token::Codec> codec_of(const ServerOptions::Settings& settings) {
  if (settings.codec != nullptr) return settings.codec;
  std::shared_ptr<token::RingSource> ring = settings.ring;
  if (ring == nullptr) {
    ring = token::ephemeral_ring(*settings.entropy);
    if (settings.log) {
      settings.log(
          LogLevel::info, "ephemeral_key",
          {{"hint", "request states open on this process only, until it ends; give the server a key ring"}});
    }
  } else if (const std::shared_ptr<const token::KeyRing> in_force = ring->current()) {
    token::log_ring(settings.log, "key_ring", *in_force);
  }
  return std::make_shared<token::NativeCodec>(std::move(ring), *settings.clock, *settings.entropy);
}

Fault at_dispatch(int code, std::string sentence) {
  Fault fault(code, std::move(sentence));
  fault.stage = Fault::Stage::dispatch;
  return fault;
}

Fault invalid(std::string sentence) { return Fault(protocol::invalid_params, std::move(sentence)); }

// The arguments, {} where there are none; null and what is no object are no arguments. They are moved out of the params
// unless these are to be read again.
Result<Json, Fault> take_arguments(Json& params, bool keep) {
  Json* arguments = params.find("arguments");
  if (arguments == nullptr) return Json::object();
  if (!arguments->is_object()) return failure(invalid("arguments must be an object"));
  return keep ? *arguments : std::move(*arguments);
}

// `uri`, if it can be a resource's (S71). Lives as long as the params.
Result<const std::string*, Fault> resource_uri(const Json& params) {
  const std::string* uri = params.find_string("uri");
  if (uri == nullptr) return failure(invalid("uri must be a string"));
  if (uri->size() > detail::uri_bytes_max) return failure(invalid("uri is too long"));
  if (!detail::is_absolute_uri(*uri)) return failure(invalid("uri is no absolute URI"));
  return uri;
}

// Whether a subscription wants the status of tasks (X13).
bool asks_for_tasks(const Json& params) {
  const Json* filter = params.find("notifications");
  return filter != nullptr && filter->contains("taskIds");
}

std::string_view scope_name(CacheScope scope) {
  return scope == CacheScope::public_scope ? "public" : "private";
}

Reply generic_failure() { return failure(Fault(protocol::internal_error, "Internal error")); }

Reply tool_failed() {
  Json content;
  content.set("type", "text");
  content.set("text", "The tool failed.");
  Json result;
  result.set("content", JsonArray(1, std::move(content)));
  result.set("isError", true);
  return result;
}

Reply invalid_arguments(const std::string& sentence) {
  Json content;
  content.set("type", "text");
  content.set("text", "Invalid arguments: " + sentence);
  Json result;
  result.set("content", JsonArray(1, std::move(content)));
  result.set("isError", true);
  return result;
}

using Values = std::vector<std::string>;

Reply completed(const Values& values) {
  Json shown = Json::array();
  for (std::size_t i = 0; i < std::min(values.size(), completions_max); ++i) shown.push_back(values[i]);
  Json body;
  body.set("values", std::move(shown));
  body.set("total", values.size());
  body.set("hasMore", values.size() > completions_max);
  Json result;
  result.set("completion", std::move(body));
  return result;
}

}  // namespace

std::string detail::completion_key(std::string_view ref_type, std::string_view ref,
                                   std::string_view argument) {
  std::string key(ref_type);
  return key.append(1, '\n').append(ref).append(1, '\n').append(argument);
}

struct Server::Impl::Caller {
  bool is_modern = true;
  protocol::Envelope envelope;  // of a session: what its client said in `initialize`
};

Server::Impl::Impl(ServerInfo its_info, const ServerOptions::Settings& its_settings)
    : info(its_info.json()),
      result_meta(Json::object({{meta::server_info, info}})),
      settings(its_settings),
      subscriptions(std::make_shared<detail::Subscriptions>(settings.subscriptions_max)),
      codec_(codec_of(settings)),
      sealer_(codec_, settings.policy, *settings.clock, *settings.entropy, settings.migration),
      workers_(settings.worker_threads_max, settings.worker_queue_max,
               [this](std::size_t functions) {
                 if (!settings.log) return;
                 settings.log(
                     LogLevel::warning, "shutdown_waits",
                     {{"functions", std::to_string(functions)},
                      {"hint", "plain functions that have not returned; their stop tokens have fired"}});
               }),
      flows_(settings, audience_of(settings, info), sealer_, codec_, workers_),
      tasks_(settings, flows_, codec_, audience_of(settings, info), *subscriptions,
             [this](detail::TaskRequest request) { return resumed(std::move(request)); }) {}

void Server::Impl::add_completion(std::string key, Completion completion) {
  const std::lock_guard lock(completions_mutex_);
  completions_[std::move(key)] = std::make_shared<const Completion>(std::move(completion));
}

bool Server::Impl::has_completions() const {
  const std::lock_guard lock(completions_mutex_);
  return !completions_.empty();
}

Task<Reply> Server::Impl::serve(Request request, Exchange& exchange) {
  try {
    // The envelope decides the era, never the method (versioning).
    const bool is_modern = exchange.session == nullptr || protocol::claims_modern(request.params);
    Task<Reply> serving = is_modern ? modern(request, exchange) : legacy(request, exchange);
    Reply reply = co_await serving;
    co_return reply;
  } catch (const std::exception& e) {
    if (settings.log)
      settings.log(LogLevel::error, "dispatch_threw", {{"method", request.method}, {"reason", e.what()}});
  } catch (...) {
    if (settings.log) settings.log(LogLevel::error, "dispatch_threw", {{"method", request.method}});
  }
  co_return generic_failure();
}

Task<Reply> Server::Impl::modern(Request& request, Exchange& exchange) {
  Result<protocol::Envelope, Fault> envelope = protocol::read_envelope(request.params);
  if (!envelope.ok()) co_return failure(std::move(envelope.error()));
  if (!protocol::is_modern_version(envelope->protocol_version)) {
    co_return failure(protocol::unsupported_version_fault(envelope->protocol_version));
  }
  Caller caller;
  caller.envelope = std::move(*envelope);
  if (request.method == method::server_discover) {
    Reply reply = discover();
    finish_modern(*reply);
    co_return reply;
  }
  if (request.method == method::subscriptions_listen) {
    const protocol::ClientCapabilities declared(caller.envelope.client_capabilities);
    if (asks_for_tasks(request.params) && !declared.has_extension(detail::tasks_extension)) {
      co_return failure(protocol::missing_extension(detail::tasks_extension));
    }
    const detail::Announced announced{tools.ever(), prompts.ever(), has_resources()};
    detail::TaskWatch watch;
    if (has_tasks) watch = tasks_.watch(exchange);
    Task<Reply> listening = subscriptions->listen(request, exchange, announced, std::move(watch));
    Reply reply = co_await listening;
    co_return reply;
  }
  Task<Reply> dispatching = dispatch(request, exchange, caller);
  Reply reply = co_await dispatching;
  if (reply.ok()) finish_modern(*reply);
  co_return reply;
}

Task<Reply> Server::Impl::legacy(Request& request, Exchange& exchange) {
  Session& session = *exchange.session;
  if (request.method == method::initialize) co_return initialize(request, exchange);
  if (request.method == method::ping) co_return Json::object();
  if (session.protocol_version.empty()) {
    co_return failure(at_dispatch(protocol::invalid_request, "The session is not initialized"));
  }
  if (request.method == method::logging_set_level) co_return set_log_level(request, session);
  if (request.method == method::resources_subscribe && has_resources()) co_return subscribe(request, session);
  if (request.method == method::resources_unsubscribe && has_resources())
    co_return unsubscribe(request, session);
  Caller caller;
  caller.is_modern = false;
  caller.envelope.protocol_version = session.protocol_version;
  caller.envelope.client_info = session.client_info;
  caller.envelope.client_capabilities = session.client_capabilities;
  caller.envelope.log_level = session.log_level.value_or("info");
  Task<Reply> dispatching = dispatch(request, exchange, caller);
  Reply reply = co_await dispatching;
  co_return reply;
}

// What both eras have in common. A feature that the server does not have is a method that it does not know.
Task<Reply> Server::Impl::dispatch(Request& request, Exchange& exchange, Caller& caller) {
  if (tools.ever() && request.method == method::tools_call) {
    Task<Reply> calling = call_tool(request, exchange, caller);
    Reply reply = co_await calling;
    co_return reply;
  }
  if (prompts.ever() && request.method == method::prompts_get) {
    Task<Reply> getting = get_prompt(request, exchange, caller);
    Reply reply = co_await getting;
    co_return reply;
  }
  if (has_resources() && request.method == method::resources_read) {
    Task<Reply> reading = read_resource(request, exchange, caller);
    Reply reply = co_await reading;
    co_return reply;
  }
  if (tools.ever() && request.method == method::tools_list) co_return list(tools, "tools", request, caller);
  if (prompts.ever() && request.method == method::prompts_list)
    co_return list(prompts, "prompts", request, caller);
  if (has_resources() && request.method == method::resources_list) {
    co_return list(resources, "resources", request, caller);
  }
  if (has_resources() && request.method == method::resources_templates_list) {
    co_return list(templates, "resourceTemplates", request, caller);
  }
  if (has_completions() && request.method == method::completion_complete) {
    Task<Reply> completing = complete(request, exchange);
    Reply reply = co_await completing;
    co_return reply;
  }
  const bool of_task = request.method == method::tasks_get || request.method == method::tasks_update ||
                       request.method == method::tasks_cancel;
  if (of_task && has_tasks && caller.is_modern) {
    Task<Reply> serving = serve_task(request, exchange, caller);
    Reply reply = co_await serving;
    co_return reply;
  }
  co_return failure(at_dispatch(protocol::method_not_found, "Method not found"));
}

void Server::Impl::finish_modern(Json& result) const {
  if (!result.contains("resultType")) result.set("resultType", "complete");
  if (Json* present = result.find("_meta")) {
    present->set(std::string(meta::server_info), info);
  } else {
    result.set("_meta", result_meta);
  }
}

Json Server::Impl::capabilities(bool is_modern) const {
  Json changes;
  changes.set("listChanged", true);
  Json all = Json::object();
  all.set("logging", Json::object());
  if (tools.ever()) all.set("tools", changes);
  if (prompts.ever()) all.set("prompts", changes);
  if (has_resources()) {
    Json subscribable = changes;
    subscribable.set("subscribe", true);
    all.set("resources", std::move(subscribable));
  }
  if (has_completions()) all.set("completions", Json::object());
  if (is_modern && (has_tasks || !settings.extensions.empty())) {
    Json extensions = Json::object();
    if (has_tasks) extensions.set(std::string(detail::tasks_extension), Json::object());
    for (const auto& [id, extension] : settings.extensions) extensions.set(id, extension);
    all.set("extensions", std::move(extensions));
  }
  return all;
}

void Server::Impl::add_cache_hints(Json& result) const {
  result.set("ttlMs", settings.list_ttl.count());
  result.set("cacheScope", scope_name(settings.list_scope));
}

Reply Server::Impl::discover() const {
  Json versions = Json::array();
  for (const std::string_view version : protocol::modern_versions) versions.push_back(version);
  Json result;
  result.set("supportedVersions", std::move(versions));
  result.set("capabilities", capabilities(true));
  if (!settings.instructions.empty()) result.set("instructions", settings.instructions);
  add_cache_hints(result);
  return result;
}

Reply Server::Impl::initialize(const Request& request, Exchange& exchange) {
  Session& session = *exchange.session;
  if (!session.protocol_version.empty()) {
    return failure(at_dispatch(protocol::invalid_request, "The session is initialized already"));
  }
  const std::string* requested = request.params.find_string("protocolVersion");
  const Json* client = request.params.find("clientInfo");
  const Json* declared = request.params.find("capabilities");
  if (requested == nullptr || client == nullptr || !client->is_object() ||
      (declared != nullptr && !declared->is_object())) {
    return failure(invalid("initialize needs protocolVersion, capabilities and clientInfo"));
  }
  const std::size_t kept =
      json::write(*client).size() + (declared == nullptr ? 0 : json::write(*declared).size());
  if (kept > introduction_bytes_max) return failure(invalid("capabilities and clientInfo are too large"));
  session.protocol_version = protocol::negotiate_handshake(*requested);
  session.client_info = *client;
  session.client_capabilities = detail::capabilities_of_revision(
      declared == nullptr ? Json::object() : *declared, session.protocol_version);
  subscriptions->open_session(exchange);
  Json result;
  result.set("protocolVersion", session.protocol_version);
  result.set("capabilities", capabilities(false));
  result.set("serverInfo", info);
  if (!settings.instructions.empty()) result.set("instructions", settings.instructions);
  return result;
}

Reply Server::Impl::set_log_level(const Request& request, Session& session) {
  const std::string* level = request.params.find_string("level");
  if (level == nullptr || !protocol::log_level_rank(*level))
    return failure(invalid("There is no such level"));
  session.log_level = *level;
  return Json::object();
}

Reply Server::Impl::subscribe(const Request& request, Session& session) {
  const Result<const std::string*, Fault> uri = resource_uri(request.params);
  if (!uri.ok()) return failure(uri.error());
  if (!subscriptions->subscribe(session, **uri)) return failure(invalid("No more subscriptions are taken"));
  return Json::object();
}

Reply Server::Impl::unsubscribe(const Request& request, Session& session) {
  const std::string* uri = request.params.find_string("uri");
  if (uri == nullptr) return failure(invalid("uri must be a string"));
  subscriptions->unsubscribe(session, *uri);
  return Json::object();
}

namespace {

const Json& shown(const detail::ToolEntry& tool, bool is_modern) {
  return is_modern ? tool.listed : tool.listed_legacy;
}
template <typename T>
const Json& shown(const T& entry, bool /*is_modern*/) {
  return entry.listed;
}

}  // namespace

template <typename T>
Reply Server::Impl::list(const detail::Catalogue<T>& catalogue, std::string_view member,
                         const Request& request, const Caller& caller) const {
  const Json* cursor = request.params.find("cursor");
  if (cursor != nullptr && !cursor->is_string()) return failure(invalid("Invalid cursor"));
  const auto page = catalogue.page(cursor == nullptr ? nullptr : cursor->as_string(), settings.page_size);
  if (!page) return failure(invalid("Invalid cursor"));
  JsonArray entries;
  entries.reserve(page->entries.size());
  for (const auto& entry : page->entries) entries.push_back(shown(*entry, caller.is_modern));
  Json result;
  result.set(std::string(member), std::move(entries));
  if (!page->next.empty()) result.set("nextCursor", page->next);
  if (caller.is_modern) add_cache_hints(result);
  return result;
}

std::shared_ptr<CallFacts> Server::Impl::facts(Request& request, const Exchange& exchange, Caller& caller,
                                               std::string target) const {
  auto facts = std::make_shared<CallFacts>();
  facts->principal = exchange.principal;
  facts->client_info = std::move(caller.envelope.client_info);
  facts->client_capabilities = std::move(caller.envelope.client_capabilities);
  facts->protocol_version = caller.envelope.protocol_version;
  facts->legacy = !caller.is_modern;
  facts->entropy = settings.entropy;
  if (const Json* token = protocol::progress_token(request.params)) facts->progress_token = *token;
  if (Json* request_meta = request.params.find(meta::member)) {
    // The states of other systems may be bound to all of the params.
    facts->meta = sealer_.reads_params() ? Json(*request_meta) : std::move(*request_meta);
  }
  if (caller.envelope.log_level) facts->log_rank = protocol::log_level_rank(*caller.envelope.log_level);
  facts->method = request.method;
  facts->target = std::move(target);
  facts->rounds_max = settings.policy.rounds_max;
  return facts;
}

Task<Reply> Server::Impl::call_tool(Request& request, Exchange& exchange, Caller& caller) {
  const std::string* name = request.params.find_string("name");
  if (name == nullptr) co_return failure(invalid("name must be a string"));
  const std::shared_ptr<const detail::ToolEntry> tool = tools.find(*name);
  if (tool == nullptr) co_return failure(invalid("Unknown tool"));
  Result<Json, Fault> arguments = take_arguments(request.params, sealer_.reads_params());
  if (!arguments.ok()) co_return failure(std::move(arguments.error()));
  if (caller.is_modern && exchange.header && !tool->mirrored.empty()) {
    std::optional<Fault> mismatch = protocol::check_mirrored(tool->mirrored, *arguments, exchange.header);
    if (mismatch) co_return failure(std::move(*mismatch));
  }
  std::optional<std::string> objection = tool->input->check(*arguments);
  if (objection) co_return invalid_arguments(*objection);

  const bool is_modern = caller.is_modern;
  const protocol::ClientCapabilities declared(caller.envelope.client_capabilities);
  const bool knows_tasks = is_modern && declared.has_extension(detail::tasks_extension);
  if (is_modern && !knows_tasks && tool->task_support == TaskSupport::required) {
    co_return failure(protocol::missing_extension(detail::tasks_extension));
  }
  std::shared_ptr<CallFacts> call_facts = facts(request, exchange, caller, *name);
  call_facts->may_become_task = knows_tasks && tool->task_support != TaskSupport::none;
  FlowRequest flow = flow_of(tool, std::move(call_facts), std::move(*arguments));
  flow.params = &request.params;
  flow.task_at_once = flow.facts->may_become_task && tool->task_start == TaskStart::at_once;
  flow.become_task = [this](const FlowRequest& as, rounds::Journal journal, Executor& executor) {
    return tasks_.create(as, std::move(journal), executor);
  };
  Task<Reply> serving = flows_.serve(flow, exchange);
  Reply reply = co_await serving;
  co_return reply;
}

FlowRequest Server::Impl::flow_of(std::shared_ptr<const detail::ToolEntry> tool,
                                  std::shared_ptr<CallFacts> facts, Json arguments) const {
  const bool is_modern = !facts->legacy;
  FlowRequest flow(nullptr, std::move(facts), tool->handler, tool);
  flow.input = std::move(arguments);
  flow.policy = tool->policy;
  flow.complete = [this, tool, is_modern](Json members) {
    return finish_tool(*tool, std::move(members), is_modern);
  };
  flow.failed = &tool_failed;
  return flow;
}

// Of a task that was begun elsewhere, or before a restart. The arguments are checked again: the schema may have changed.
std::optional<FlowRequest> Server::Impl::resumed(detail::TaskRequest request) const {
  const std::shared_ptr<const detail::ToolEntry> tool = tools.find(request.facts->target);
  const bool fits = tool != nullptr && tool->task_support != TaskSupport::none &&
                    !tool->input->check(request.input).has_value();
  if (!fits) return std::nullopt;
  return flow_of(tool, std::move(request.facts), std::move(request.input));
}

// X3, X16: the extension is looked for before the task is.
Task<Reply> Server::Impl::serve_task(const Request& request, Exchange& exchange, const Caller& caller) {
  const protocol::ClientCapabilities declared(caller.envelope.client_capabilities);
  if (!declared.has_extension(detail::tasks_extension)) {
    co_return failure(protocol::missing_extension(detail::tasks_extension));
  }
  Task<Reply> serving;
  if (request.method == method::tasks_get) {
    serving = tasks_.get(request, exchange);
  } else if (request.method == method::tasks_update) {
    serving = tasks_.update(request, exchange);
  } else {
    serving = tasks_.cancel(request, exchange);
  }
  Reply reply = co_await serving;
  co_return reply;
}

// S65: what does not fit the output schema is not sent.
Reply Server::Impl::finish_tool(const detail::ToolEntry& tool, Json members, bool is_modern) const {
  const Json* structured = members.find("structuredContent");
  const bool is_error = members.contains("isError");
  if (tool.output != nullptr && !is_error) {
    std::optional<std::string> objection = structured == nullptr
                                               ? std::optional<std::string>("it has no structured content")
                                               : tool.output->check(*structured);
    if (objection) {
      if (settings.log) {
        settings.log(LogLevel::error, "output_refused", {{"tool", tool.key}, {"reason", *objection}});
      }
      return generic_failure();
    }
  }
  // Structured content is an object in the handshake revisions.
  if (!is_modern && structured != nullptr && !structured->is_object()) members.erase("structuredContent");
  return members;
}

Task<Reply> Server::Impl::get_prompt(Request& request, Exchange& exchange, Caller& caller) {
  const std::string* name = request.params.find_string("name");
  if (name == nullptr) co_return failure(invalid("name must be a string"));
  const std::shared_ptr<const detail::PromptEntry> prompt = prompts.find(*name);
  if (prompt == nullptr) co_return failure(invalid("Unknown prompt"));
  Result<Json, Fault> arguments = take_arguments(request.params, sealer_.reads_params());
  if (!arguments.ok()) co_return failure(std::move(arguments.error()));
  if (!is_object_of_strings(*arguments)) co_return failure(invalid("arguments of prompts are strings"));
  for (const std::string& required : prompt->required) {
    if (!arguments->contains(required))
      co_return failure(invalid("The argument '" + required + "' is missing"));
  }

  FlowRequest flow(&request.params, facts(request, exchange, caller, *name), prompt->handler, prompt);
  flow.input = std::move(*arguments);
  flow.policy = prompt->policy;
  flow.complete = [](Json members) { return Reply(std::move(members)); };
  flow.failed = &generic_failure;
  Task<Reply> serving = flows_.serve(flow, exchange);
  Reply reply = co_await serving;
  co_return reply;
}

Fault Server::Impl::not_found(const std::string& uri, bool is_modern) {
  Json data;
  data.set("uri", uri);
  return Fault(is_modern ? protocol::invalid_params : protocol::legacy_resource_not_found,
               "Resource not found", std::move(data));
}

Task<Reply> Server::Impl::read_resource(Request& request, Exchange& exchange, Caller& caller) {
  const Result<const std::string*, Fault> named = resource_uri(request.params);
  if (!named.ok()) co_return failure(named.error());
  const std::string* uri = *named;
  Json variables = Json::object();
  std::shared_ptr<const detail::ResourceEntry> resource = resources.find(*uri);
  if (resource == nullptr) {
    for (const std::shared_ptr<const detail::ResourceEntry>& candidate : templates.all()) {
      std::optional<Json> matched = candidate->uri_template->match(*uri, candidate->climbing);
      if (!matched) continue;
      resource = candidate;
      variables = std::move(*matched);
      break;
    }
  }
  const bool is_modern = caller.is_modern;
  if (resource == nullptr) co_return failure(not_found(*uri, is_modern));

  const std::string target = *uri;
  FlowRequest flow(&request.params, facts(request, exchange, caller, target), resource->handler, resource);
  flow.input = std::move(variables);
  flow.input_is_arguments = false;
  flow.policy = resource->policy;
  flow.complete = [this, &resource, &target, is_modern](Json members) {
    return finish_resource(*resource, target, std::move(members), is_modern);
  };
  flow.failed = &generic_failure;
  Task<Reply> serving = flows_.serve(flow, exchange);
  Reply reply = co_await serving;
  const bool missing = !reply.ok() && reply.error().code == protocol::legacy_resource_not_found;
  if (missing) co_return failure(not_found(target, is_modern));
  co_return reply;
}

Reply Server::Impl::finish_resource(const detail::ResourceEntry& resource, const std::string& uri,
                                    Json members, bool is_modern) const {
  for (Json& contents : *members.find("contents")->as_array()) {
    if (!contents.contains("uri")) contents.set("uri", uri);
  }
  if (!is_modern) {
    members.erase("ttlMs");
    members.erase("cacheScope");
  } else if (!members.contains("ttlMs")) {
    members.set("ttlMs", resource.ttl.count());
    members.set("cacheScope", scope_name(resource.scope));
  }
  return members;
}

// S78: what the request asks to be completed, if it makes sense; the function that does, or null where there is none.
Result<Server::Impl::Completing, Fault> Server::Impl::read_completion(const Request& request) const {
  const Json* ref = request.params.find("ref");
  const Json* argument = request.params.find("argument");
  const std::string* type = ref == nullptr ? nullptr : ref->find_string("type");
  const std::string* name = argument == nullptr ? nullptr : argument->find_string("name");
  const std::string* value = argument == nullptr ? nullptr : argument->find_string("value");
  if (type == nullptr || name == nullptr || value == nullptr)
    return failure(invalid("ref and argument are needed"));
  const bool of_prompt = *type == "ref/prompt";
  const std::string* key = ref->find_string(of_prompt ? "name" : "uri");
  const bool known = key != nullptr &&
                     (of_prompt ? prompts.find(*key) != nullptr
                                : *type == "ref/resource" &&
                                      (templates.find(*key) != nullptr || resources.find(*key) != nullptr));
  if (!known) return failure(invalid("Unknown reference"));
  const Json* context = request.params.find("context");
  if (context != nullptr && !context->is_object()) return failure(invalid("context must be an object"));
  const Json* known_arguments = context == nullptr ? nullptr : context->find("arguments");
  if (known_arguments != nullptr && !is_object_of_strings(*known_arguments))
    return failure(invalid("arguments of the context must be an object of strings"));

  Completing completing;
  completing.asked.emplace(*value, known_arguments == nullptr ? Json::object() : *known_arguments);
  const std::lock_guard lock(completions_mutex_);
  const auto found = completions_.find(detail::completion_key(*type, *key, *name));
  if (found != completions_.end()) completing.function = found->second;
  return completing;
}

// The function may block like a plain handler, and has a thread of the server's like one.
Task<Reply> Server::Impl::complete(const Request& request, Exchange& exchange) {
  Result<Completing, Fault> completing = read_completion(request);
  if (!completing.ok()) co_return failure(std::move(completing.error()));
  if (completing->function == nullptr) co_return completed(Values());
  const auto crossing = std::make_shared<Crossing<Values>>(*exchange.executor);
  const Waiting<Values> waiting(crossing);
  const bool taken = workers_.submit([crossing, work = std::move(*completing)] {
    try {
      crossing->deliver((*work.function)(*work.asked));
    } catch (...) {
      crossing->deliver(failure(detail::text_of(std::current_exception())));
    }
  });
  if (!taken) co_return failure(Fault(protocol::internal_error, "The server is busy"));
  const OneShot<Result<Values>> done = crossing->done();
  Result<Values> values = co_await done;
  if (!values.ok()) {
    if (settings.log) settings.log(LogLevel::error, "completion_threw", {{"reason", values.error().message}});
    co_return generic_failure();
  }
  co_return completed(*values);
}

}  // namespace signet
