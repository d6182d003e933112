// How every `--help` looks.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace signet::cli {

// Our own usage line; options with the name of their value and nothing else; rows of at most 100 characters.
class Help final : public CLI::Formatter {
 public:
  explicit Help(std::string usage) : usage_(std::move(usage)) { column_width(24); }

  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }
  // The usage line has them.
  std::string make_positionals(const CLI::App*) const override { return {}; }
  std::string make_option(const CLI::Option* option, bool) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  std::string usage_;
};

}  // namespace signet::cli
