// What is said of a server and of what it offers, beside names and handlers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/log.h>
#include <signet/json/value.h>
#include <signet/server/content.h>
#include <signet/server/results.h>
#include <signet/token/redemption.h>
#include <signet/token/sealer.h>

namespace signet::token {
class RingSource;  // token/key_ring.h
class TaskStore;   // token/task_store.h
}  // namespace signet::token

namespace signet {

using token::Redemption;

// How the server names itself (schema, Implementation).
class ServerInfo {
 public:
  ServerInfo(std::string name, std::string version) {
    json_.set("name", std::move(name));
    json_.set("version", std::move(version));
  }
  ServerInfo& title(std::string title);
  ServerInfo& description(std::string description);
  ServerInfo& website_url(std::string url);
  ServerInfo& icon(const Icon& icon);
  const Json& json() const { return json_; }

 private:
  Json json_;
};

// Tasks (the extension io.modelcontextprotocol/tasks): how many there may be, and how long they are looked after.
struct TaskPolicy {
  std::size_t tasks_max = 4096;  // kept at a time; beyond, calls that would become one fail (-32603)
  std::size_t principal_tasks_max = 1024;  // the same of one caller; all anonymous ones are one
  // Where there is no task_store: of all that tasks keep in this process's memory.
  std::size_t memory_bytes_max = std::size_t{64} << 20;
  // How long a task is kept after its end; and how long its questions wait for answers.
  std::chrono::milliseconds kept = std::chrono::hours(1);
  // With a task_store: an instance that runs a task says so at each heartbeat, and hears there that it was cancelled. One
  // that has not for the lease is taken for dead, and the task has failed.
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  std::chrono::milliseconds heartbeat = std::chrono::seconds(5);
  // How often clients should ask, and how often a task_store is looked at for those who listen.
  std::chrono::milliseconds poll_interval = std::chrono::seconds(1);
};

// Everything a server can be given. Each setter returns *this; what is not set has the default that is named here.
class ServerOptions {
 public:
  struct Settings {
    std::shared_ptr<token::RingSource> ring;
    std::shared_ptr<token::Codec> codec;
    token::Policy policy;
    token::Migration migration;
    std::string audience;
    std::shared_ptr<token::RedemptionStore> redemption_store;
    std::shared_ptr<token::TaskStore> task_store;
    TaskPolicy tasks;
    const Clock* clock = &system_clock();
    Entropy* entropy = &system_entropy();
    LogSink log = log_to_stderr(LogLevel::warning);
    Metrics* metrics = &no_metrics();
    std::string instructions;
    std::size_t page_size = 100;
    std::chrono::milliseconds list_ttl{60'000};
    CacheScope list_scope = CacheScope::private_scope;
    std::size_t worker_threads_max = 64;
    std::size_t worker_queue_max = 1024;
    std::size_t subscriptions_max = 1024;
    std::chrono::milliseconds handler_time_limit{0};
    std::vector<std::pair<std::string, Json>> extensions;
  };

  ServerOptions() = default;

  // The keys that seal the request states: keys/ring_file.h, token/key_ring.h. Instances with the same ring finish what
  // another one asked. Default: a ring of one random key, which no other process and no restart can open.
  ServerOptions& ring(std::shared_ptr<token::RingSource> ring);
  // Another way to seal them than the native one (token/codec.h); goes before a ring.
  ServerOptions& codec(std::shared_ptr<token::Codec> codec);
  // Lives and sizes of states, and how many rounds a flow may have.
  ServerOptions& policy(token::Policy policy);
  // States of another system that are still under way (token/foreign.h).
  ServerOptions& migration(token::Migration migration);
  // Which service the states belong to; the same on all its instances. Default: the server's name.
  ServerOptions& audience(std::string audience);
  // Needed before a tool may say Redemption::once.
  ServerOptions& redemption_store(std::shared_ptr<token::RedemptionStore> store);
  // Where tasks are kept, so that any instance with the same store, ring and audience answers for them, goes on with those
  // that waited for input, and all of them survive a restart (store/; doc/operations.md, "Tasks"). What is kept there is
  // sealed like a request state. Default: the memory of this process.
  ServerOptions& task_store(std::shared_ptr<token::TaskStore> store);
  // Limits and times of tasks. A heartbeat is at most half the lease.
  ServerOptions& tasks(TaskPolicy policy);
  // Borrowed, and outlive the server.
  ServerOptions& clock(const Clock& clock);
  ServerOptions& entropy(Entropy& entropy);
  ServerOptions& metrics(Metrics& metrics);
  // Default: warnings and errors, to standard error. An empty sink keeps silent.
  ServerOptions& log(LogSink sink);
  // What the client's model is told about the server as a whole.
  ServerOptions& instructions(std::string text);
  // Entries on one page of a list; at least 1.
  ServerOptions& page_size(std::size_t entries);
  // What the lists and the discovery say of caching. Default: one minute, private.
  ServerOptions& list_cache(std::chrono::milliseconds ttl, CacheScope scope = CacheScope::private_scope);
  // Threads for handlers that are plain functions, made as they are needed, and how many calls may wait for one. Beyond
  // it a call is refused as busy (-32603).
  ServerOptions& worker_threads(std::size_t threads_max, std::size_t queue_max = 1024);
  // Open subscriptions/listen streams at a time, over all clients.
  ServerOptions& subscriptions_max(std::size_t streams);
  // How long one run of a handler may take; the time in which a person thinks does not count. Default: no limit.
  ServerOptions& handler_time_limit(std::chrono::milliseconds limit);
  // An extension the server announces, with its settings (basic, versioning, "Extensions"; B14).
  ServerOptions& extension(std::string id, Json settings = Json::object());

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

// Whether a call of a tool may go on as a task after its reply (extension io.modelcontextprotocol/tasks).
enum class TaskSupport : std::uint8_t {
  none,
  optional,  // where the client declares the extension; else the call is served as usual
  required,  // clients of 2026-07-28 that do not declare it are refused with -32021
};
enum class TaskStart : std::uint8_t {
  at_once,     // the handler runs in the task alone
  by_handler,  // with `co_await call.start_task()`; what is asked before it is asked in rounds
};

class ToolOptions {
 public:
  struct Settings {
    std::string title;
    Json annotations;
    JsonArray icons;
    Json meta;
    Json input_schema;
    Json output_schema;
    std::optional<std::chrono::milliseconds> lifetime;
    std::optional<std::chrono::milliseconds> flow_lifetime;
    std::optional<std::chrono::milliseconds> time_limit;
    Redemption redemption = Redemption::many;
    bool accepts_unasked_answers = false;
    TaskSupport task_support = TaskSupport::none;
    TaskStart task_start = TaskStart::at_once;
  };

