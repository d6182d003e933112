// What an HTTP request must be before anybody looks at its meaning: framing, Host, Origin. Pure functions. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <signet/transport/http_server.h>
#include <signet/transport/server_request.h>

namespace signet::transport {

struct Refusal {
  Refusal(int http_status, std::string_view sentence, bool close_after = false)
      : status(http_status), message(sentence), close(close_after) {}
  int status;
  std::string_view message;  // a literal
  bool close;                // the rest of the connection cannot be trusted
};

// Framing that two parsers could read differently (RFC 9112, sections 3.2 and 6.3): a Transfer-Encoding other than
// `chunked`, more than one of Host, Content-Length, Transfer-Encoding, no Host. And headers that decide something, doubled.
std::optional<Refusal> check_framing(const ServerRequest& request);

// Host and Origin against the options (S23, S24). A target in absolute form (RFC 9112, section 3.2.2) says itself which host
// it is for: then Host counts for nothing. One of https that came by no TLS is misdirected (RFC 9110, section 7.4). With
// `any_address` a host that is an IP address is ours, whichever it is.
std::optional<Refusal> check_source(const ServerRequest& request, const HttpOptions& options,
                                    bool any_address = false);

// Whether scripts of that origin may use the endpoint.
bool is_allowed_origin(std::string_view origin, const HttpOptions& options);
bool is_allowed_host(std::string_view host, const HttpOptions& options);

// `127.0.0.1`, `[::1]`, with or without a port.
bool is_address(std::string_view host);

// The header of MCP (MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Param-*) that came more than once, or nothing.
std::optional<std::string_view> doubled_mcp_header(const ServerRequest& request);

// The host and port that the request is for: of its target where that is in absolute form, else of the header Host.
std::string_view authority_of(const ServerRequest& request);

// The path of a target in origin or absolute form, without its query; empty for other forms.
std::string_view path_of(std::string_view target);

// What a client takes as an answer. No Accept header, or `*/*`: both. Of several ranges that fit, the most specific one
// counts (RFC 9110, section 12.5.1).
struct Accepts {
  bool json = false;
  bool events = false;
};
Accepts accepts_of(const std::optional<std::string>& accept);

// True of `application/json`, with or without parameters.
bool is_json(std::optional<std::string_view> content_type);

}  // namespace signet::transport
