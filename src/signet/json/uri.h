// References between schemas: URIs (RFC 3986, section 5) and JSON Pointers (RFC 6901).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/json/value.h>

namespace signet::json {

// A URI and its fragment, which has no '#'.
struct SplitUri {
  std::string uri;
  std::string fragment;
};
SplitUri split_fragment(std::string_view uri);

// The absolute form of a reference. The base has a scheme.
std::string resolve_uri(std::string_view base, std::string_view reference);

// The names of a pointer (`/a/b~1c`); nothing where the text is no pointer.
std::optional<std::vector<std::string>> split_pointer(std::string_view pointer);
void append_pointer(std::string& pointer, std::string_view name);

// The part of a value that has the name or the index; null where it has none.
const Json* step_into(const Json& value, std::string_view name);

}  // namespace signet::json