  ToolOptions() = default;

  ToolOptions& title(std::string title);
  // Hints for the client, which does not trust them (schema, ToolAnnotations).
  ToolOptions& read_only(bool value = true);
  ToolOptions& destructive(bool value = true);
  ToolOptions& idempotent(bool value = true);
  ToolOptions& open_world(bool value = true);
  ToolOptions& icon(const Icon& icon);
  ToolOptions& meta(Json meta);
  // Schemas written by hand, instead of those of the types. JSON Schema 2020-12 unless `$schema` says otherwise;
  // `x-mcp-header` annotations are honoured.
  ToolOptions& input_schema(Json schema);
  ToolOptions& output_schema(Json schema);
  // How long a round's state lives, instead of what the policy says; and all rounds together, if that is less.
  ToolOptions& lifetime(std::chrono::milliseconds lifetime);
  ToolOptions& flow_lifetime(std::chrono::milliseconds lifetime);
  ToolOptions& time_limit(std::chrono::milliseconds limit);
  // How often a round may be answered. `once` and `once_with_reply` need a redemption store.
  ToolOptions& redemption(Redemption redemption);
  // Takes answers that come before anything was asked. For tools whose effect is harmless when nobody was asked: a
  // first-shot "yes" is how confirmations are forged. The answers must fit the questions all the same.
  ToolOptions& accepts_unasked_answers();
  ToolOptions& task(TaskSupport support, TaskStart start = TaskStart::at_once);

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

class PromptOptions {
 public:
  struct Settings {
    std::string title;
    JsonArray arguments;
    JsonArray icons;
    Json meta;
    std::optional<std::chrono::milliseconds> lifetime;
    std::optional<std::chrono::milliseconds> time_limit;
    Redemption redemption = Redemption::many;
    bool accepts_unasked_answers = false;
  };

  PromptOptions() = default;

  PromptOptions& title(std::string title);
  // An argument, for handlers that take Json instead of a type; in the order in which they are shown.
  PromptOptions& argument(std::string name, std::string description = std::string(), bool required = true);
  PromptOptions& icon(const Icon& icon);
  PromptOptions& meta(Json meta);
  PromptOptions& lifetime(std::chrono::milliseconds lifetime);
  PromptOptions& time_limit(std::chrono::milliseconds limit);
  PromptOptions& redemption(Redemption redemption);
  PromptOptions& accepts_unasked_answers();

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

class ResourceOptions {
 public:
  struct Settings {
    std::string title;
    std::string description;
    std::string mime_type;
    std::optional<std::int64_t> size;
    Json annotations;
    JsonArray icons;
    Json meta;
    std::chrono::milliseconds ttl{0};
    CacheScope scope = CacheScope::private_scope;
    std::optional<std::chrono::milliseconds> lifetime;
    std::optional<std::chrono::milliseconds> time_limit;
    Redemption redemption = Redemption::many;
    bool accepts_unasked_answers = false;
    bool variables_may_climb = false;
  };

  ResourceOptions() = default;

  ResourceOptions& title(std::string title);
  ResourceOptions& description(std::string description);
  ResourceOptions& mime_type(std::string mime_type);
  ResourceOptions& size(std::int64_t bytes);
  ResourceOptions& audience(Role role);
  ResourceOptions& priority(double between_0_and_1);
  ResourceOptions& last_modified(std::string iso_8601);
  ResourceOptions& icon(const Icon& icon);
  ResourceOptions& meta(Json meta);
  // How long the client may keep what it read. Default: not at all.
  ResourceOptions& cache(std::chrono::milliseconds ttl, CacheScope scope = CacheScope::private_scope);
  ResourceOptions& lifetime(std::chrono::milliseconds lifetime);
  ResourceOptions& time_limit(std::chrono::milliseconds limit);
  ResourceOptions& redemption(Redemption redemption);
  ResourceOptions& accepts_unasked_answers();
  // Of templates. Values of variables that lead out of a folder where they are taken for a path (segments `.` and `..`, a
  // NUL, a slash in front) are otherwise as if there were no such resource. For handlers that do not take them for one.
  ResourceOptions& variables_may_climb();

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

}  // namespace signet
