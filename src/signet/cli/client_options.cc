#include <signet/cli/client_options.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include <signet/cli/command.h>
#include <signet/cli/help.h>

namespace signet::cli {
namespace {

constexpr const char* server_help =
    "SERVER is an address (http://host:port/mcp, https://...; localhost:8080/mcp means http), or -- and\n"
    "the command that starts a server on its standard streams.";
constexpr const char* split_help =
    " That command ends at a second --. Without\n"
    "one it ends before the last word that is neither key=value nor an option of signet: that word is\n"
    "the tool, prompt or resource.";
constexpr const char* tool_examples =
    "\n"
    "  signet %C https://example.com/mcp book nights=2\n"
    "  signet %C -- ./server --fast book nights=2\n"
    "  signet %C -- ./server --fast -- book --json '{\"nights\": 2}'\n"
    "Values are texts, or what the tool's schema says; key:=JSON is taken as it stands.";
constexpr const char* read_examples =
    "\n"
    "  signet read https://example.com/mcp file:///notes.txt\n"
    "  signet read -- ./server --fast file:///notes.txt";
constexpr const char* prompt_examples =
    "\n"
    "  signet prompt https://example.com/mcp greet name=Ada\n"
    "  signet prompt -- ./server --fast greet name=Ada";
constexpr const char* question_help =
    "\nAt a question, /decline refuses, /cancel dismisses it, Ctrl-C leaves without an answer.";
constexpr const char* exit_help =
    "\n\nExit codes: 0 done, 1 refused or failed, 2 wrong command line, 3 not reached or no MCP server,\n"
    "4 asked for what nobody answers, 5 saved before it was finished, 130 interrupted (128 and the\n"
    "number of the signal).";
constexpr const char* exit_help_unasked =
    "\n\nExit codes: 0 done, 1 refused or failed, 2 wrong command line, 3 not reached or no MCP server,\n"
    "130 interrupted (128 and the number of the signal).";

const char* description_of(const std::string& command) {
  if (command == "call") return "Calls a tool, and asks you what the tool asks.";
  if (command == "trace")
    return "Calls a tool and shows every message on the way, on standard output; the result comes last.";
  if (command == "list")
    return "Lists what a server offers: tools, prompts, resources, templates, or all of it.";
  if (command == "read") return "Reads a resource.";
  if (command == "prompt") return "Gets a prompt.";
  return "Shows what a server announces, until it ends or you press Ctrl-C.";
}

const char* usage_of(const std::string& command) {
  if (command == "list") return "signet list SERVER [tools|prompts|resources|templates] [OPTIONS]";
  if (command == "read") return "signet read SERVER URI [OPTIONS]";
  if (command == "prompt") return "signet prompt SERVER NAME [key=value...] [OPTIONS]";
  if (command == "listen")
    return "signet listen SERVER [tools] [prompts] [resources] [--uri URI...] [--task ID...] [OPTIONS]";
  if (command == "trace") return "signet trace SERVER TOOL [key=value... | --json '{...}'] [OPTIONS]";
  return "signet call SERVER TOOL [key=value... | --json '{...}'] [OPTIONS]\n"
         "       signet call --resume FILE [SERVER] [OPTIONS]";
}

const char* wanted_of(const std::string& command) {
  if (command == "read") return "resource";
  return command == "prompt" ? "prompt" : "tool";
}

bool asks(const std::string& command) { return command != "list" && command != "listen"; }

std::string footer_of(const std::string& command) {
  if (!asks(command)) return std::string(server_help) + exit_help_unasked;
  std::string examples = command == "read"     ? read_examples
                         : command == "prompt" ? prompt_examples
                                               : tool_examples;
  for (std::size_t at = 0; (at = examples.find("%C")) != std::string::npos;) examples.replace(at, 2, command);
  return std::string(server_help) + split_help + examples + question_help + exit_help;
}

// Not what is no number, nor so much that a sum of times overflows.
std::string is_time(const std::string& text) {
  double seconds = -1;
  const bool read = CLI::detail::lexical_cast(text, seconds);
  return read && seconds >= 0 && seconds <= static_cast<double>(option_seconds_max)
             ? ""
             : text + " is no time in seconds";
}

// Says the choices when it refuses, and not in the list of options.
CLI::Validator one_of(std::vector<std::string> choices) {
  return CLI::Validator(CLI::IsMember(std::move(choices))).description("");
}

void declare(CLI::App& app, ClientCommandOptions& options) {
  const std::string& command = options.command;
  app.add_flag("--json", options.json,
               command == "trace"    ? "Print every message and at last the result as JSON, a line for each"
               : command == "listen" ? "Print every announcement as JSON, a line for each"
                                     : "Print the result as JSON on one line");
  app.add_option(
         "--header", options.headers,
         "Send this header, 'Name: value'; may be repeated. Not for secrets: other users of the machine "
         "can read command lines")
      ->type_name("HEADER")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--token-file", options.token_file,
                 "Send the bearer token on the first line of this file (else the one in $SIGNET_TOKEN)")
      ->type_name("FILE");
  app.add_option("--env", options.environment,
                 "Give the server's command this variable: NAME=VALUE, or NAME alone for the one that signet "
                 "has; may be repeated. It gets all of signet's but those whose names begin with SIGNET_")
      ->type_name("VARIABLE")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--ca", options.ca_file, "Trust the certificates in this file, not the system's")
      ->type_name("FILE");
  app.add_option("--timeout", options.timeout_seconds,
                 "How long the server may take, without your own time (300 seconds; 0: no limit)")
      ->type_name("SECONDS")
      ->check(is_time);
  app.add_option("--versions", options.versions,
                 "any (unless given), modern (2026-07-28) or handshake (2025-11-25 and before)")
      ->type_name("WHICH")
      ->check(one_of({"any", "modern", "handshake"}));
  app.add_option("--log-level", options.log_level,
                 "Show the server's log messages from this level on: debug, info, notice, warning, error, "
                 "critical, alert or emergency (none)")
      ->type_name("LEVEL")
      ->check(one_of({"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}));
  app.add_flag("--verbose", options.verbose, "Say what happens on the way, on standard error");
  if (asks(command)) {
    app.add_flag(
        "--yes", options.yes,
        "Answer yes, and take the defaults. Addresses to visit are accepted and shown, never opened");
    app.add_option("--answers", options.answers,
                   "Take the answers from this JSON file: {\"key\": {\"field\": ...}}")
        ->type_name("FILE");
    app.add_option("--answer", options.answer,
                   "Answer this field; may be repeated. Not for secrets, which go into --answers")
        ->type_name("FIELD=VALUE")
        ->allow_extra_args(false)
        ->take_all();
    app.add_option("--rounds", options.rounds_max,
                   "How often the server may ask in one call (10; at most 1000)")
        ->type_name("COUNT")
        ->check(CLI::Validator(CLI::Range(0, 1000)).description(""));
    app.add_option("--save", options.save,
                   "Do not ask: keep the call in this new file, for --resume; only you may read it")
        ->type_name("FILE");
    app.add_flag("--force", options.force,
                 command == "trace" ? "Replace files of --save and --last-state that are there already"
                                    : "Replace a file of --save that is there already");
    app.add_option(
           "--resume", options.resume,
           "Go on with the call kept in this file, at its server or at another instance of it (SERVER, whose "
           "command ends with the line or at a second --); the file is removed when the call is over")
        ->type_name("FILE");
  }
  if (command == "call" || command == "trace") {
    app.add_option("--arguments", options.arguments,
                   "All arguments as a JSON object, as @FILE, or - for standard input; --json followed by "
                   "one of these is short for it")
        ->type_name("JSON");
  }
  if (command == "trace") {
    app.add_flag("--full", options.full, "Show states in full: who has one may continue the call");
    app.add_option("--last-state", options.last_state,
                   "Keep the last state in this new file; signet token inspect reads it")
        ->type_name("FILE");
  }
  if (command == "listen") {
    app.add_option("--uri", options.uris, "Hear of changes of this resource; may be repeated")
        ->type_name("URI")
        ->allow_extra_args(false)
        ->take_all();
    app.add_option("--task", options.task_ids, "Hear of the status of this task; may be repeated")
        ->type_name("ID")
        ->allow_extra_args(false)
        ->take_all();
  }
  app.add_option("WORDS", options.words)->group("");
}

OptionNames names_of(const CLI::App& app) {
  OptionNames names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    (option->get_items_expected_max() == 0 ? names.flags : names.values).push_back(name);
  }
  return names;
}

int mistake(const std::string& command, const std::string& sentence) {
  std::cerr << "signet " << command << ": " << sentence << "\nusage: " << usage_of(command) << "\n";
  return 2;
}

// The target is the command, or the first word.
std::optional<std::string> take_target(ClientCommandOptions& options, std::vector<std::string> command) {
  if (!options.resume.empty()) {
    if (options.words.size() > (command.empty() ? 1U : 0U))
      return "--resume FILE knows the call already; only the server may stand behind it";
    if (options.words.empty()) {
      options.target.command = std::move(command);
      return std::nullopt;
    }
  }
  options.target.command = std::move(command);
  if (!options.target.command.empty()) return std::nullopt;
  if (options.words.empty()) return "which server? Give its address, or -- and its command";
  const std::optional<std::string> url = as_url(options.words.front());
  if (!url)
    return options.words.front() +
           " is no address of a server (http://... or https://...); a command goes behind --";
  options.target.url = *url;
  options.words.erase(options.words.begin());
  return std::nullopt;
}

// Whether --resume stands before the server's command, which may have an option of that name.
bool resumes(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), std::find(words.begin(), words.end(), "--"), [](const std::string& word) {
    return word == "--resume" || word.starts_with("--resume=");
  });
}

// What is wrong with an option that CLI11 does not look into.
std::optional<std::string> malformed(const ClientCommandOptions& options) {
  for (const std::string& header : options.headers) {
    if (header.find(':') == std::string::npos) return "--header needs 'Name: value'";
  }
  for (const std::string& variable : options.environment) {
    const std::size_t equals = variable.find('=');
    const bool unknown = equals == std::string::npos && std::getenv(variable.c_str()) == nullptr;
    if (unknown || variable.empty() || equals == 0)
      return "--env " + variable + ": there is no such variable here";
  }
  return std::nullopt;
}

}  // namespace

