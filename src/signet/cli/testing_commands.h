// The commands `keys` and `token`, as the tests run them.
#pragma once

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <signet/cli/keys_command.h>
#include <signet/cli/token_command.h>

namespace signet::cli {

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct CommandTest : ::testing::Test {
  CommandTest() {
    std::string name = std::filesystem::temp_directory_path() / "signet-cli-XXXXXX";
    folder = ::mkdtemp(name.data());
    ring = folder / "ring.json";
    params = folder / "params.json";
    std::ofstream(params) << R"({"name": "deploy", "arguments": {"env": "prod", "n": 1.0}})";
  }
  ~CommandTest() override { std::filesystem::remove_all(folder); }

  // Runs `signet` with these arguments and this standard input.
  static Outcome run(const std::vector<std::string>& arguments, const std::string& input = "") {
    CLI::App app;
    app.require_subcommand(1);
    add_keys_command(app);
    add_token_command(app);
    std::istringstream in(input);
    std::ostringstream out, err;
    std::streambuf* const old_in = std::cin.rdbuf(in.rdbuf());
    std::streambuf* const old_out = std::cout.rdbuf(out.rdbuf());
    std::streambuf* const old_err = std::cerr.rdbuf(err.rdbuf());
    Outcome outcome;
    try {
      app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& error) {
      outcome.exit_code = app.exit(error, out, err);
    }
    std::cin.rdbuf(old_in);
    std::cout.rdbuf(old_out);
    std::cerr.rdbuf(old_err);
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
  }

  std::string read_ring() const {
    std::ifstream file(ring);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::filesystem::path folder;
  std::string ring;
  std::string params;
};

}  // namespace signet::cli
