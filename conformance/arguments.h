// How the servers of this folder are started: `--http --port N`, or nothing for stdio; `--ring FILE` for a key ring.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

namespace conformance {

struct Arguments {
  bool http = false;
  std::uint16_t port = 0;
  std::string ring;
};

// Ends the program with a sentence and code 2 where they make no sense.
inline Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (argument == "--http") {
      arguments.http = true;
      continue;
    }
    if (argument == "--ring" && value != nullptr) {
      arguments.ring = value;
      ++i;
      continue;
    }
    if (argument == "--port" && value != nullptr) {
      const std::string_view digits = value;
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), arguments.port);
      if (error == std::errc() && end == digits.end()) {
        ++i;
        continue;
      }
    }
    std::cerr << argv[0] << " [--http --port N] [--ring FILE]\n";
    std::exit(2);
  }
  return arguments;
}

}  // namespace conformance
