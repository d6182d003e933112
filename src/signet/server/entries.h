// Tools, prompts and resources as the server keeps them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <signet/json/value.h>
#include <signet/protocol/mirrored_headers.h>
#include <signet/server/compiled_schema.h>
#include <signet/server/flow.h>
#include <signet/server/handler.h>
#include <signet/server/options.h>
#include <signet/server/uri_template.h>

namespace signet::detail {

struct ToolEntry {
  std::string key;
  Json listed;         // as tools/list shows it
  Json listed_legacy;  // to clients of the handshake revisions: output schemas are objects there
  Handler handler;
  std::shared_ptr<const CompiledSchema> input;
  std::shared_ptr<const CompiledSchema> output;  // null where there is none
  std::vector<protocol::MirroredHeader> mirrored;
  TaskSupport task_support = TaskSupport::none;
  TaskStart task_start = TaskStart::at_once;
  FlowPolicy policy;
};

struct PromptEntry {
  std::string key;
  Json listed;
  Handler handler;
  std::vector<std::string> required;
  FlowPolicy policy;
};

struct ResourceEntry {
  std::string key;  // the URI, or the template
  Json listed;
  Handler handler;
  std::optional<UriTemplate> uri_template;
  Climbing climbing = Climbing::refused;
  std::string mime_type;
  std::chrono::milliseconds ttl{0};
  CacheScope scope = CacheScope::private_scope;
  FlowPolicy policy;
};

// Each throws std::invalid_argument with the name and what is wrong.
std::shared_ptr<const ToolEntry> make_tool(std::string name, std::string description, Json input_schema,
                                           Json output_schema, Handler handler,
                                           const ToolOptions::Settings& options,
                                           const ServerOptions::Settings& server);
std::shared_ptr<const PromptEntry> make_prompt(std::string name, std::string description,
                                               const Json& input_schema, Handler handler,
                                               const PromptOptions::Settings& options,
                                               const ServerOptions::Settings& server);
std::shared_ptr<const ResourceEntry> make_resource(std::string uri, std::string name, Handler handler,
                                                   const ResourceOptions::Settings& options,
                                                   const ServerOptions::Settings& server);
// The schema, where there is one, is that of the handler's input: its members are the variables of the template.
std::shared_ptr<const ResourceEntry> make_resource_template(std::string uri, std::string name,
                                                            const Json& input_schema, Handler handler,
                                                            const ResourceOptions::Settings& options,
                                                            const ServerOptions::Settings& server);

}  // namespace signet::detail
