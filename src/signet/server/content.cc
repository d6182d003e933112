#include <signet/server/content.h>

#include <signet/json/base64.h>

#include <utility>

namespace signet {

namespace {

std::string_view name_of(Role role) { return role == Role::user ? "user" : "assistant"; }

// The annotations of a content or a resource, made where there are none yet.
Json& annotations(Json& json) {
  if (!json.contains("annotations")) json.set("annotations", Json::object());
  return *json.find("annotations");
}

}  // namespace

ResourceContents ResourceContents::text(std::string text) {
  ResourceContents contents;
  contents.json_.set("mimeType", "text/plain");
  contents.json_.set("text", std::move(text));
  return contents;
}

ResourceContents ResourceContents::blob(ByteView bytes, std::string mime_type) {
  ResourceContents contents;
  contents.json_.set("mimeType", std::move(mime_type));
  contents.json_.set("blob", json::base64_encode(bytes));
  return contents;
}

ResourceContents& ResourceContents::mime_type(std::string mime_type) {
  json_.set("mimeType", std::move(mime_type));
  return *this;
}

ResourceContents& ResourceContents::uri(std::string uri) {
  json_.set("uri", std::move(uri));
  return *this;
}

ResourceContents& ResourceContents::meta(Json meta) {
  json_.set("_meta", std::move(meta));
  return *this;
}

Content Content::text(std::string text) {
  Content content;
  content.json_.set("type", "text");
  content.json_.set("text", std::move(text));
  return content;
}

Content Content::image(ByteView bytes, std::string mime_type) {
  Content content;
  content.json_.set("type", "image");
  content.json_.set("data", json::base64_encode(bytes));
  content.json_.set("mimeType", std::move(mime_type));
  return content;
}

Content Content::audio(ByteView bytes, std::string mime_type) {
  Content content;
  content.json_.set("type", "audio");
  content.json_.set("data", json::base64_encode(bytes));
  content.json_.set("mimeType", std::move(mime_type));
  return content;
}

Content Content::resource(ResourceContents contents) {
  Content content;
  content.json_.set("type", "resource");
  content.json_.set("resource", contents.json());
  return content;
}

Content Content::link(std::string uri, std::string name, std::string mime_type) {
  Content content;
  content.json_.set("type", "resource_link");
  content.json_.set("uri", std::move(uri));
  content.json_.set("name", std::move(name));
  if (!mime_type.empty()) content.json_.set("mimeType", std::move(mime_type));
  return content;
}

Content& Content::audience(Role role) {
  Json& notes = annotations(json_);
  if (!notes.contains("audience")) notes.set("audience", Json::array());
  notes.find("audience")->push_back(name_of(role));
  return *this;
}

Content& Content::priority(double between_0_and_1) {
  annotations(json_).set("priority", between_0_and_1);
  return *this;
}

Content& Content::last_modified(std::string iso_8601) {
  annotations(json_).set("lastModified", std::move(iso_8601));
  return *this;
}

Content& Content::meta(Json meta) {
  json_.set("_meta", std::move(meta));
  return *this;
}

Icon& Icon::mime_type(std::string mime_type) {
  json_.set("mimeType", std::move(mime_type));
  return *this;
}

Icon& Icon::size(std::string size) {
  if (!json_.contains("sizes")) json_.set("sizes", Json::array());
  json_.find("sizes")->push_back(std::move(size));
  return *this;
}

Icon& Icon::theme(std::string theme) {
  json_.set("theme", std::move(theme));
  return *this;
}

}  // namespace signet
