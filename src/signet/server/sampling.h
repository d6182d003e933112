// Asking the client's model, and asking for its roots. Both are deprecated by the specification (2026-07-28): new
// servers call a model themselves, and take paths as arguments.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <signet/json/value.h>
#include <signet/server/content.h>

namespace signet {

// What to ask the model (schema, CreateMessageRequestParams). A regular value.
class SampleRequest {
 public:
  explicit SampleRequest(std::int64_t tokens_max) { params_.set("maxTokens", tokens_max); }

  // The conversation so far, in order.
  SampleRequest& user(std::string text);
  SampleRequest& assistant(std::string text);
  SampleRequest& message(Role role, Json content);
  SampleRequest& system_prompt(std::string text);
  SampleRequest& temperature(double temperature);
  SampleRequest& stop_sequence(std::string text);
  SampleRequest& model_preferences(Json preferences);
  SampleRequest& metadata(Json metadata);
  // Needs the client's capability sampling.context unless `none`.
  SampleRequest& include_context(std::string which);
  // Needs the client's capability sampling.tools.
  SampleRequest& tools(Json tools, Json tool_choice = Json());

  const Json& params() const { return params_; }

 private:
  Json params_;
};

// What the model answered (schema, CreateMessageResult).
class SampleResult {
 public:
  explicit SampleResult(Json result) : result_(std::move(result)) {}
  // All text blocks of the content, one after another.
  std::string text() const;
  std::string model() const;
  std::string stop_reason() const;
  const Json& json() const { return result_; }

 private:
  Json result_;
};

// A folder the client lets the server know of (schema, Root).
struct Root {
  Root(std::string root_uri, std::string root_name) : uri(std::move(root_uri)), name(std::move(root_name)) {}
  std::string uri;   // begins with file://
  std::string name;  // may be empty
};

}  // namespace signet
