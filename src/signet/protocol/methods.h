// The names of the specification's methods, in one place.
#pragma once

#include <string_view>

namespace signet::protocol::method {

// 2026-07-28
inline constexpr std::string_view server_discover = "server/discover";
inline constexpr std::string_view tools_list = "tools/list";
inline constexpr std::string_view tools_call = "tools/call";
inline constexpr std::string_view prompts_list = "prompts/list";
inline constexpr std::string_view prompts_get = "prompts/get";
inline constexpr std::string_view resources_list = "resources/list";
inline constexpr std::string_view resources_templates_list = "resources/templates/list";
inline constexpr std::string_view resources_read = "resources/read";
inline constexpr std::string_view completion_complete = "completion/complete";
inline constexpr std::string_view subscriptions_listen = "subscriptions/listen";

// The tasks extension
inline constexpr std::string_view tasks_get = "tasks/get";
inline constexpr std::string_view tasks_update = "tasks/update";
inline constexpr std::string_view tasks_cancel = "tasks/cancel";

// What a server asks: input requests of 2026-07-28, real requests of the handshake revisions
inline constexpr std::string_view elicitation_create = "elicitation/create";
inline constexpr std::string_view sampling_create_message = "sampling/createMessage";
inline constexpr std::string_view roots_list = "roots/list";

// 2025-11-25 and before only
inline constexpr std::string_view initialize = "initialize";
inline constexpr std::string_view ping = "ping";
inline constexpr std::string_view logging_set_level = "logging/setLevel";
inline constexpr std::string_view resources_subscribe = "resources/subscribe";
inline constexpr std::string_view resources_unsubscribe = "resources/unsubscribe";

namespace notifications {
inline constexpr std::string_view cancelled = "notifications/cancelled";
inline constexpr std::string_view progress = "notifications/progress";
inline constexpr std::string_view message = "notifications/message";
inline constexpr std::string_view initialized = "notifications/initialized";
inline constexpr std::string_view tools_list_changed = "notifications/tools/list_changed";
inline constexpr std::string_view prompts_list_changed = "notifications/prompts/list_changed";
inline constexpr std::string_view resources_list_changed = "notifications/resources/list_changed";
inline constexpr std::string_view resources_updated = "notifications/resources/updated";
inline constexpr std::string_view roots_list_changed = "notifications/roots/list_changed";
inline constexpr std::string_view subscriptions_acknowledged = "notifications/subscriptions/acknowledged";
inline constexpr std::string_view tasks = "notifications/tasks";
inline constexpr std::string_view elicitation_complete = "notifications/elicitation/complete";
}  // namespace notifications

// The member of `params` that names what a request is about, and that the header Mcp-Name mirrors
// (streamable-http, "Standard headers"; for tasks, the extension): `name`, `uri` or `taskId`; empty for methods
// without one.
constexpr std::string_view name_member(std::string_view method) {
  if (method == tools_call || method == prompts_get) return "name";
  if (method == resources_read) return "uri";
  if (method == tasks_get || method == tasks_update || method == tasks_cancel) return "taskId";
  return {};
}

}  // namespace signet::protocol::method
