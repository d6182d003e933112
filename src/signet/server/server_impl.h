// The inside of Server: from a request to the handler it is for.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <signet/json/value.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/service.h>
#include <signet/server/catalogue.h>
#include <signet/server/entries.h>
#include <signet/server/flow.h>
#include <signet/server/options.h>
#include <signet/server/server.h>
#include <signet/server/subscriptions.h>
#include <signet/server/tasks.h>
#include <signet/server/worker_pool.h>
#include <signet/token/sealer.h>

namespace signet {

class Server::Impl {
 public:
  Impl(ServerInfo info, const ServerOptions::Settings& settings);

  Task<Reply> serve(Request request, Exchange& exchange);
  void shut_down() { subscriptions->shut_down(); }

  const Json info;
  const Json result_meta;  // what a result says of the server, where it says nothing else
  const ServerOptions::Settings settings;
  detail::Catalogue<detail::ToolEntry> tools{"tools"};
  detail::Catalogue<detail::PromptEntry> prompts{"prompts"};
  detail::Catalogue<detail::ResourceEntry> resources{"resources"};
  detail::Catalogue<detail::ResourceEntry> templates{"resource templates"};
  std::shared_ptr<detail::Subscriptions> subscriptions;

  // From the first tool that may be a task on.
  std::atomic<bool> has_tasks{false};

  void add_completion(std::string key, Completion completion);

 private:
  // Whether a request is modern or belongs to a session, and what it says of its sender.
  struct Caller;

  Task<Reply> modern(Request& request, Exchange& exchange);
  Task<Reply> legacy(Request& request, Exchange& exchange);
  Task<Reply> dispatch(Request& request, Exchange& exchange, Caller& caller);

  Reply discover() const;
  Reply initialize(const Request& request, Exchange& exchange);
  Reply set_log_level(const Request& request, Session& session);
  Reply subscribe(const Request& request, Session& session);
  Reply unsubscribe(const Request& request, Session& session);

  template <typename T>
  Reply list(const detail::Catalogue<T>& catalogue, std::string_view member, const Request& request,
             const Caller& caller) const;
  Task<Reply> call_tool(Request& request, Exchange& exchange, Caller& caller);
  // A call of the tool; `params` are still to be named where there are any.
  detail::FlowRequest flow_of(std::shared_ptr<const detail::ToolEntry> tool,
                              std::shared_ptr<detail::CallFacts> facts, Json arguments) const;
  std::optional<detail::FlowRequest> resumed(detail::TaskRequest request) const;
  Task<Reply> serve_task(const Request& request, Exchange& exchange, const Caller& caller);
  Task<Reply> get_prompt(Request& request, Exchange& exchange, Caller& caller);
  Task<Reply> read_resource(Request& request, Exchange& exchange, Caller& caller);
  // A function that completes, and what it is asked.
  struct Completing {
    std::shared_ptr<const Completion> function;  // null: no values
    std::optional<CompletionRequest> asked;
  };
  Result<Completing, Fault> read_completion(const Request& request) const;
  Task<Reply> complete(const Request& request, Exchange& exchange);

  std::shared_ptr<detail::CallFacts> facts(Request& request, const Exchange& exchange, Caller& caller,
                                           std::string target) const;
  Json capabilities(bool is_modern) const;
  bool has_resources() const { return resources.ever() || templates.ever(); }
  bool has_completions() const;
  void add_cache_hints(Json& result) const;
  Reply finish_tool(const detail::ToolEntry& tool, Json members, bool is_modern) const;
  Reply finish_resource(const detail::ResourceEntry& resource, const std::string& uri, Json members,
                        bool is_modern) const;
  // How the reply of a resource that is not there looks (S69).
  static Fault not_found(const std::string& uri, bool is_modern);
  // resultType and `_meta` of a modern result.
  void finish_modern(Json& result) const;

  std::shared_ptr<token::Codec> codec_;
  token::Sealer sealer_;
  detail::WorkerPool workers_;
  detail::Flows flows_;
  detail::Tasks tasks_;  // behind what its runs use
  mutable std::mutex completions_mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Completion>> completions_;
};

namespace detail {

// Where the completion of an argument is filed.
std::string completion_key(std::string_view ref_type, std::string_view ref, std::string_view argument);

}  // namespace detail

}  // namespace signet
