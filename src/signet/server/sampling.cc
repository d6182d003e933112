#include <signet/server/sampling.h>

namespace signet {

SampleRequest& SampleRequest::message(Role role, Json content) {
  Json message;
  message.set("role", role == Role::user ? "user" : "assistant");
  message.set("content", std::move(content));
  if (!params_.contains("messages")) params_.set("messages", Json::array());
  params_.find("messages")->push_back(std::move(message));
  return *this;
}

SampleRequest& SampleRequest::user(std::string text) {
  return message(Role::user, Content::text(std::move(text)).json());
}

SampleRequest& SampleRequest::assistant(std::string text) {
  return message(Role::assistant, Content::text(std::move(text)).json());
}

SampleRequest& SampleRequest::system_prompt(std::string text) {
  params_.set("systemPrompt", std::move(text));
  return *this;
}

SampleRequest& SampleRequest::temperature(double temperature) {
  params_.set("temperature", temperature);
  return *this;
}

SampleRequest& SampleRequest::stop_sequence(std::string text) {
  if (!params_.contains("stopSequences")) params_.set("stopSequences", Json::array());
  params_.find("stopSequences")->push_back(std::move(text));
  return *this;
}

SampleRequest& SampleRequest::model_preferences(Json preferences) {
  params_.set("modelPreferences", std::move(preferences));
  return *this;
}

SampleRequest& SampleRequest::metadata(Json metadata) {
  params_.set("metadata", std::move(metadata));
  return *this;
}

SampleRequest& SampleRequest::include_context(std::string which) {
  params_.set("includeContext", std::move(which));
  return *this;
}

SampleRequest& SampleRequest::tools(Json tools, Json tool_choice) {
  params_.set("tools", std::move(tools));
  if (!tool_choice.is_null()) params_.set("toolChoice", std::move(tool_choice));
  return *this;
}

std::string SampleResult::text() const {
  const Json* content = result_.find("content");
  if (content == nullptr) return {};
  if (const std::string* text = content->find_string("text")) return *text;
  std::string all;
  if (const JsonArray* blocks = content->as_array()) {
    for (const Json& block : *blocks) {
      if (const std::string* text = block.find_string("text")) all += *text;
    }
  }
  return all;
}

std::string SampleResult::model() const {
  const std::string* model = result_.find_string("model");
  return model == nullptr ? std::string() : *model;
}

std::string SampleResult::stop_reason() const {
  const std::string* reason = result_.find_string("stopReason");
  return reason == nullptr ? std::string() : *reason;
}

}  // namespace signet
