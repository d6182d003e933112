#include "fixture_server/bearer.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fixture {
namespace {

using signet::CallerHeaders;
using signet::Challenge;
using signet::Principal;
using signet::Result;
using signet::Task;

// The token of `Authorization: Bearer TOKEN`, the scheme in any case.
std::optional<std::string> bearer_token(const CallerHeaders& caller) {
  const std::optional<std::string> value = caller.header("Authorization");
  constexpr std::string_view scheme = "bearer ";
  if (!value || value->size() <= scheme.size()) return std::nullopt;
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  if (!std::equal(scheme.begin(), scheme.end(), value->begin(),
                  [&same](char b, char a) { return same(a, b); })) {
    return std::nullopt;
  }
  return value->substr(scheme.size());
}

Challenge challenge(Challenge::Kind kind, std::string error) {
  Challenge challenge(kind);
  challenge.error = std::move(error);
  challenge.scope = "mcp";
  return challenge;
}

class Bearer final : public signet::Authenticator {
 public:
  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override {
    const std::optional<std::string> token = bearer_token(caller);
    if (!token) co_return signet::failure(challenge(Challenge::Kind::unauthenticated, ""));
    if (*token == "alice-token") co_return Principal::authenticated("alice");
    if (*token == "bob-token") co_return Principal::authenticated("bob");
    if (*token == "noscope-token") {
      co_return signet::failure(challenge(Challenge::Kind::forbidden, "insufficient_scope"));
    }
    co_return signet::failure(challenge(Challenge::Kind::unauthenticated, "invalid_token"));
  }
};

}  // namespace

void require_bearer(signet::HttpOptions& options) {
  options.authenticator = std::make_shared<Bearer>();
  options.protected_resource.emplace();
  options.protected_resource->authorization_servers = {"https://auth.example.com"};
  options.protected_resource->scopes_supported = {"mcp"};
}

}  // namespace fixture
