// What handlers return.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/server/content.h>
#include <signet/server/input_required.h>

namespace signet {

namespace detail {
// What every handler comes down to: the members of a result, a JSON-RPC error, or questions.
using Answer = std::variant<Json, Fault, InputRequired>;
}  // namespace detail

// The result of a tool (schema, CallToolResult). Made from content, by text() and error() below, from an
// InputRequired, or from a Fault.
//
// Which failure is which: `error("No such ticket.")` is for the model, which reads it and may try again; it is what
// almost every failure is. A Fault is a JSON-RPC error for the program that called, for requests that make no sense.
// An exception reaches the log only; the client gets a general sentence.
class ToolResult {
 public:
  ToolResult() = default;
  // NOLINTBEGIN(google-explicit-constructor): `co_return content;` reads as what it is.
  ToolResult(Content content) { add(std::move(content)); }
  ToolResult(InputRequired questions) : questions_(std::move(questions)) {}
  ToolResult(Fault fault) : fault_(std::move(fault)) {}
  // NOLINTEND

  ToolResult& add(Content content);
  // The structured result. It is checked against the tool's output schema before it is sent; its JSON text is added as
  // content where there is no other.
  ToolResult& structured(Json value);
  ToolResult& as_error();
  ToolResult& meta(Json meta);

  bool is_error() const { return is_error_; }
  detail::Answer take() &&;

 private:
  JsonArray content_;
  std::optional<Json> structured_;
  bool is_error_ = false;
  Json meta_;
  std::optional<InputRequired> questions_;
  std::optional<Fault> fault_;
};

// A result of one text.
inline ToolResult text(std::string text) { return ToolResult(Content::text(std::move(text))); }
// A failure that the model should read.
inline ToolResult error(std::string sentence) { return text(std::move(sentence)).as_error(); }

// The result of a prompt (schema, GetPromptResult): messages in order.
class PromptResult {
 public:
  PromptResult() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  PromptResult(InputRequired questions) : questions_(std::move(questions)) {}
  PromptResult(Fault fault) : fault_(std::move(fault)) {}
  // NOLINTEND

  PromptResult& user(std::string text) { return message(Role::user, Content::text(std::move(text))); }
  PromptResult& user(Content content) { return message(Role::user, std::move(content)); }
  PromptResult& assistant(std::string text) {
    return message(Role::assistant, Content::text(std::move(text)));
  }
  PromptResult& assistant(Content content) { return message(Role::assistant, std::move(content)); }
  PromptResult& message(Role role, Content content);
  PromptResult& description(std::string text);
  PromptResult& meta(Json meta);

  detail::Answer take() &&;

 private:
  JsonArray messages_;
  std::string description_;
  Json meta_;
  std::optional<InputRequired> questions_;
  std::optional<Fault> fault_;
};

// Whether an answer may be shared between callers (server, utilities, caching). Never a substitute for access control.
enum class CacheScope : std::uint8_t { private_scope, public_scope };

// The result of reading a resource (schema, ReadResourceResult).
class ResourceResult {
 public:
  ResourceResult() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  ResourceResult(ResourceContents contents) { add(std::move(contents)); }
  ResourceResult(InputRequired questions) : questions_(std::move(questions)) {}
  ResourceResult(Fault fault) : fault_(std::move(fault)) {}
  // NOLINTEND

  // There is no such resource: -32602 (-32002 for clients of the handshake revisions), never an empty list (S69, S70).
  static ResourceResult not_found();

  ResourceResult& add(ResourceContents contents);
  ResourceResult& meta(Json meta);
  // How long the client may keep it; else what the resource's options say.
  ResourceResult& cache(std::chrono::milliseconds ttl, CacheScope scope = CacheScope::private_scope);

  detail::Answer take() &&;

 private:
  JsonArray contents_;
  Json meta_;
  std::optional<std::pair<std::chrono::milliseconds, CacheScope>> cache_;
  std::optional<InputRequired> questions_;
  std::optional<Fault> fault_;
};

}  // namespace signet
