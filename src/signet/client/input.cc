#include <signet/client/input.h>

#include <algorithm>

#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/sampling_messages.h>

namespace signet::client {
namespace {

constexpr std::size_t quoted_bytes_max = 80;
constexpr std::size_t questions_max = 256;

Failure<CallError> invalid(std::string sentence) {
  return failure(CallError(CallError::Kind::invalid_reply, std::move(sentence)));
}

bool may_ask(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

// A segment of a path that stands for the folder itself or the one above, whatever its dots are written as.
bool is_step(std::string_view segment) {
  std::string dots;
  while (!segment.empty()) {
    const bool encoded = segment.starts_with("%2e") || segment.starts_with("%2E");
    dots += encoded ? '.' : segment.front();
    segment.remove_prefix(encoded ? 3 : 1);
  }
  return dots == "." || dots == "..";
}

bool is_plain_file(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme)) return false;
  const auto is_visible = [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; };
  if (!std::all_of(uri.begin(), uri.end(), is_visible)) return false;
  std::string_view rest = uri.substr(scheme.size());
  while (!rest.empty()) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (is_step(rest.substr(0, slash))) return false;
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return true;
}

Called<Question> read_elicitation(std::string key, const Json& params) {
  if (params.find_string("message") == nullptr)
    return invalid("the question " + quoted(key) + " has no message");
  const Json* mode = params.find("mode");
  if (mode == nullptr || *mode == Json("form")) {
    // A question without any is a plain confirmation; the Go SDK sends such.
    const Json* schema = params.find("requestedSchema");
    if (schema != nullptr && !schema->is_object())
      return invalid("the schema of the form " + quoted(key) + " is no object");
    return Question(std::move(key), Question::Kind::form, params);
  }
  if (*mode == Json("url")) {
    if (params.find_string("url") == nullptr) return invalid("the question " + quoted(key) + " has no URL");
    return Question(std::move(key), Question::Kind::url, params);
  }
  return failure(
      CallError(CallError::Kind::unsupported_input, "the question " + quoted(key) + " has an unknown mode"));
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, quoted_bytes_max)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte >= 0x7f || c == '"' ? '?' : c;
  }
  if (text.size() > quoted_bytes_max) out += "...";
  return out + '"';
}

Called<std::optional<InputNeeded>> read_result(std::string_view method, const Json& result) {
  if (!result.is_object()) return invalid("the result is no object");
  const Json* type = result.find("resultType");
  if (type == nullptr) return std::optional<InputNeeded>();
  const std::string* name = type->as_string();
  if (name == nullptr) return invalid("the resultType is no string");
  if (*name == "complete") return std::optional<InputNeeded>();
  if (*name != "input_required") return invalid("the result has the unknown type " + quoted(*name));
  if (!may_ask(method)) return invalid("the server asks for input where it may not");

  InputNeeded needed;
  const Json* state = result.find("requestState");
  if (state != nullptr) {
    if (!state->is_string()) return invalid("the requestState is no string");
    needed.state = *state->as_string();
  }
  const Json* requests = result.find("inputRequests");
  if (requests != nullptr) {
    if (!requests->is_object()) return invalid("the inputRequests are no object");
    if (requests->as_object()->size() > questions_max)
      return invalid("the server asks too many questions at once");
    if (!requests->as_object()->empty()) needed.requests = *requests;
  }
  if (!needed.state && requests == nullptr)
    return invalid("the server asks for input, but for nothing in particular");
  return std::optional<InputNeeded>(std::move(needed));
}

Called<Question> read_question(std::string key, std::string_view method, const Json& params) {
  if (method == "elicitation/create") return read_elicitation(std::move(key), params);
  if (method == "sampling/createMessage") {
    const Json* messages = params.find("messages");
    const bool valid = messages != nullptr && !protocol::sampling_messages_fault(*messages);
    if (!valid) return invalid("the request " + quoted(key) + " has no valid conversation");
    return Question(std::move(key), Question::Kind::sampling, params);
  }
  if (method == "roots/list") return Question(std::move(key), Question::Kind::roots, params);
  return failure(CallError(CallError::Kind::unsupported_input,
                           "the server asks for " + quoted(method) + ", which this client does not know"));
}

bool are_roots(const Json& answer) {
  const Json* roots = answer.find("roots");
  if (roots == nullptr || !roots->is_array()) return false;
  const JsonArray& all = *roots->as_array();
  return std::all_of(all.begin(), all.end(), [](const Json& root) {
    const std::string* uri = root.find_string("uri");
    return uri != nullptr && is_plain_file(*uri);
  });
}

Called<std::vector<Question>> read_questions(const Json& requests) {
  std::vector<Question> questions;
  if (!requests.is_object()) return questions;
  for (const auto& [key, request] : *requests.as_object()) {
    const std::string* method = request.find_string("method");
    if (method == nullptr) return invalid("the question " + quoted(key) + " has no method");
    const Json* params = request.find("params");
    Called<Question> question = read_question(key, *method, params != nullptr ? *params : Json::object());
    if (!question) return failure(std::move(question.error()));
    questions.push_back(std::move(*question));
  }
  return questions;
}

}  // namespace signet::client
