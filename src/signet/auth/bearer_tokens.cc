#include <signet/auth/bearer_tokens.h>

#include <algorithm>
#include <utility>

#include <signet/base/bytes.h>
#include <signet/base/secret.h>

namespace signet::auth {
namespace {

bool is_token_character(char c) {
  constexpr std::string_view marks = "-._~+/=";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         marks.find(c) != std::string_view::npos;
}

bool is_bearer(std::string_view scheme) {
  constexpr std::string_view expected = "bearer";
  return std::ranges::equal(scheme, expected, {}, [](char c) { return static_cast<char>(c | 0x20); });
}

std::optional<int> hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::optional<Digest> parse_digest(std::string_view text) {
  Digest digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const std::optional<int> high = hex_value(text[2 * i]);
    const std::optional<int> low = hex_value(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return digest;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

std::optional<std::vector<std::string>> parse_scopes(const Json* list) {
  std::vector<std::string> scopes;
  if (list == nullptr) return scopes;
  const JsonArray* elements = list->as_array();
  if (elements == nullptr) return std::nullopt;
  for (const Json& element : *elements) {
    const std::string* word = element.as_string();
    if (word == nullptr) return std::nullopt;
    scopes.push_back(*word);
  }
  return scopes;
}

}  // namespace

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos || !is_bearer(authorization.substr(0, space))) return std::nullopt;
  std::string_view token = authorization.substr(space);
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  if (token.empty() || !std::ranges::all_of(token, is_token_character)) return std::nullopt;
  return token;
}

void BearerTokens::add(std::string_view token, std::string principal_id, std::vector<std::string> scopes) {
  add_digest(sha256(as_bytes(token)), std::move(principal_id), std::move(scopes));
}

void BearerTokens::add_digest(const Digest& sha256_of_token, std::string principal_id,
                              std::vector<std::string> scopes) {
  Known known;
  known.digest = sha256_of_token;
  known.principal = std::move(principal_id);
  known.scopes = std::move(scopes);
  tokens_.push_back(std::move(known));
}

Result<void> BearerTokens::add_from(const Json& document) {
  const Json* list = document.find("tokens");
  const JsonArray* entries = list != nullptr ? list->as_array() : nullptr;
  if (entries == nullptr) return failure("the document has no list `tokens`");
  std::vector<Known> read;
  for (const Json& entry : *entries) {
    const std::string* digest_text = entry.find_string("sha256");
    const std::string* principal = entry.find_string("principal");
    const std::optional<Digest> digest =
        digest_text != nullptr ? parse_digest(*digest_text) : std::optional<Digest>();
    std::optional<std::vector<std::string>> scopes = parse_scopes(entry.find("scopes"));
    if (!digest || principal == nullptr || principal->empty() || !scopes)
      return failure(
          "an entry of `tokens` needs sha256 (64 hex digits), principal, and scopes if any as a list");
    Known known;
    known.digest = *digest;
    known.principal = *principal;
    known.scopes = std::move(*scopes);
    read.push_back(std::move(known));
  }
  std::ranges::move(read, std::back_inserter(tokens_));
  return {};
}

Task<Result<Principal, Challenge>> BearerTokens::authenticate(const CallerHeaders& caller) {
  co_return decide(caller);
}

Result<Principal, Challenge> BearerTokens::decide(const CallerHeaders& caller) const {
  const std::optional<std::string> authorization = caller.header("Authorization");
  if (!authorization) return failure(challenge(Challenge::Kind::unauthenticated, "", ""));
  const std::optional<std::string_view> token = bearer_token(*authorization);
  const Known* known = token ? find(*token) : nullptr;
  if (known == nullptr)
    return failure(challenge(Challenge::Kind::unauthenticated, "invalid_token", "The token is not valid"));
  if (!may(*known))
    return failure(challenge(Challenge::Kind::forbidden, "insufficient_scope",
                             "The token does not hold the scope needed"));
  return Principal::authenticated(known->principal);
}

// Looks at every token, whichever matches.
const BearerTokens::Known* BearerTokens::find(std::string_view token) const {
  const Digest digest = sha256(as_bytes(token));
  const Known* found = nullptr;
  for (const Known& known : tokens_) {
    if (equal_in_constant_time(known.digest, digest)) found = &known;
  }
  return found;
}

bool BearerTokens::may(const Known& known) const {
  return std::ranges::all_of(required_, [&](const std::string& needed) {
    if (rule_) return rule_(known.scopes, needed);
    return std::ranges::find(known.scopes, needed) != known.scopes.end();
  });
}

Challenge BearerTokens::challenge(Challenge::Kind kind, std::string_view error,
                                  std::string_view description) const {
  Challenge challenge(kind);
  challenge.error = error;
  challenge.scope = join(required_);
  challenge.description = description;
  return challenge;
}

}  // namespace signet::auth
