#include <signet/cli/unauthorized.h>

#include <algorithm>

#include <signet/cli/shown_text.h>
#include <signet/json/text.h>
#include <signet/protocol/header_codec.h>

namespace signet::cli {
namespace {

constexpr std::size_t servers_max = 8;
constexpr std::size_t address_bytes_max = 300;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Reads a token or a quoted text off the front.
std::string take_value(std::string_view& rest) {
  std::string value;
  if (!rest.starts_with('"')) {
    const std::size_t end = std::min(rest.find_first_of(" \t,"), rest.size());
    value = rest.substr(0, end);
    rest.remove_prefix(end);
    return value;
  }
  rest.remove_prefix(1);
  while (!rest.empty() && rest.front() != '"') {
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    value += rest.front();
    rest.remove_prefix(1);
  }
  if (!rest.empty()) rest.remove_prefix(1);
  return value;
}

}  // namespace

std::string challenge_parameter(std::string_view challenge, std::string_view name) {
  std::string_view rest = challenge;
  while (!rest.empty()) {
    std::size_t length = 0;
    while (length < rest.size() && is_name_character(rest[length])) ++length;
    const std::string_view found = rest.substr(0, length);
    rest.remove_prefix(length);
    if (length > 0 && rest.starts_with('=')) {
      rest.remove_prefix(1);
      std::string value = take_value(rest);
      if (protocol::equal_ignoring_case(found, name)) return value;
    } else if (length == 0) {
      if (rest.front() == '"') {
        take_value(rest);
      } else {
        rest.remove_prefix(1);
      }
    }
  }
  return {};
}

std::string usual_metadata_url(const transport::HttpUrl& server) {
  transport::HttpUrl metadata = server;
  const std::string path = server.target.substr(0, server.target.find('?'));
  metadata.target = "/.well-known/oauth-protected-resource" + (path == "/" ? std::string() : path);
  return metadata.text();
}

std::vector<std::string> authorization_servers(std::string_view metadata) {
  std::vector<std::string> servers;
  const Result<Json, json::ParseError> document = json::parse(metadata);
  const Json* listed = document ? document->find("authorization_servers") : nullptr;
  if (listed == nullptr || !listed->is_array()) return servers;
  for (const Json& one : *listed->as_array()) {
    if (servers.size() < servers_max && one.is_string()) servers.push_back(*one.as_string());
  }
  return servers;
}

std::string explain_unauthorized(const Unauthorized& told) {
  std::string all = told.token_sent ? "The server does not accept this token (401)"
                                    : "The server wants to know who calls (401)";
  if (!told.description.empty()) all += ": \"" + one_line(told.description, 200) + "\"";
  all += ".";
  std::string servers;
  for (const std::string& server : told.servers)
    servers += (servers.empty() ? "" : ", ") + one_line(server, address_bytes_max);
  if (!servers.empty()) {
    all += " It takes tokens of " + servers + ".";
  } else if (!told.metadata_url.empty()) {
    all += " Who gives tokens for it stands at " + one_line(told.metadata_url, address_bytes_max) + ".";
  }
  return all +
         " signet does not sign in by itself: put a token into SIGNET_TOKEN, or into a file for "
         "--token-file.";
}

}  // namespace signet::cli
