// Callers known by a fixed token each.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/digest.h>
#include <signet/base/principal.h>
#include <signet/base/result.h>
#include <signet/json/value.h>
#include <signet/protocol/authenticator.h>

namespace signet::auth {

// True if a caller that holds these scopes may do what needs that one. The default: it is among them (S96).
using ScopeRule = std::function<bool(const std::vector<std::string>& held, std::string_view needed)>;

// `Authorization: Bearer <token>` (RFC 6750) against a list. Tokens are kept as SHA-256 digests only, and all of them are
// compared, in constant time, whichever matches. Configure first, then share: thread-safe while it is not changed.
class BearerTokens final : public Authenticator {
 public:
  BearerTokens() = default;

  // Whoever shows this token is `principal_id`. At least 16 characters of randomness are what makes a token one; short
  // ones are for tests.
  void add(std::string_view token, std::string principal_id, std::vector<std::string> scopes = {});
  void add_digest(const Digest& sha256_of_token, std::string principal_id,
                  std::vector<std::string> scopes = {});
  // {"tokens":[{"sha256":"<64 hex digits>","principal":"alice","scopes":["mcp"]}]}; nothing is added on an error.
  Result<void> add_from(const Json& document);

  // What every caller must hold: otherwise 403 insufficient_scope (S95).
  void require(std::vector<std::string> scopes) { required_ = std::move(scopes); }
  void set_scope_rule(ScopeRule rule) { rule_ = std::move(rule); }

  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override;

 private:
  struct Known {
    Digest digest;
    std::string principal;
    std::vector<std::string> scopes;
  };

  Result<Principal, Challenge> decide(const CallerHeaders& caller) const;
  const Known* find(std::string_view token) const;
  bool may(const Known& known) const;
  Challenge challenge(Challenge::Kind kind, std::string_view error, std::string_view description) const;

  std::vector<Known> tokens_;
  std::vector<std::string> required_;
  ScopeRule rule_;
};

// The token of an Authorization value: the scheme compared without case, the token of the characters RFC 6750 allows.
// Nothing for other schemes and for what is no token.
std::optional<std::string_view> bearer_token(std::string_view authorization);

}  // namespace signet::auth
