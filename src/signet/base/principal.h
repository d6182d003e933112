// Who calls.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace signet {

// The party on whose behalf a request is made, as the transport or an authenticator established it; never
// what a client says of itself. Two principals are the same party exactly when they compare equal.
struct Principal {
  enum class Kind : std::uint8_t {
    anonymous,      // HTTP without authentication: whoever holds a state may use it
    local,          // stdio: the parent process
    authenticated,  // `id` names the caller, for example `[client, issuer, subject]` of its token
  };

  Principal() = default;
  static Principal anonymous() { return {}; }
  static Principal local() { return Principal(Kind::local, {}); }
  static Principal authenticated(std::string id) { return Principal(Kind::authenticated, std::move(id)); }

  bool operator==(const Principal&) const = default;

  Kind kind = Kind::anonymous;
  std::string id;

 private:
  Principal(Kind k, std::string i) : kind(k), id(std::move(i)) {}
};

}  // namespace signet
