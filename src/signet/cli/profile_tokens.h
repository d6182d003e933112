// Tokens of other systems on the command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>

namespace signet::cli {

// Which format, with which keys, for which request.
struct ProfileRequest {
  std::string profile;      // its name: python-sdk-v1, ...
  std::string ring;         // a ring file: its sealing key seals, the others open too
  std::string secret_file;  // instead of a ring: the other system's secret as the bytes of a file
  std::string key_id;       // with secret_file, where the format names keys
  std::vector<std::string>
      given;  // the options that were given: those that the format does not know are refused
  std::string method;
  std::string params;  // JSON text; empty where there are none
  std::optional<std::string> audience;
  std::optional<std::string> principal;
  std::string version;
  std::optional<std::string> bound;  // what the application bound itself
  Timestamp now{};
  std::optional<std::chrono::milliseconds> lifetime;
  bool show_state = false;
};

// The secret in a file's bytes: all of them, but for a line end at the end of a text (which hexadecimal and base64 are
// too). What is no text is binary, and its last byte may be any.
ByteView secret_in(ByteView file);

// Each fails the command with a sentence where it cannot do its work.
std::string seal_profile_token(const ProfileRequest& request, const std::string& state);
std::string open_profile_token(const ProfileRequest& request, const std::string& token);
// Prints what is in the token, or why it is refused; returns whether it opened.
bool inspect_profile_token(const ProfileRequest& request, const std::string& token);

// The names of the formats, for --help; empty where this build has none.
std::string profile_names();

}  // namespace signet::cli
