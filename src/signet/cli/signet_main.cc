// The command `signet`.
#include <CLI/CLI.hpp>

#include <iostream>

#include <signet/cli/keys_command.h>
#include <signet/cli/token_command.h>

int main(int argc, char** argv) {
  CLI::App app("Model Context Protocol with sealed multi round-trip state", "signet");
  app.require_subcommand(1);
  signet::cli::add_keys_command(app);
  signet::cli::add_token_command(app);
  app.add_subcommand("version", "Print the version")->callback([] { std::cout << "signet 0.1.0\n"; });
  CLI11_PARSE(app, argc, argv);
  return 0;
}
