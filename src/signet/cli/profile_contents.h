// What stands inside tokens of other systems, to explain why one is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/token/profiles/profile.h>

namespace signet::cli {

struct ProfileContents {
  std::vector<std::pair<std::string, std::string>>
      claims;  // name and value, harmless to show, in the token's order
  std::optional<Bytes> state;
};

// The claims and the state of a token that the format's own `open` found authentic with one of these keys, and refused
// for what it says. What does not read as that format writes it, and formats without claims, have none: nothing.
std::optional<ProfileContents> contents_of(std::string_view format, std::string_view token,
                                           const std::vector<token::profiles::ProfileKey>& keys,
                                           const token::profiles::Context& context);

}  // namespace signet::cli
