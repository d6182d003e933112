#include <signet/cli/command.h>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

#include <signet/cli/shown_text.h>
#include <signet/keys/time_text.h>

namespace signet::cli {

void fail(const std::string& sentence, int exit_code) {
  std::cerr << "signet: " << sentence << '\n';
  throw CLI::RuntimeError(exit_code);
}

std::string read_input(const std::string& path, std::size_t bytes_max) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) fail("cannot open " + path + ": " + std::strerror(errno));
  }
  std::istream& input = path == "-" ? std::cin : file;
  std::string text;
  for (char block[4096]; input.read(block, sizeof block) || input.gcount() > 0;) {
    text.append(block, static_cast<std::size_t>(input.gcount()));
    if (text.size() > bytes_max) {
      fail((path == "-" ? "standard input" : path) + " has more than " + std::to_string(bytes_max) +
           " bytes");
    }
  }
  if (input.bad()) fail("cannot read " + (path == "-" ? "standard input" : path));
  return text;
}

void add_duration(CLI::App& command, const std::string& name, std::int64_t& seconds,
                  const std::string& description, std::int64_t seconds_min) {
  const std::map<std::string, std::int64_t> units{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  command.add_option(name, seconds, description + "; in seconds, or with s, m, h or d")
      ->transform(CLI::Validator(CLI::AsNumberWithUnit(units)).description(""))
      ->check(CLI::Validator(CLI::Range(seconds_min, option_seconds_max)).description(""))
      ->type_name("TIME");
}

Timestamp time_or_now(const std::string& text) {
  if (text.empty()) return system_clock().now();
  const std::optional<Timestamp> time = keys::parse_time(text);
  if (!time) fail("'" + printable(text) + "' is no time like 2026-11-29T12:00:00Z", 2);
  return *time;
}

}  // namespace signet::cli
