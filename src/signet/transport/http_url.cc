#include <signet/transport/http_url.h>

#include <algorithm>
#include <charconv>

#include <signet/protocol/header_codec.h>

namespace signet::transport {
namespace {

bool has_forbidden(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte >= 0x7f || c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' ||
           c == '`';
  });
}

// Reads `host[:port]` into the address.
bool read_authority(std::string_view authority, HttpUrl& url) {
  std::string_view host = authority;
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return false;
    host = authority.substr(1, close - 1);
    if (host.find(':') == std::string_view::npos) return false;
    port = authority.substr(close + 1);
    if (!port.empty() && port.front() != ':') return false;
  } else {
    const std::size_t colon = authority.find(':');
    host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
  }
  if (host.empty() || host.find_first_of("[]@") != std::string_view::npos) return false;
  url.host = protocol::lower_case(host);
  url.port = url.tls ? 443 : 80;
  if (port.size() <= 1) return true;
  port.remove_prefix(1);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), value);
  if (error != std::errc() || end != port.data() + port.size() || value == 0 || value > 65535) return false;
  url.port = static_cast<std::uint16_t>(value);
  return true;
}

bool bypasses_proxy(std::string_view host, std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view entry = protocol::trim_blanks(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (entry == "*") return true;
    if (!entry.empty() && entry.front() == '.') entry.remove_prefix(1);
    entry = entry.substr(0, entry.find(':'));
    const std::string suffix = protocol::lower_case(entry);
    if (suffix.empty()) continue;
    if (host == suffix) return true;
    if (host.size() > suffix.size() && host.ends_with(suffix) && host[host.size() - suffix.size() - 1] == '.')
      return true;
  }
  return false;
}

}  // namespace

std::string HttpUrl::authority() const {
  std::string out = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  if (port != (tls ? 443 : 80)) out += ":" + std::to_string(port);
  return out;
}

bool HttpUrl::same_origin(const HttpUrl& other) const {
  return tls == other.tls && host == other.host && port == other.port;
}

std::string HttpUrl::text() const { return (tls ? "https://" : "http://") + authority() + target; }

Result<HttpUrl> parse_http_url(std::string_view text) {
  HttpUrl url;
  if (has_forbidden(text)) return failure("the address has a character that no URL may have");
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos)
    return failure("the address does not begin with http:// or https://");
  const std::string scheme = protocol::lower_case(text.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return failure("the address is neither http nor https");
  url.tls = scheme == "https";
  text.remove_prefix(scheme_end + 3);
  text = text.substr(0, text.find('#'));
  const std::size_t path = text.find_first_of("/?");
  const std::string_view authority = text.substr(0, path);
  if (authority.find('@') != std::string_view::npos) {
    return failure("the address holds a user name or password; give a header instead");
  }
  if (!read_authority(authority, url)) return failure("the address has no valid host and port");
  url.target = path == std::string_view::npos ? "/" : std::string(text.substr(path));
  if (url.target.front() == '?') url.target.insert(0, "/");
  return url;
}

Result<HttpUrl> resolve_location(const HttpUrl& base, std::string_view location) {
  if (location.find("://") != std::string_view::npos) return parse_http_url(location);
  if (location.starts_with("//"))
    return parse_http_url((base.tls ? "https:" : "http:") + std::string(location));
  if (location.starts_with("/")) {
    return parse_http_url((base.tls ? "https://" : "http://") + base.authority() + std::string(location));
  }
  const std::string path = base.target.substr(0, base.target.find('?'));
  return parse_http_url((base.tls ? "https://" : "http://") + base.authority() +
                        path.substr(0, path.rfind('/') + 1) + std::string(location));
}

Result<std::optional<HttpUrl>> proxy_for(
    const HttpUrl& url, const std::function<std::optional<std::string>(const char* name)>& environment) {
  if (is_loopback_host(url.host)) return std::optional<HttpUrl>();
  const auto first_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      const std::optional<std::string> value = environment(name);
      if (value && !value->empty()) return *value;
    }
    return {};
  };
  if (bypasses_proxy(url.host, first_of({"no_proxy", "NO_PROXY"}))) return std::optional<HttpUrl>();
  std::string proxy;
  if (url.tls) {
    proxy = first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  } else if (environment("REQUEST_METHOD")) {
    // Inside CGI, HTTP_PROXY is what the visitor sent as the header Proxy.
    proxy = first_of({"http_proxy", "all_proxy", "ALL_PROXY"});
  } else {
    proxy = first_of({"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
  }
  if (proxy.empty()) return std::optional<HttpUrl>();
  if (proxy.find("://") == std::string::npos) proxy.insert(0, "http://");
  Result<HttpUrl> parsed = parse_http_url(proxy);
  if (!parsed) return failure("the proxy of the environment: " + parsed.error().message);
  if (parsed->tls) return failure("the proxy of the environment is an https address, which is not supported");
  return std::optional<HttpUrl>(std::move(*parsed));
}

bool is_loopback_host(std::string_view host) {
  if (host == "localhost" || host.ends_with(".localhost") || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace signet::transport
