// The commands that talk to a server: call, list, read, prompt, listen, trace.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace signet::cli {

// Name and what it is for, as the overall help lists them.
std::vector<std::pair<std::string, std::string>> client_commands();
bool is_client_command(const std::string& name);

// Runs one. `words` are what stands behind the command's name. Returns the exit code: 0 done, 1 refused or failed, 2 a wrong
// command line, 3 not reached or no MCP server, 4 asked for what nobody answers, 5 saved before it was finished, 130 and 143
// interrupted.
int run_client_command(const std::string& name, const std::vector<std::string>& words);

}  // namespace signet::cli
