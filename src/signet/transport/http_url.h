// Addresses of HTTP endpoints, and which proxy leads there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/result.h>

namespace signet::transport {

// An http or https address (RFC 3986, the part of it that endpoints use).
struct HttpUrl {
  bool tls = false;
  std::string host;  // lower case; IPv6 addresses without brackets
  std::uint16_t port = 80;
  std::string target;  // path and query, at least "/"

  // `host:port` as the Host header has it: brackets around IPv6, the scheme's own port left out.
  std::string authority() const;
  // Scheme, host and port equal.
  bool same_origin(const HttpUrl& other) const;
  std::string text() const;
};

// Refuses other schemes, user names and passwords in the address, empty hosts, bad ports, control characters
// and spaces. A fragment is cut.
Result<HttpUrl> parse_http_url(std::string_view text);

// The address that a Location header means, seen from `base`.
Result<HttpUrl> resolve_location(const HttpUrl& base, std::string_view location);

// The proxy for `url` by the usual variables: http_proxy, HTTP_PROXY (not inside CGI), https_proxy, HTTPS_PROXY,
// all_proxy, ALL_PROXY, unless no_proxy or NO_PROXY names the host (suffixes at dots, `*` for all). Loopback
// hosts never go through a proxy. Nothing if none applies; an error if the variable is no http address.
Result<std::optional<HttpUrl>> proxy_for(
    const HttpUrl& url, const std::function<std::optional<std::string>(const char* name)>& environment);

// localhost, names below it, 127.0.0.0/8 and ::1.
bool is_loopback_host(std::string_view host);

}  // namespace signet::transport
