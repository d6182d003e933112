#include <signet/server/entries.h>

#include <signet/base/bytes.h>
#include <signet/base/digest.h>
#include <signet/server/catalogue.h>
#include <signet/token/key_ring.h>

#include <algorithm>
#include <stdexcept>

namespace signet::detail {

namespace {

constexpr std::size_t name_bytes_max = 128;
constexpr std::string_view template_kind = "resource template";

[[noreturn]] void reject(std::string_view kind, const std::string& name, const std::string& reason) {
  throw std::invalid_argument(std::string(kind) + " '" + name + "': " + reason);
}

// server, tools, "Tool names"
bool is_tool_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= name_bytes_max && std::all_of(name.begin(), name.end(), allowed);
}

void set_text(Json& json, std::string_view name, const std::string& text) {
  if (!text.empty()) json.set(std::string(name), text);
}

void set_some(Json& json, std::string_view name, const Json& value) {
  if (!value.is_null()) json.set(std::string(name), value);
}

void set_icons(Json& json, const JsonArray& icons) {
  if (!icons.empty()) json.set("icons", icons);
}

// Whether a state can be redeemed where nobody knows that it was redeemed already: in another process, or after a restart.
bool may_be_redeemed_again(const ServerOptions::Settings& server) {
  const bool states_outlive_process =
      server.codec == nullptr && server.ring != nullptr && server.ring->outlives_process();
  return states_outlive_process && !server.redemption_store->outlives_process();
}

template <typename Options>
FlowPolicy policy_of(const Options& options, const ServerOptions::Settings& server, std::string_view kind,
                     const std::string& name) {
  if (options.redemption != token::Redemption::many && server.redemption_store == nullptr) {
    reject(kind, name, "may be redeemed once only, which needs a redemption store");
  }
  if (options.redemption != token::Redemption::many && may_be_redeemed_again(server) && server.log) {
    server.log(LogLevel::warning, "once_in_this_process_only",
               {{"kind", std::string(kind)},
                {"name", name},
                {"hint",
                 "states outlive this process and what it redeemed does not: another process with this ring, "
                 "or this one after a restart, accepts a state again; a SQLite or Redis store does not"}});
  }
  FlowPolicy policy;
  policy.lifetime = options.lifetime;
  policy.time_limit = options.time_limit.value_or(server.handler_time_limit);
  policy.redemption = options.redemption;
  policy.accepts_unasked_answers = options.accepts_unasked_answers;
  return policy;
}

std::shared_ptr<const CompiledSchema> compile(const Json& schema, const std::string& name,
                                              std::string_view which) {
  Result<std::shared_ptr<const CompiledSchema>> compiled =
      CompiledSchema::compile(schema, Formats::annotated);
  if (!compiled.ok()) reject("tool", name, std::string(which) + ": " + compiled.error().message);
  return std::move(*compiled);
}

bool describes_an_object(const Json& schema) {
  const std::string* type = schema.find_string("type");
  return type != nullptr && *type == "object";
}

// The arguments of a prompt, from the schema of a type: its string members.
JsonArray prompt_arguments(const std::string& name, const Json& schema) {
  JsonArray arguments;
  const Json* properties = schema.find("properties");
  if (properties == nullptr) return arguments;
  const Json* required = schema.find("required");
  for (const JsonMember& member : *properties->as_object()) {
    const std::string* type = member.second.find_string("type");
    if (type == nullptr || *type != "string") {
      reject("prompt", name, "arguments of prompts are strings, and '" + member.first + "' is none");
    }
    Json argument;
    argument.set("name", member.first);
    if (const std::string* title = member.second.find_string("title")) argument.set("title", *title);
    if (const std::string* text = member.second.find_string("description"))
      argument.set("description", *text);
    const bool needed =
        required != nullptr && std::find(required->as_array()->begin(), required->as_array()->end(),
                                         Json(member.first)) != required->as_array()->end();
    argument.set("required", needed);
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

// Members of the handler's input and variables of the template are the same, or a read could never be served.
void require_variables(const std::string& uri, const UriTemplate& variables, const Json& schema) {
  if (schema.is_null()) return;
  const Json* declared = schema.find("properties");
  const Json properties = declared != nullptr ? *declared : Json::object();
  for (const JsonMember& member : *properties.as_object()) {
    const std::string* type = member.second.find_string("type");
    if (type == nullptr || *type != "string") {
      reject(template_kind, uri, "variables are strings, and '" + member.first + "' is none");
    }
    if (!variables.has_variable(member.first)) {
      reject(template_kind, uri, "the handler takes '" + member.first + "', which is no variable of it");
    }
  }
  for (const std::string_view variable : variables.variables()) {
    if (properties.find(variable) == nullptr) {
      reject(template_kind, uri, "the handler does not take the variable '" + std::string(variable) + "'");
    }
  }
}

std::shared_ptr<ResourceEntry> resource_entry(std::string_view kind, std::string uri, std::string name,
                                              Handler handler, const ResourceOptions::Settings& options,
                                              const ServerOptions::Settings& server) {
  auto entry = std::make_shared<ResourceEntry>();
  entry->policy = policy_of(options, server, kind, uri);
  entry->handler = std::move(handler);
  entry->mime_type = options.mime_type;
  entry->ttl = options.ttl;
  entry->scope = options.scope;
  Json& listed = entry->listed;
  listed.set(kind == template_kind ? "uriTemplate" : "uri", uri);
  listed.set("name", std::move(name));
  set_text(listed, "title", options.title);
  set_text(listed, "description", options.description);
  set_text(listed, "mimeType", options.mime_type);
  if (options.size && kind != template_kind) listed.set("size", *options.size);
  set_some(listed, "annotations", options.annotations);
  set_icons(listed, options.icons);
  set_some(listed, "_meta", options.meta);
  entry->key = std::move(uri);
  return entry;
}

}  // namespace

std::string cursor_after(std::string_view kind, std::string_view key) {
  const std::string_view separator("\0", 1);
  const Digest digest = sha256({as_bytes(kind), as_bytes(separator), as_bytes(key)});
  return hex(ByteView(digest).first(16));
}

std::shared_ptr<const ToolEntry> make_tool(std::string name, std::string description, Json input_schema,
                                           Json output_schema, Handler handler,
                                           const ToolOptions::Settings& options,
                                           const ServerOptions::Settings& server) {
  if (!is_tool_name(name)) reject("tool", name, "a name is 1 to 128 characters of A-Z a-z 0-9 _ - .");
  if (!options.input_schema.is_null()) input_schema = options.input_schema;
  if (!options.output_schema.is_null()) output_schema = options.output_schema;
  if (input_schema.is_null()) input_schema = Json::object({{"type", "object"}});
  if (!describes_an_object(input_schema)) reject("tool", name, "the input schema must have the type object");

  auto entry = std::make_shared<ToolEntry>();
  entry->input = compile(input_schema, name, "input schema");
  if (!output_schema.is_null()) entry->output = compile(output_schema, name, "output schema");
  Result<std::vector<protocol::MirroredHeader>> mirrored = protocol::mirrored_headers(input_schema);
  if (!mirrored.ok()) reject("tool", name, mirrored.error().message);
  entry->mirrored = std::move(*mirrored);
  entry->policy = policy_of(options, server, "tool", name);
  entry->policy.flow_lifetime = options.flow_lifetime;
  entry->task_support = options.task_support;
  entry->task_start = options.task_start;
  entry->handler = std::move(handler);

  Json& listed = entry->listed;
  listed.set("name", name);
  set_text(listed, "title", options.title);
  set_text(listed, "description", description);
  listed.set("inputSchema", std::move(input_schema));
  set_some(listed, "annotations", options.annotations);
  set_icons(listed, options.icons);
  set_some(listed, "_meta", options.meta);
  entry->listed_legacy = listed;
  if (!output_schema.is_null()) {
    if (describes_an_object(output_schema)) entry->listed_legacy.set("outputSchema", output_schema);
    listed.set("outputSchema", std::move(output_schema));
  }
  entry->key = std::move(name);
  return entry;
}

std::shared_ptr<const PromptEntry> make_prompt(std::string name, std::string description,
                                               const Json& input_schema, Handler handler,
                                               const PromptOptions::Settings& options,
                                               const ServerOptions::Settings& server) {
  if (name.empty()) reject("prompt", name, "a prompt needs a name");
  JsonArray arguments = input_schema.is_null() ? options.arguments : prompt_arguments(name, input_schema);
  auto entry = std::make_shared<PromptEntry>();
  for (const Json& argument : arguments) {
    if (*argument.find("required") == Json(true)) entry->required.push_back(*argument.find_string("name"));
  }
  entry->policy = policy_of(options, server, "prompt", name);
  entry->handler = std::move(handler);
  Json& listed = entry->listed;
  listed.set("name", name);
  set_text(listed, "title", options.title);
  set_text(listed, "description", description);
  if (!arguments.empty()) listed.set("arguments", std::move(arguments));
  set_icons(listed, options.icons);
  set_some(listed, "_meta", options.meta);
  entry->key = std::move(name);
  return entry;
}

std::shared_ptr<const ResourceEntry> make_resource(std::string uri, std::string name, Handler handler,
                                                   const ResourceOptions::Settings& options,
                                                   const ServerOptions::Settings& server) {
  if (!is_absolute_uri(uri)) reject("resource", uri, "an absolute URI is needed, as RFC 3986 has them");
  return resource_entry("resource", std::move(uri), std::move(name), std::move(handler), options, server);
}

std::shared_ptr<const ResourceEntry> make_resource_template(std::string uri, std::string name,
                                                            const Json& input_schema, Handler handler,
                                                            const ResourceOptions::Settings& options,
                                                            const ServerOptions::Settings& server) {
  Result<UriTemplate> parsed = UriTemplate::parse(uri);
  if (!parsed.ok()) reject(template_kind, uri, parsed.error().message);
  require_variables(uri, *parsed, input_schema);
  const auto entry =
      resource_entry(template_kind, std::move(uri), std::move(name), std::move(handler), options, server);
  entry->uri_template = std::move(*parsed);
  if (options.variables_may_climb) entry->climbing = Climbing::allowed;
  return entry;
}

}  // namespace signet::detail
