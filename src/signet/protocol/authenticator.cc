#include <signet/protocol/authenticator.h>

namespace signet {
namespace {

// A quoted-string (RFC 9110, section 5.6.4) of what may stand in one; other bytes become spaces.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= 0x20 && c <= 0x7e ? c : ' ';
  }
  out += '"';
  return out;
}

}  // namespace

int http_status(const Challenge& challenge) {
  switch (challenge.kind) {
    case Challenge::Kind::unauthenticated:
      return 401;
    case Challenge::Kind::forbidden:
      return 403;
    case Challenge::Kind::malformed:
      break;
  }
  return 400;
}

std::string www_authenticate(const Challenge& challenge, std::string_view metadata_url) {
  std::string value = "Bearer";
  char separator = ' ';
  const auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    value += separator;
    value += name;
    value += '=';
    value += quoted(text);
    separator = ',';
  };
  add("error", challenge.error);
  add("error_description", challenge.description);
  add("scope", challenge.scope);
  add("resource_metadata", metadata_url);
  return value;
}

}  // namespace signet
