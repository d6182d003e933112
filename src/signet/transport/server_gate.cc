#include <signet/transport/server_gate.h>

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include <signet/protocol/header_codec.h>

namespace signet::transport {
namespace {

using protocol::equal_ignoring_case;
using protocol::trim_blanks;

// Headers on which a decision rests: two of one would let two readers decide differently. A doubled Origin is refused as
// any that is not ours (403), a doubled header of MCP by its own error (doubled_mcp_header()).
constexpr std::array<std::string_view, 6> decisive{"Content-Type",   "Content-Encoding", "Authorization",
                                                   "Mcp-Session-Id", "Last-Event-ID",    "Expect"};
constexpr std::array<std::string_view, 3> standard{"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"};

// `name`, `name:port`, `[address]`, `[address]:port`.
struct HostPort {
  std::string_view host;
  std::string_view port;
};

bool is_host_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_';
}

bool is_port(std::string_view port) {
  return !port.empty() && port.size() <= 5 &&
         std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<HostPort> split_host(std::string_view text) {
  HostPort result;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    result.host = text.substr(0, end + 1);
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    result.host = text.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
    if (result.host.empty() || !std::ranges::all_of(result.host, is_host_character)) return std::nullopt;
  }
  if (rest.empty() || rest == ":") return result;  // a port may be empty (RFC 3986, section 3.2.3)
  if (rest.front() != ':' || !is_port(rest.substr(1))) return std::nullopt;
  result.port = rest.substr(1);
  return result;
}

// `http://host:port/path?query`, or https.
struct AbsoluteForm {
  bool tls;
  std::string_view authority;
  std::string_view path;  // with its query; at least "/"
};

std::optional<AbsoluteForm> absolute_form(std::string_view target) {
  const std::size_t colon = target.find("://");
  if (target.starts_with('/') || colon == std::string_view::npos) return std::nullopt;
  const bool tls = equal_ignoring_case(target.substr(0, colon), "https");
  if (!tls && !equal_ignoring_case(target.substr(0, colon), "http")) return std::nullopt;
  const std::string_view rest = target.substr(colon + 3);
  const std::size_t end = rest.find_first_of("/?#");
  const std::string_view path = end == std::string_view::npos ? "/" : rest.substr(end);
  // `http://host?query` has no path, and the path of that is "/".
  return AbsoluteForm{tls, rest.substr(0, end), path.starts_with('?') ? "/" : path};
}

// Calls `each` with the trimmed elements of a comma-separated list.
template <typename F>
void for_each_element(std::string_view list, const F& each) {
  while (true) {
    const std::size_t comma = list.find(',');
    each(trim_blanks(list.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

// `q=0`, `q=0.0`...: the client does not want this.
bool is_unwanted(std::string_view parameters) {
  bool unwanted = false;
  while (!parameters.empty()) {
    const std::size_t end = parameters.find(';');
    const std::string_view parameter = trim_blanks(parameters.substr(0, end));
    if (parameter.size() > 2 && equal_ignoring_case(parameter.substr(0, 2), "q="))
      unwanted = parameter.substr(2).find_first_not_of("0.") == std::string_view::npos;
    parameters = end == std::string_view::npos ? std::string_view() : parameters.substr(end + 1);
  }
  return unwanted;
}

// What a list of ranges says of one type.
struct Wish {
  Wish(std::string_view all_of_kind, std::string_view exactly) : kind(all_of_kind), type(exactly) {}

  void consider(std::string_view range, bool wants) {
    const int exactness = equal_ignoring_case(range, type)   ? 3
                          : equal_ignoring_case(range, kind) ? 2
                          : range == "*/*"                   ? 1
                                                             : 0;
    if (exactness == 0 || exactness < decided_by) return;
    wanted = wants || (wanted && exactness == decided_by);
    decided_by = exactness;
  }

  std::string_view kind;
  std::string_view type;
  int decided_by = 0;
  bool wanted = false;
};

}  // namespace

std::optional<Refusal> check_framing(const ServerRequest& request) {
  if (request.header_count("Host") != 1) return Refusal(400, "exactly one Host is needed", true);
  if (request.header_count("Content-Length") > 1) return Refusal(400, "more than one Content-Length", true);
  // `5, 5` and `+5` have a length only to those who want to find one.
  const std::string_view length = request.header("Content-Length").value_or("0");
  if (length.find_first_not_of("0123456789") != std::string_view::npos || length.empty())
    return Refusal(400, "Content-Length is no number", true);
  const std::size_t encodings = request.header_count("Transfer-Encoding");
  if (encodings > 1) return Refusal(400, "more than one Transfer-Encoding", true);
  if (encodings == 1) {
    if (!equal_ignoring_case(request.header("Transfer-Encoding").value_or(""), "chunked"))
      return Refusal(501, "unknown Transfer-Encoding", true);
    if (request.header_count("Content-Length") != 0)
      return Refusal(400, "both Transfer-Encoding and Content-Length", true);
  }
  for (const std::string_view name : decisive) {
    if (request.header_count(name) > 1)
      return Refusal(400, "a header that may be there once is doubled", true);
  }
  return std::nullopt;
}

bool is_allowed_host(std::string_view host, const HttpOptions& options) {
  const std::optional<HostPort> asked = split_host(host);
  if (!asked) return false;
  return std::ranges::any_of(options.allowed_hosts, [&](const std::string& entry) {
    const std::optional<HostPort> allowed = split_host(entry);
    return allowed && equal_ignoring_case(allowed->host, asked->host) &&
           (allowed->port.empty() || allowed->port == asked->port);
  });
}

bool is_allowed_origin(std::string_view origin, const HttpOptions& options) {
  const bool listed = std::ranges::any_of(
      options.allowed_origins, [&](const std::string& entry) { return equal_ignoring_case(entry, origin); });
  if (listed) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_allowed_host(origin.substr(scheme.size()), options);
  }
  return false;
}

std::string_view authority_of(const ServerRequest& request) {
  const std::optional<AbsoluteForm> target = absolute_form(request.target());
  return target ? target->authority : request.header("Host").value_or("");
}

bool is_address(std::string_view host) {
  const std::optional<HostPort> parts = split_host(host);
  if (!parts) return false;
  in6_addr ignored{};
  if (!parts->host.starts_with('['))
    return ::inet_pton(AF_INET, std::string(parts->host).c_str(), &ignored) == 1;
  const std::string_view inner = parts->host.substr(1, parts->host.size() - 2);
  return ::inet_pton(AF_INET6, std::string(inner).c_str(), &ignored) == 1;
}

std::optional<Refusal> check_source(const ServerRequest& request, const HttpOptions& options,
                                    bool any_address) {
  const std::optional<AbsoluteForm> target = absolute_form(request.target());
  if (target && target->tls && !request.secure) return Refusal(421, "https without TLS");
  if (request.header_count("Origin") != 0 &&
      !is_allowed_origin(request.header("Origin").value_or(""), options))
    return Refusal(403, "this Origin is not allowed");
  const std::string_view host = authority_of(request);
  if (!is_allowed_host(host, options) && !(any_address && is_address(host)))
    return Refusal(403, "this Host is not ours");
  return std::nullopt;
}

std::optional<std::string_view> doubled_mcp_header(const ServerRequest& request) {
  for (const std::string_view name : standard) {
    if (request.header_count(name) > 1) return name;
  }
  return request.doubled("Mcp-Param-");
}

std::string_view path_of(std::string_view target) {
  if (const std::optional<AbsoluteForm> absolute = absolute_form(target)) target = absolute->path;
  if (!target.starts_with('/')) return {};
  return target.substr(0, target.find('?'));
}

Accepts accepts_of(const std::optional<std::string>& accept) {
  Accepts result;
  if (!accept) {
    result.json = result.events = true;
    return result;
  }
  Wish json("application/*", "application/json");
  Wish events("text/*", "text/event-stream");
  for_each_element(*accept, [&](std::string_view element) {
    const std::size_t end = element.find(';');
    const std::string_view range = trim_blanks(element.substr(0, end));
    const bool wanted = end == std::string_view::npos || !is_unwanted(element.substr(end + 1));
    json.consider(range, wanted);
    events.consider(range, wanted);
  });
  result.json = json.wanted;
  result.events = events.wanted;
  return result;
}

bool is_json(std::optional<std::string_view> content_type) {
  if (!content_type) return false;
  return equal_ignoring_case(trim_blanks(content_type->substr(0, content_type->find(';'))),
                             "application/json");
}

}  // namespace signet::transport
