// Error codes: JSON-RPC's and those the specification adds.
#pragma once

#include <signet/protocol/service.h>

namespace signet::protocol {

// JSON-RPC 2.0, section 5.1
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
// 2026-07-28, basic, "Error codes"
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
// 2025-11-25 and before only; never sent on 2026-07-28 traffic
inline constexpr int legacy_resource_not_found = -32002;
inline constexpr int legacy_url_elicitation_required = -32042;

// The one answer to every state that does not open, word for word (the same in other SDKs, so that nobody
// learns more from ours): -32602, `Invalid or expired requestState`.
Fault invalid_request_state();

// The HTTP status of a reply (streamable-http, "Status codes"): 400 for parse and invalid requests, header
// mismatch, missing capability, unsupported version and a malformed envelope; 404 for an unknown method; else 200.
int http_status(const Fault& fault);

}  // namespace signet::protocol
