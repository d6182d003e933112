// What to do about a server that wants to know who calls. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <signet/transport/http_url.h>

namespace signet::cli {

// What is known of a 401. Texts are the server's.
struct Unauthorized {
  bool token_sent = false;           // and was not accepted
  std::string description;           // of the challenge
  std::string metadata_url;          // where the server says who gives tokens; empty where it does not
  std::vector<std::string> servers;  // that give them, as the metadata says
};

// One to four sentences, for one line.
std::string explain_unauthorized(const Unauthorized& told);

// A parameter of a WWW-Authenticate header (RFC 9110, section 11.6.1), or empty.
std::string challenge_parameter(std::string_view challenge, std::string_view name);

// Where the metadata stands if the challenge does not say so (RFC 9728, section 3.1).
std::string usual_metadata_url(const transport::HttpUrl& server);

// `authorization_servers` of the metadata (RFC 9728, section 2): addresses, eight at most; none where the text is something
// else.
std::vector<std::string> authorization_servers(std::string_view metadata);

}  // namespace signet::cli