ParsedOptions parse_client_options(const std::string& command, const std::vector<std::string>& words) {
  ParsedOptions parsed;
  ClientCommandOptions options;
  options.command = command;
  CLI::App app(description_of(command), "signet " + command);
  app.formatter(std::make_shared<Help>(usage_of(command)));
  app.footer(footer_of(command));
  declare(app, options);
  OptionNames ours = names_of(app);
  const std::size_t trailing = asks(command) && !resumes(words) ? 1 : 0;
  Result<Split> split = split_command(separate_json(words), trailing, ours);
  const bool wants_help =
      std::find(words.begin(), words.end(), "--help") < std::find(words.begin(), words.end(), "--");
  if (!split && !wants_help) {
    parsed.exit_code = mistake(command, split.error().message);
    return parsed;
  }
  std::vector<std::string> rest = split ? separate_json(split->words) : std::vector<std::string>{"--help"};
  // CLI11 takes the words from the back.
  std::vector<std::string> reversed(rest.rbegin(), rest.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return parsed;
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = mistake(command, error.what());
    return parsed;
  }
  const std::optional<std::string> problem = take_target(options, std::move(split->command));
  if (problem) {
    parsed.exit_code = mistake(command, *problem);
    return parsed;
  }
  const std::optional<std::string> wrong = malformed(options);
  if (wrong) {
    parsed.exit_code = mistake(command, *wrong);
    return parsed;
  }
  if (trailing == 1 && options.words.empty() && options.resume.empty()) {
    parsed.exit_code = mistake(command, std::string("which ") + wanted_of(command) + "?");
    return parsed;
  }
  parsed.options = std::move(options);
  return parsed;
}

}  // namespace signet::cli
