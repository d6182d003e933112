#include <signet/client/continuation.h>

#include <signet/client/input.h>
#include <signet/json/text.h>

namespace signet {
namespace {

constexpr std::int64_t format_version = 1;
constexpr std::size_t text_bytes_max = std::size_t{8} << 20;

}  // namespace

std::string Continuation::serialize() const {
  Json json = Json::object({{"signetContinuation", format_version},
                            {"method", method_},
                            {"params", params_},
                            {"rounds", rounds_},
                            {"inputRequests", requests_}});
  if (state_) json.set("requestState", *state_);
  return json::write(json);
}

Result<Continuation> Continuation::parse(std::string_view text) {
  json::Limits limits;
  limits.bytes_max = text_bytes_max;
  const Result<Json, json::ParseError> json = json::parse(text, limits);
  if (!json) return failure("the continuation is no JSON: " + json::describe(json.error()));
  const Json* version = json->find("signetContinuation");
  if (version == nullptr || *version != Json(format_version))
    return failure("this is no continuation of Signet");
  const std::string* method = json->find_string("method");
  const Json* params = json->find("params");
  const Json* rounds = json->find("rounds");
  const Json* requests = json->find("inputRequests");
  const Json* state = json->find("requestState");
  const bool whole = method != nullptr && params != nullptr && (params->is_object() || params->is_null()) &&
                     rounds != nullptr && rounds->as_int64().value_or(-1) >= 0 &&
                     rounds->as_int64().value_or(0) < 1'000'000 && requests != nullptr &&
                     (requests->is_object() || requests->is_null()) &&
                     (state == nullptr || state->is_string());
  if (!whole || !client::read_questions(*requests)) return failure("the continuation is damaged");
  Continuation out;
  out.method_ = *method;
  out.params_ = *params;
  out.rounds_ = static_cast<int>(*rounds->as_int64());
  out.requests_ = *requests;
  if (state != nullptr) out.state_ = *state->as_string();
  return out;
}

std::vector<Question> Continuation::questions() const {
  Called<std::vector<Question>> questions = client::read_questions(requests_);
  if (!questions) return {};
  for (Question& question : *questions) {
    question.method = method_;
    const std::string* name = params_.find_string("name");
    const std::string* uri = params_.find_string("uri");
    if (name != nullptr) question.target = *name;
    if (uri != nullptr) question.target = *uri;
    question.round = rounds_;
  }
  return std::move(*questions);
}

}  // namespace signet
