// A format of another system, as a Sealer takes it while a fleet moves: `Migration{make_format(...)}`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/result.h>
#include <signet/token/foreign.h>
#include <signet/token/profiles/profile.h>

namespace signet::token::profiles {

// How the other system was set up. What it bound must be said here in its words, or its tokens do not open.
struct FormatOptions {
  ProfileConfig config;

  // The caller as the other system named it; nothing where it knew none. Unset: the id of an authenticated caller. The
  // Python SDK's is the compact JSON array of client, issuer and subject.
  std::function<std::optional<std::string>(const Principal& principal)> principal;
  // What the application bound by itself: rmcp's associated data, the result of TypeScript's bind(). Unset: nothing.
  std::function<std::string(const Binding& binding)> bound;
  // The audience (python, ruby) or server module (conduit), where it was another than ours; empty: there was none.
  std::optional<std::string> audience;

  // Of the states sealed for instances of the other system, with all the digits that it may have there. Unset: that
  // system's default, 600 s for rmcp.
  std::optional<std::chrono::duration<double>> lifetime;
  // When the migration is over: later, such tokens are refused as those of a retired key.
  std::optional<Timestamp> accept_until;
  // Says that you know: this format, or this set-up of it, does not tell for whose request a state was made
  // (haskell-mcp-server, protocol-droid; rmcp and typescript without `bound`). Anybody may show it on any request.
  bool accept_unbound = false;
  std::size_t token_bytes_max = std::size_t{64} << 10;
};

// The format of that name, thread-safe; or what is wrong with the options. A token is redeemed by its bytes, and
// typescript, rmcp and protocol-droid put nothing random into theirs: with `once`, equal states count as one
// (doc/profiles.md).
Result<std::shared_ptr<const ForeignFormat>> make_format(std::string_view name, FormatOptions options);

}  // namespace signet::token::profiles
