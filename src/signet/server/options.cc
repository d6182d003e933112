#include <signet/server/options.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <signet/protocol/meta.h>

namespace signet {

namespace {

void annotate(Json& annotations, std::string_view name, Json value) {
  annotations.set(std::string(name), std::move(value));
}

}  // namespace

ServerInfo& ServerInfo::title(std::string title) {
  json_.set("title", std::move(title));
  return *this;
}

ServerInfo& ServerInfo::description(std::string description) {
  json_.set("description", std::move(description));
  return *this;
}

ServerInfo& ServerInfo::website_url(std::string url) {
  json_.set("websiteUrl", std::move(url));
  return *this;
}

ServerInfo& ServerInfo::icon(const Icon& icon) {
  if (!json_.contains("icons")) json_.set("icons", Json::array());
  json_.find("icons")->push_back(icon.json());
  return *this;
}

ServerOptions& ServerOptions::ring(std::shared_ptr<token::RingSource> ring) {
  settings_.ring = std::move(ring);
  return *this;
}

ServerOptions& ServerOptions::codec(std::shared_ptr<token::Codec> codec) {
  settings_.codec = std::move(codec);
  return *this;
}

ServerOptions& ServerOptions::policy(token::Policy policy) {
  settings_.policy = policy;
  return *this;
}

ServerOptions& ServerOptions::migration(token::Migration migration) {
  settings_.migration = std::move(migration);
  return *this;
}

ServerOptions& ServerOptions::audience(std::string audience) {
  settings_.audience = std::move(audience);
  return *this;
}

ServerOptions& ServerOptions::redemption_store(std::shared_ptr<token::RedemptionStore> store) {
  settings_.redemption_store = std::move(store);
  return *this;
}

ServerOptions& ServerOptions::task_store(std::shared_ptr<token::TaskStore> store) {
  settings_.task_store = std::move(store);
  return *this;
}

ServerOptions& ServerOptions::tasks(TaskPolicy policy) {
  constexpr std::chrono::milliseconds least{1};
  policy.kept = std::max(policy.kept, least);
  policy.lease = std::max(policy.lease, 2 * least);
  policy.heartbeat = std::clamp(policy.heartbeat, least, policy.lease / 2);
  policy.poll_interval = std::max(policy.poll_interval, least);
  settings_.tasks = policy;
  return *this;
}

ServerOptions& ServerOptions::clock(const Clock& clock) {
  settings_.clock = &clock;
  return *this;
}

ServerOptions& ServerOptions::entropy(Entropy& entropy) {
  settings_.entropy = &entropy;
  return *this;
}

ServerOptions& ServerOptions::metrics(Metrics& metrics) {
  settings_.metrics = &metrics;
  return *this;
}

ServerOptions& ServerOptions::log(LogSink sink) {
  settings_.log = std::move(sink);
  return *this;
}

ServerOptions& ServerOptions::instructions(std::string text) {
  settings_.instructions = std::move(text);
  return *this;
}

ServerOptions& ServerOptions::page_size(std::size_t entries) {
  settings_.page_size = std::max<std::size_t>(entries, 1);
  return *this;
}

ServerOptions& ServerOptions::list_cache(std::chrono::milliseconds ttl, CacheScope scope) {
  settings_.list_ttl = std::max(ttl, std::chrono::milliseconds(0));
  settings_.list_scope = scope;
  return *this;
}

ServerOptions& ServerOptions::worker_threads(std::size_t threads_max, std::size_t queue_max) {
  settings_.worker_threads_max = std::max<std::size_t>(threads_max, 1);
  settings_.worker_queue_max = queue_max;
  return *this;
}

ServerOptions& ServerOptions::subscriptions_max(std::size_t streams) {
  settings_.subscriptions_max = streams;
  return *this;
}

ServerOptions& ServerOptions::handler_time_limit(std::chrono::milliseconds limit) {
  settings_.handler_time_limit = limit;
  return *this;
}

ServerOptions& ServerOptions::extension(std::string id, Json settings) {
  if (!protocol::is_extension_id(id)) throw std::invalid_argument("not an extension id: " + id);
  settings_.extensions.emplace_back(std::move(id), std::move(settings));
  return *this;
}

ToolOptions& ToolOptions::title(std::string title) {
  settings_.title = std::move(title);
  return *this;
}

ToolOptions& ToolOptions::read_only(bool value) {
  annotate(settings_.annotations, "readOnlyHint", value);
  return *this;
}

ToolOptions& ToolOptions::destructive(bool value) {
  annotate(settings_.annotations, "destructiveHint", value);
  return *this;
}

ToolOptions& ToolOptions::idempotent(bool value) {
  annotate(settings_.annotations, "idempotentHint", value);
  return *this;
}

ToolOptions& ToolOptions::open_world(bool value) {
  annotate(settings_.annotations, "openWorldHint", value);
  return *this;
}

ToolOptions& ToolOptions::icon(const Icon& icon) {
  settings_.icons.push_back(icon.json());
  return *this;
}

ToolOptions& ToolOptions::meta(Json meta) {
  settings_.meta = std::move(meta);
  return *this;
}

ToolOptions& ToolOptions::input_schema(Json schema) {
  settings_.input_schema = std::move(schema);
  return *this;
}

ToolOptions& ToolOptions::output_schema(Json schema) {
  settings_.output_schema = std::move(schema);
  return *this;
}

ToolOptions& ToolOptions::lifetime(std::chrono::milliseconds lifetime) {
  settings_.lifetime = lifetime;
  return *this;
}

ToolOptions& ToolOptions::flow_lifetime(std::chrono::milliseconds lifetime) {
  settings_.flow_lifetime = lifetime;
  return *this;
}

ToolOptions& ToolOptions::time_limit(std::chrono::milliseconds limit) {
  settings_.time_limit = limit;
  return *this;
}

ToolOptions& ToolOptions::redemption(Redemption redemption) {
  settings_.redemption = redemption;
  return *this;
}

ToolOptions& ToolOptions::accepts_unasked_answers() {
  settings_.accepts_unasked_answers = true;
  return *this;
}

ToolOptions& ToolOptions::task(TaskSupport support, TaskStart start) {
  settings_.task_support = support;
  settings_.task_start = start;
  return *this;
}

PromptOptions& PromptOptions::title(std::string title) {
  settings_.title = std::move(title);
  return *this;
}

PromptOptions& PromptOptions::argument(std::string name, std::string description, bool required) {
  Json argument;
  argument.set("name", std::move(name));
  if (!description.empty()) argument.set("description", std::move(description));
  argument.set("required", required);
  settings_.arguments.push_back(std::move(argument));
  return *this;
}

PromptOptions& PromptOptions::icon(const Icon& icon) {
  settings_.icons.push_back(icon.json());
  return *this;
}

PromptOptions& PromptOptions::meta(Json meta) {
  settings_.meta = std::move(meta);
  return *this;
}

PromptOptions& PromptOptions::lifetime(std::chrono::milliseconds lifetime) {
  settings_.lifetime = lifetime;
  return *this;
}

PromptOptions& PromptOptions::time_limit(std::chrono::milliseconds limit) {
  settings_.time_limit = limit;
  return *this;
}

PromptOptions& PromptOptions::redemption(Redemption redemption) {
  settings_.redemption = redemption;
  return *this;
}

PromptOptions& PromptOptions::accepts_unasked_answers() {
  settings_.accepts_unasked_answers = true;
  return *this;
}

ResourceOptions& ResourceOptions::title(std::string title) {
  settings_.title = std::move(title);
  return *this;
}

ResourceOptions& ResourceOptions::description(std::string description) {
  settings_.description = std::move(description);
  return *this;
}

ResourceOptions& ResourceOptions::mime_type(std::string mime_type) {
  settings_.mime_type = std::move(mime_type);
  return *this;
}

ResourceOptions& ResourceOptions::size(std::int64_t bytes) {
  settings_.size = bytes;
  return *this;
}

ResourceOptions& ResourceOptions::audience(Role role) {
  if (!settings_.annotations.contains("audience")) annotate(settings_.annotations, "audience", Json::array());
  settings_.annotations.find("audience")->push_back(role == Role::user ? "user" : "assistant");
  return *this;
}

ResourceOptions& ResourceOptions::priority(double between_0_and_1) {
  annotate(settings_.annotations, "priority", between_0_and_1);
  return *this;
}

ResourceOptions& ResourceOptions::last_modified(std::string iso_8601) {
  annotate(settings_.annotations, "lastModified", std::move(iso_8601));
  return *this;
}

ResourceOptions& ResourceOptions::icon(const Icon& icon) {
  settings_.icons.push_back(icon.json());
  return *this;
}

ResourceOptions& ResourceOptions::meta(Json meta) {
  settings_.meta = std::move(meta);
  return *this;
}

ResourceOptions& ResourceOptions::cache(std::chrono::milliseconds ttl, CacheScope scope) {
  settings_.ttl = std::max(ttl, std::chrono::milliseconds(0));
  settings_.scope = scope;
  return *this;
}

ResourceOptions& ResourceOptions::lifetime(std::chrono::milliseconds lifetime) {
  settings_.lifetime = lifetime;
  return *this;
}

ResourceOptions& ResourceOptions::time_limit(std::chrono::milliseconds limit) {
  settings_.time_limit = limit;
  return *this;
}

ResourceOptions& ResourceOptions::redemption(Redemption redemption) {
  settings_.redemption = redemption;
  return *this;
}

ResourceOptions& ResourceOptions::variables_may_climb() {
  settings_.variables_may_climb = true;
  return *this;
}
ResourceOptions& ResourceOptions::accepts_unasked_answers() {
  settings_.accepts_unasked_answers = true;
  return *this;
}

}  // namespace signet
