// An address that a server wants a person to open, as it must be shown before. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>

namespace signet::cli {

struct WebAddress {
  std::string text;  // all of it in visible ASCII: what is shown is what is opened
  std::string host;  // with its port where it has one; letters outside ASCII as xn--... (RFC 3492)
  std::vector<std::string> warnings;  // what the person should know of it, a sentence each
};

// Reads an http or https address. An error, a sentence without its full stop, for every other one and for those that lead
// elsewhere than they seem to: user names (https://good@evil), hosts spelled by escapes or as one number, characters
// that no address has.
Result<WebAddress> read_web_address(std::string_view text);

// One label of a host name in its ASCII form, `xn--...` where it has other letters; nothing where it is no UTF-8. Without
// the mapping of IDNA: a browser refuses what that would have changed.
std::optional<std::string> ascii_label(std::string_view label);

}  // namespace signet::cli
