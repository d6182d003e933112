// What stands inside tokens of other systems, to explain why one is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/bytes.h>

namespace signet::cli {

struct ProfileContents {
  std::vector<std::pair<std::string, std::string>>
      claims;  // name and value, harmless to show, in the token's order
  std::optional<Bytes> state;
};

// The claims and the state, from what a refusal of that format has of them (ProfileRefused::content). Nothing where it has
// nothing, or what does not read as that format writes it.
std::optional<ProfileContents> contents_of(std::string_view format, ByteView content);

}  // namespace signet::cli
