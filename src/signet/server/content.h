// What tools, prompts and resources say: text, images, audio, resources and links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/json/value.h>

namespace signet {

// Whom a content or a resource is meant for (schema, Role).
enum class Role : std::uint8_t { user, assistant };

// The contents of one resource (schema, TextResourceContents and BlobResourceContents). A regular value.
class ResourceContents {
 public:
  // Text, text/plain unless mime_type() says another.
  static ResourceContents text(std::string text);
  // The bytes travel in Base64.
  static ResourceContents blob(ByteView bytes, std::string mime_type = "application/octet-stream");

  // Each returns *this.
  ResourceContents& mime_type(std::string mime_type);
  // Which resource it is. Inside the answer to resources/read the URI that was read, where none is given.
  ResourceContents& uri(std::string uri);
  ResourceContents& meta(Json meta);

  const Json& json() const { return json_; }

 private:
  ResourceContents() = default;
  Json json_;
};

// One block of content (schema, ContentBlock). A regular value.
class Content {
 public:
  static Content text(std::string text);
  static Content image(ByteView bytes, std::string mime_type);
  static Content audio(ByteView bytes, std::string mime_type);
  // A resource inside the answer; its URI must have been set.
  static Content resource(ResourceContents contents);
  // A pointer to a resource that the client may read.
  static Content link(std::string uri, std::string name, std::string mime_type = std::string());

  // Annotations and `_meta`; each returns *this.
  Content& audience(Role role);
  Content& priority(double between_0_and_1);
  Content& last_modified(std::string iso_8601);
  Content& meta(Json meta);

  const Json& json() const { return json_; }

 private:
  Content() = default;
  Json json_;
};

// An image that stands for a server, tool, prompt or resource (schema, Icon).
class Icon {
 public:
  explicit Icon(std::string source) { json_.set("src", std::move(source)); }
  Icon& mime_type(std::string mime_type);
  Icon& size(std::string size);    // `48x48`, or `any`; again for several
  Icon& theme(std::string theme);  // `light` or `dark`
  const Json& json() const { return json_; }

 private:
  Json json_;
};

}  // namespace signet
