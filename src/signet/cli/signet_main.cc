// The command `signet`.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <signet/cli/client_commands.h>
#include <signet/cli/help.h>
#include <signet/cli/keys_command.h>
#include <signet/cli/terminal.h>
#include <signet/cli/token_command.h>
#include <signet/protocol/versions.h>

namespace {

int version() {
  std::cout << "signet 0.1.0\nMCP";
  for (const std::string_view one : signet::protocol::modern_versions) std::cout << " " << one;
  for (const std::string_view one : signet::protocol::handshake_versions) std::cout << " " << one;
  std::cout << "\n";
  return 0;
}

// The words up to the first that should have been a command and is none; empty where that is not what went wrong.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string path;
  for (const std::string& word : words) {
    if (command->get_require_subcommand_min() == 0 || word.starts_with('-')) return {};
    path += (path.empty() ? "" : " ") + signet::cli::one_line(word);
    const std::vector<CLI::App*> parsed = command->get_subcommands();
    if (parsed.empty()) return path;
    command = parsed.front();
  }
  return {};
}

bool is_like_a_token(const std::string& word) {
  return word.size() > 20 && !word.starts_with('-') && word.find_first_of("/ ") == std::string::npos;
}

// The command that the words name, as far as they do.
const CLI::App& command_of(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : command_of(*parsed.front());
}

// How it is used, and where more is said.
std::string advice(const CLI::App& app, bool is_token) {
  const CLI::App& command = command_of(app);
  const std::string help = command.help();
  const std::size_t begin = help.find("Usage: ");
  std::string text;
  if (is_token) text = "A token is read from standard input, so that no list of commands keeps it.\n";
  if (begin != std::string::npos)
    text += "u" + help.substr(begin + 1, help.find('\n', begin) - begin - 1) + "\n";
  std::string name;
  for (const CLI::App* part = &command; part != nullptr; part = part->get_parent())
    name = part->get_name() + " " + name;
  return text + name + "--help says more.\n";
}

}  // namespace

int main(int argc, char** argv) {
  // Commands that name a server split their words by their own rules, before CLI11 sees them.
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && signet::cli::is_client_command(words.front())) {
    return signet::cli::run_client_command(words.front(), {words.begin() + 1, words.end()});
  }
  if (!words.empty() && words.front() == "--version") return version();

  CLI::App app("Model Context Protocol with sealed multi round-trip state", "signet");
  app.require_subcommand(1);
  app.formatter(std::make_shared<signet::cli::Help>("signet COMMAND [OPTIONS]"));
  app.footer(
      "signet COMMAND --help says more.\n\n"
      "Exit codes: 0 done, 1 refused or failed, 2 wrong command line; call, trace, list, read, prompt and\n"
      "listen have more.");
  for (const auto& [name, summary] : signet::cli::client_commands()) app.add_subcommand(name, summary);
  signet::cli::add_keys_command(app);
  signet::cli::add_token_command(app);
  app.add_subcommand("version", "Print the version and the revisions of MCP it speaks")->callback(version);
  if (words.empty()) {
    std::cerr << app.help();
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();  // it has been said
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_command(app, words);
    const bool is_token =
        words.front() == "token" && std::any_of(words.begin(), words.end(), is_like_a_token);
    std::cerr << "signet: " << (unknown.empty() ? error.what() : "there is no command " + unknown) << "\n"
              << advice(app, is_token);
    return 2;
  }
  if (!std::cout.flush()) {
    std::cerr << "signet: standard output cannot be written\n";
    return 1;
  }
  return 0;
}
