// Why no reply came: the failures of the way to a peer, as a client's transport reports them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <signet/protocol/service.h>

namespace signet::protocol {

// What went wrong between this side and the peer.
struct TransportFailure {
  enum class Kind : std::uint8_t {
    unreachable,  // no connection: name not found, refused, timed out, program not found
    tls,          // a connection, but no trusted one
    http_status,  // an HTTP answer without a JSON-RPC message in it; `http_status` says which
    redirected,   // to another origin, which is not followed; `location` says where
    not_mcp,      // an answer that is no MCP message
    too_large,    // more bytes than the limit
    closed,       // the connection or the child ended before the reply
    timed_out,    // silence
    local,        // refused on this side, nothing was sent
    session_ended,  // the server no longer knows the session of a handshake revision; it did not act on the request
  };

  TransportFailure(Kind what, std::string sentence, bool arrived = false)
      : kind(what), message(std::move(sentence)), may_have_arrived(arrived) {}

  Kind kind;
  std::string message;    // one sentence for a person; no credentials, no body of the peer
  bool may_have_arrived;  // the peer may have received the request, and acted on it
  int http_status = 0;    // where there was one
  std::string location;   // of a redirection
  std::string challenge;  // WWW-Authenticate of a 401 or 403
};

std::string_view to_string(TransportFailure::Kind kind);

// The failure as the fault of a reply: stage `transport`, code 0.
Fault to_fault(const TransportFailure& failure);

// The failure that a fault of stage `transport` stands for; nothing for faults that a peer sent, whatever they
// hold: the stage is set on this side only.
std::optional<TransportFailure> transport_failure(const Fault& fault);

}  // namespace signet::protocol
