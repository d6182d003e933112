#include <signet/protocol/sampling_messages.h>

#include <set>
#include <string_view>

namespace signet::protocol {
namespace {

struct Blocks {
  std::set<std::string> uses;     // ids of tool_use
  std::set<std::string> results;  // ids that tool_result answers
  bool others = false;
};

// Adds one block; false if it is none, or names an id twice.
bool add_block(Blocks& blocks, const Json& block) {
  const std::string* type = block.find_string("type");
  if (type == nullptr) return false;
  const bool is_use = *type == "tool_use";
  if (!is_use && *type != "tool_result") {
    blocks.others = true;
    return true;
  }
  const std::string* id = block.find_string(is_use ? "id" : "toolUseId");
  return id != nullptr && (is_use ? blocks.uses : blocks.results).insert(*id).second;
}

std::optional<Blocks> read_content(const Json* content) {
  Blocks blocks;
  if (content == nullptr) return std::nullopt;
  if (content->is_object()) return add_block(blocks, *content) ? std::optional(blocks) : std::nullopt;
  const JsonArray* array = content->as_array();
  if (array == nullptr) return std::nullopt;
  for (const Json& block : *array) {
    if (!add_block(blocks, block)) return std::nullopt;
  }
  return blocks;
}

}  // namespace

std::optional<std::string> sampling_messages_fault(const Json& messages) {
  const JsonArray* list = messages.as_array();
  if (list == nullptr) return "The messages are no array.";
  std::set<std::string> unanswered;
  for (const Json& message : *list) {
    const std::string* role = message.find_string("role");
    const bool by_user = role != nullptr && *role == "user";
    if (!by_user && (role == nullptr || *role != "assistant")) return "A message has no role.";
    const std::optional<Blocks> blocks = read_content(message.find("content"));
    if (!blocks) return "A message has no content.";
    if (by_user ? !blocks->uses.empty() : !blocks->results.empty())
      return "Tools are used by the assistant and answered by the user.";
    if (blocks->results != unanswered) return "The uses of tools are not answered by the next message.";
    if (!blocks->results.empty() && blocks->others) return "A message with results of tools holds more.";
    unanswered = blocks->uses;
  }
  if (!unanswered.empty()) return "The uses of tools are not answered by the next message.";
  return std::nullopt;
}

}  // namespace signet::protocol
