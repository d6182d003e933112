// What a child process of ours finds in its environment. Internal.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace signet::transport {

// `NAME=value` for each variable of this process, without those whose names begin with SIGNET_, which hold what is ours (a
// token, a ring), and with `added` in place of what has the same names.
std::vector<std::string> child_environment(const std::vector<std::pair<std::string, std::string>>& added);

// As posix_spawn takes words and variables: null at the end. Borrows the texts.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace signet::transport
