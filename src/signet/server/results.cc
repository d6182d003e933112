#include <signet/server/results.h>

#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/server/handler.h>

namespace signet {

namespace {

// What a result holds besides its members, if anything.
std::optional<detail::Answer> exceptional(std::optional<InputRequired>& questions,
                                          std::optional<Fault>& fault) {
  if (fault) return detail::Answer(std::move(*fault));
  if (questions) return detail::Answer(std::move(*questions));
  return std::nullopt;
}

std::string_view name_of(Role role) { return role == Role::user ? "user" : "assistant"; }

}  // namespace

ToolResult& ToolResult::add(Content content) {
  content_.push_back(content.json());
  return *this;
}

ToolResult& ToolResult::structured(Json value) {
  structured_ = std::move(value);
  return *this;
}

ToolResult& ToolResult::as_error() {
  is_error_ = true;
  return *this;
}

ToolResult& ToolResult::meta(Json meta) {
  meta_ = std::move(meta);
  return *this;
}

detail::Answer ToolResult::take() && {
  if (std::optional<detail::Answer> other = exceptional(questions_, fault_)) return std::move(*other);
  if (structured_ && content_.empty()) content_.push_back(Content::text(json::write(*structured_)).json());
  Json result;
  result.set("content", std::move(content_));
  if (structured_) result.set("structuredContent", std::move(*structured_));
  if (is_error_) result.set("isError", true);
  if (!meta_.is_null()) result.set("_meta", std::move(meta_));
  return result;
}

PromptResult& PromptResult::message(Role role, Content content) {
  Json message;
  message.set("role", name_of(role));
  message.set("content", content.json());
  messages_.push_back(std::move(message));
  return *this;
}

PromptResult& PromptResult::description(std::string text) {
  description_ = std::move(text);
  return *this;
}

PromptResult& PromptResult::meta(Json meta) {
  meta_ = std::move(meta);
  return *this;
}

detail::Answer PromptResult::take() && {
  if (std::optional<detail::Answer> other = exceptional(questions_, fault_)) return std::move(*other);
  Json result;
  if (!description_.empty()) result.set("description", std::move(description_));
  result.set("messages", std::move(messages_));
  if (!meta_.is_null()) result.set("_meta", std::move(meta_));
  return result;
}

ResourceResult ResourceResult::not_found() {
  // The dispatcher knows the URI and the era, and makes the right error of it.
  return ResourceResult(Fault(protocol::legacy_resource_not_found, "Resource not found"));
}

ResourceResult& ResourceResult::add(ResourceContents contents) {
  contents_.push_back(contents.json());
  return *this;
}

ResourceResult& ResourceResult::meta(Json meta) {
  meta_ = std::move(meta);
  return *this;
}

ResourceResult& ResourceResult::cache(std::chrono::milliseconds ttl, CacheScope scope) {
  cache_.emplace(ttl, scope);
  return *this;
}

detail::Answer ResourceResult::take() && {
  if (std::optional<detail::Answer> other = exceptional(questions_, fault_)) return std::move(*other);
  if (contents_.empty()) return not_found().take();
  Json result;
  result.set("contents", std::move(contents_));
  if (cache_) {
    result.set("ttlMs", cache_->first.count());
    result.set("cacheScope", cache_->second == CacheScope::public_scope ? "public" : "private");
  }
  if (!meta_.is_null()) result.set("_meta", std::move(meta_));
  return result;
}

namespace detail {

Answer PromptAnswer::refuse(const std::string& sentence) { return Fault(protocol::invalid_params, sentence); }
Answer ResourceAnswer::refuse(const std::string& sentence) {
  return Fault(protocol::invalid_params, sentence);
}

}  // namespace detail

}  // namespace signet
