#include <signet/client/types.h>

#include <array>

namespace signet {
namespace {

constexpr std::array<std::string_view, 10> kinds{
    "transport", "refused",   "invalid_reply", "unsupported_input", "rounds_exceeded",
    "timed_out", "cancelled", "no_version",    "invalid_output",    "invalid_call"};

std::string text_of(const Json& object, std::string_view name) {
  const std::string* text = object.find_string(name);
  return text != nullptr ? *text : std::string();
}

Task<Answer> at_once(Answer answer) { co_return answer; }

}  // namespace

std::string_view to_string(CallError::Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

std::string Question::message() const { return text_of(params, "message"); }
std::string Question::url() const { return text_of(params, "url"); }

const Json& Question::schema() const {
  static const Json none = Json::object({{"type", "object"}, {"properties", Json::object()}});
  const Json* schema = params.find("requestedSchema");
  return schema != nullptr && schema->is_object() ? *schema : none;
}

Answer Answer::accept(Json content) {
  Json json = Json::object({{"action", "accept"}});
  if (!content.is_null()) json.set("content", std::move(content));
  return Answer(std::move(json));
}

Answer Answer::decline() { return Answer(Json::object({{"action", "decline"}})); }
Answer Answer::cancel() { return Answer(Json::object({{"action", "cancel"}})); }
Answer Answer::result(Json value) { return Answer(std::move(value)); }

Answer Answer::abandon() {
  Answer answer = cancel();
  answer.abandoned_ = true;
  return answer;
}

Json with_defaults(const Question& question, const Answer& answer) {
  Json json = answer.json();
  const std::string* action = json.find_string("action");
  if (question.kind != Question::Kind::form || action == nullptr || *action != "accept") return json;
  if (!json.contains("content")) json.set("content", Json::object());
  Json* content = json.find("content");
  const Json* properties = question.schema().find("properties");
  if (!content->is_object() || properties == nullptr || !properties->is_object()) return json;
  for (const auto& [name, property] : *properties->as_object()) {
    const Json* fallback = property.find("default");
    if (fallback != nullptr && !content->contains(name)) content->set(name, *fallback);
  }
  return json;
}

QuestionHandler answer_with(std::function<Answer(const Question&)> function) {
  return [function = std::move(function)](Question question) { return at_once(function(question)); };
}

std::string ToolOutcome::text() const {
  std::string all;
  for (const Json& block : content) {
    const std::string* type = block.find_string("type");
    const std::string* text = block.find_string("text");
    if (type == nullptr || *type != "text" || text == nullptr) continue;
    if (!all.empty()) all += '\n';
    all += *text;
  }
  return all;
}

}  // namespace signet
