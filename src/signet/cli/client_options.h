// What the words behind a command mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <signet/cli/arguments.h>

namespace signet::cli {

struct ClientCommandOptions {
  std::string command;  // call, list, ...
  Target target;
  std::vector<std::string> words;  // behind the target: the tool, key=value, ...
  std::string arguments;           // JSON, @FILE or -
  bool json = false;
  bool yes = false;
  std::string answers;              // a file or -
  std::vector<std::string> answer;  // field=value
  std::string save;
  std::string resume;
  bool force = false;                    // files that are there may be replaced
  std::vector<std::string> environment;  // of the server's command: NAME=value, or NAME for ours
  std::vector<std::string> headers;
  std::string token_file;
  std::string ca_file;
  double timeout_seconds = 300;  // 0: no limit
  int rounds_max = 10;
  std::string versions = "any";
  std::string log_level;
  bool verbose = false;
  bool full = false;                  // trace
  std::string last_state;             // trace
  std::vector<std::string> uris;      // listen
  std::vector<std::string> task_ids;  // listen
};

// The options, or an exit code with everything said already: help on standard output, a mistake on standard error.
struct ParsedOptions {
  std::optional<ClientCommandOptions> options;
  int exit_code = 0;
};
ParsedOptions parse_client_options(const std::string& command, const std::vector<std::string>& words);

}  // namespace signet::cli
