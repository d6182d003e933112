// The words of the command line that name a server and what to do there. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>
#include <signet/json/text.h>
#include <signet/json/value.h>

namespace signet::cli {

// Where a server is: an address, or a command that starts one.
struct Target {
  std::string url;
  std::vector<std::string> command;

  bool empty() const { return url.empty() && command.empty(); }
  // For messages.
  std::string text() const;
};

// The command line of a command of ours at this server, as a shell takes it: `signet call URL WORDS`. Without options.
std::string command_line(const std::string& command, const Target& target,
                         const std::vector<std::string>& words);

struct Split {
  std::vector<std::string> command;  // behind `--`; empty where there is none
  std::vector<std::string> words;    // all the rest, options and values, in their order
};

// Takes the command out of the words. It begins behind the first `--` and ends before a second `--`; without a second one
// it ends where `trailing_words` words that are no options are left for us (the tool), behind which only key=value words
// and the options named below may stand.
struct OptionNames {
  std::vector<std::string> flags;   // --yes
  std::vector<std::string> values;  // --answers FILE
};
Result<Split> split_command(const std::vector<std::string>& words, std::size_t trailing_words,
                            const OptionNames& ours);

// Turns `--json {...}`, `--json [...]`, `--json @file` and `--json -` into `--arguments VALUE`; a `--json` before anything
// else stays: it asks for JSON output.
std::vector<std::string> separate_json(const std::vector<std::string>& words);

// http:// and https:// addresses as they are; loopback hosts with a port get http:// in front.
std::optional<std::string> as_url(std::string_view word);

bool is_assignment(std::string_view word);

// The arguments that `key=value` and `key:=json` words stand for. `schema`, where known, says which values are
// numbers, booleans, arrays or objects; without it, they are strings. Twice the same key makes an array where the
// schema wants one, and is an error elsewhere.
Result<Json> arguments_from(const std::vector<std::string>& words, const Json& schema);

// A sentence for each argument that the schema of a tool does not name, though it seems to name all; with the property that
// may have been meant. The server decides, so these are warnings.
std::vector<std::string> unknown_arguments(const Json& arguments, const Json& schema);

// Why this text is no JSON, in a sentence: `json::describe`, and where it ends too early, that.
std::string describe_json_error(const json::ParseError& error, std::string_view text);

// The one of the names that a mistyped word most likely stands for, or nothing.
std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace signet::cli
