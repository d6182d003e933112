// Who calls: what an HTTP transport asks before it serves anything.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <signet/base/principal.h>
#include <signet/base/result.h>
#include <signet/base/task.h>

namespace signet {

// What is known of a caller before anything of its body is believed.
struct CallerHeaders {
  CallerHeaders(std::string address, std::function<std::optional<std::string>(std::string_view)> lookup)
      : peer_address(std::move(address)), header(std::move(lookup)) {}
  std::string peer_address;  // of the socket, without port: `127.0.0.1`, `::1`
  // The value of a header, surrounding blanks cut, names without case. Nothing where the header is absent or there
  // more than once.
  std::function<std::optional<std::string>(std::string_view name)> header;
};

// Why a caller is not served (authorization, "Error handling"; S93, S95).
struct Challenge {
  enum class Kind : std::uint8_t {
    unauthenticated,  // 401: no credentials, or none that hold
    forbidden,        // 403: known, but may not
    malformed,        // 400: credentials that are no credentials
  };
  explicit Challenge(Kind what) : kind(what) {}

  Kind kind;
  std::string
      error;  // RFC 6750: `invalid_token`, `insufficient_scope`, `invalid_request`; empty without credentials
  std::string scope;        // what is needed, space-separated; empty: not said
  std::string description;  // one sentence for a person; no secrets
};

// 401, 403 or 400.
int http_status(const Challenge& challenge);

// The value of WWW-Authenticate (RFC 6750, RFC 9728). `metadata_url` empty: not said.
std::string www_authenticate(const Challenge& challenge, std::string_view metadata_url);

// Thread-safe: any number of calls at once. The task does not outlive the caller.
class Authenticator {
 public:
  Authenticator() = default;
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;
  virtual ~Authenticator() = default;

  // Who this is. What it answers flows into every sealed state. `caller` lives until the task ends.
  virtual Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) = 0;
};

}  // namespace signet
