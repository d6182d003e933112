#include <signet/server/question_params.h>

#include <signet/protocol/methods.h>
#include <signet/protocol/sampling_messages.h>
#include <signet/server/uri_template.h>

namespace signet::detail {

namespace {

using protocol::Capability;

std::optional<std::string> check_elicited(const FormSchema* form, const Json& answer) {
  const std::string* action = answer.find_string("action");
  if (action == nullptr) return "The answer has no action.";
  if (*action == "decline" || *action == "cancel") return std::nullopt;
  if (*action != "accept") return "The answer has an unknown action.";
  if (form == nullptr) return std::nullopt;
  const Json* content = answer.find("content");
  if (content == nullptr || !content->is_object()) return "The form was not filled in.";
  return form->check(*content);
}

std::optional<std::string> check_sampled(const Json& answer) {
  const std::string* role = answer.find_string("role");
  const Json* content = answer.find("content");
  const bool fits = role != nullptr && (*role == "user" || *role == "assistant") && content != nullptr &&
                    (content->is_object() || content->is_array()) && answer.find_string("model") != nullptr;
  if (fits) return std::nullopt;
  return "The answer is no sampled message.";
}

std::optional<std::string> check_roots(const Json& answer) {
  const Json* roots = answer.find("roots");
  if (roots == nullptr || !roots->is_array()) return "The answer has no list of roots.";
  for (const Json& root : *roots->as_array()) {
    const std::string* uri = root.find_string("uri");
    if (uri == nullptr || !uri->starts_with("file://")) return "A root is no file URI.";
  }
  return std::nullopt;
}

}  // namespace

Json request_of(std::string_view method, Json params) {
  Json request;
  request.set("method", method);
  request.set("params", std::move(params));
  return request;
}

Json form_params(std::string message, Json requested_schema) {
  Json params;
  params.set("mode", "form");
  params.set("message", std::move(message));
  params.set("requestedSchema", std::move(requested_schema));
  return params;
}

Json url_params(std::string message, std::string url) {
  Json params;
  params.set("mode", "url");
  params.set("message", std::move(message));
  params.set("url", std::move(url));
  return params;
}

std::string_view method_of(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::sampling:
      return protocol::method::sampling_create_message;
    case QuestionKind::roots:
      return protocol::method::roots_list;
    case QuestionKind::elicit_form:
    case QuestionKind::elicit_url:
      break;
  }
  return protocol::method::elicitation_create;
}

QuestionKind kind_of(const Json& request) {
  const std::string* method = request.find_string("method");
  if (method != nullptr && *method == protocol::method::sampling_create_message)
    return QuestionKind::sampling;
  if (method != nullptr && *method == protocol::method::roots_list) return QuestionKind::roots;
  const Json* params = request.find("params");
  const std::string* mode = params == nullptr ? nullptr : params->find_string("mode");
  return mode != nullptr && *mode == "url" ? QuestionKind::elicit_url : QuestionKind::elicit_form;
}

std::optional<std::string> question_fault(QuestionKind kind, const Json& params) {
  if (kind == QuestionKind::elicit_url) {
    const std::string* url = params.find_string("url");
    if (url == nullptr || !is_absolute_uri(*url)) return "The URL to open is no absolute URL.";
  }
  if (kind == QuestionKind::sampling) {
    const Json* messages = params.find("messages");
    return protocol::sampling_messages_fault(messages == nullptr ? Json() : *messages);
  }
  return std::nullopt;
}

std::vector<Capability> needed_capabilities(QuestionKind kind, const Json& params) {
  switch (kind) {
    case QuestionKind::elicit_form:
      return {Capability::elicitation_form};
    case QuestionKind::elicit_url:
      return {Capability::elicitation_url};
    case QuestionKind::roots:
      return {Capability::roots};
    case QuestionKind::sampling:
      break;
  }
  std::vector<Capability> needed{Capability::sampling};
  if (params.contains("tools") || params.contains("toolChoice")) needed.push_back(Capability::sampling_tools);
  const std::string* context = params.find_string("includeContext");
  if (context != nullptr && *context != "none") needed.push_back(Capability::sampling_context);
  return needed;
}

std::optional<std::string> check_answer(QuestionKind kind, const FormSchema* form, const Json& answer) {
  switch (kind) {
    case QuestionKind::elicit_form:
    case QuestionKind::elicit_url:
      return check_elicited(form, answer);
    case QuestionKind::sampling:
      return check_sampled(answer);
    case QuestionKind::roots:
      break;
  }
  return check_roots(answer);
}

std::optional<std::string> check_against(const Json& request, const Json& answer) {
  const QuestionKind kind = kind_of(request);
  if (kind != QuestionKind::elicit_form) return check_answer(kind, nullptr, answer);
  const Json* params = request.find("params");
  const Json* schema = params == nullptr ? nullptr : params->find("requestedSchema");
  if (schema == nullptr) return "The question has no form.";
  const FormSchema form(*schema);
  return check_answer(kind, &form, answer);
}

Json with_reason(Json params, const std::string& reason) {
  std::string* message = params.contains("message") ? params.find("message")->as_string() : nullptr;
  if (message != nullptr && !reason.empty()) message->append("\n").append(reason);
  return params;
}

}  // namespace signet::detail
