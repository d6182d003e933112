#include "fixture_server/bearer.h"

#include <memory>

#include <signet/auth/bearer_tokens.h>

namespace fixture {

void require_bearer(signet::HttpOptions& options) {
  auto tokens = std::make_shared<signet::auth::BearerTokens>();
  tokens->add("alice-token", "alice", {"mcp"});
  tokens->add("bob-token", "bob", {"mcp"});
  tokens->add("noscope-token", "carol");
  tokens->require({"mcp"});
  options.authenticator = std::move(tokens);
  options.protected_resource.emplace();
  options.protected_resource->authorization_servers = {"https://auth.example.com"};
  options.protected_resource->scopes_supported = {"mcp"};
}

}  // namespace fixture
