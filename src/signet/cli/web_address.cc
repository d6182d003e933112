#include <signet/cli/web_address.h>

#include <algorithm>
#include <cstdint>

#include <signet/base/glyph.h>
#include <signet/cli/shown_text.h>
#include <signet/protocol/header_codec.h>
#include <signet/transport/http_url.h>

namespace signet::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

std::optional<std::vector<std::uint32_t>> code_points(std::string_view text) {
  std::vector<std::uint32_t> codes;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    if (!glyph.harmless) return std::nullopt;
    codes.push_back(code_point_of(text.substr(0, glyph.bytes)));
    text.remove_prefix(glyph.bytes);
  }
  return codes;
}

// RFC 3492, section 6.
constexpr std::uint32_t base = 36;
constexpr std::uint32_t t_min = 1;
constexpr std::uint32_t t_max = 26;

std::uint32_t adapted(std::uint32_t delta, std::uint32_t points, bool first) {
  delta = first ? delta / 700 : delta / 2;
  delta += delta / points;
  std::uint32_t k = 0;
  for (; delta > (base - t_min) * t_max / 2; k += base) delta /= base - t_min;
  return k + (base - t_min + 1) * delta / (delta + 38);
}

char digit_of(std::uint32_t value) {
  return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26));
}

void append_variable_length(std::string& out, std::uint32_t number, std::uint32_t bias) {
  for (std::uint32_t k = base;; k += base) {
    const std::uint32_t t = k <= bias ? t_min : std::min(k - bias, t_max);
    if (number < t) break;
    out += digit_of(t + (number - t) % (base - t));
    number = (number - t) / (base - t);
  }
  out += digit_of(number);
}

std::string punycode(const std::vector<std::uint32_t>& codes) {
  std::string out;
  for (const std::uint32_t code : codes) {
    if (code < 0x80) out += static_cast<char>(code);
  }
  const auto basic = static_cast<std::uint32_t>(out.size());
  std::uint32_t handled = basic;
  if (basic > 0) out += '-';
  std::uint32_t n = 0x80;
  std::uint32_t delta = 0;
  std::uint32_t bias = 72;
  while (handled < codes.size()) {
    std::uint32_t next = 0x110000;
    for (const std::uint32_t code : codes) {
      if (code >= n) next = std::min(next, code);
    }
    delta += (next - n) * (handled + 1);
    n = next;
    for (const std::uint32_t code : codes) {
      if (code < n) ++delta;
      if (code != n) continue;
      append_variable_length(out, delta, bias);
      bias = adapted(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++n;
  }
  return out;
}

// Browsers read a host whose last label is a number as an IPv4 address: then it must look like one.
bool is_hidden_number(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  const bool number =
      !last.empty() && (std::all_of(last.begin(), last.end(), is_digit) || last.starts_with("0x"));
  if (!number) return false;
  std::size_t parts = 0;
  while (!host.empty()) {
    const std::size_t dot = std::min(host.find('.'), host.size());
    const std::string_view part = host.substr(0, dot);
    const bool plain = !part.empty() && part.size() <= 3 && std::all_of(part.begin(), part.end(), is_digit) &&
                       (part.size() == 1 || part.front() != '0');
    if (!plain) return true;
    ++parts;
    host.remove_prefix(std::min(dot + 1, host.size()));
  }
  return parts != 4;
}

bool is_loopback(std::string_view host) {
  return host == "[::1]" || host == "[::]" || host == "0.0.0.0" || transport::is_loopback_host(host);
}

// The name or address in its ASCII form, or nothing.
std::optional<std::string> ascii_host(std::string_view host) {
  if (host.starts_with('[')) {
    const auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || c == ':' || c == '.'; };
    const std::string low = protocol::lower_case(host.substr(1, host.size() - 2));
    const bool whole = host.ends_with(']') && low.find(':') != std::string::npos;
    if (!whole || !std::all_of(low.begin(), low.end(), fits)) return std::nullopt;
    return "[" + low + "]";
  }
  std::string out;
  for (std::size_t at = 0; at <= host.size();) {
    const std::size_t end = std::min(host.find('.', at), host.size());
    const std::optional<std::string> label = ascii_label(host.substr(at, end - at));
    if (!label) return std::nullopt;
    out += (at > 0 ? "." : "") + *label;
    at = end + 1;
  }
  const auto fits = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
  };
  if (out.empty() || out.front() == '.' || !std::all_of(out.begin(), out.end(), fits)) return std::nullopt;
  return out;
}

// Other characters than ASCII as browsers send them in a path: the bytes of UTF-8, escaped.
std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_ascii(c)) {
      out += c;
    } else {
      out += {'%', digits[byte >> 4], digits[byte & 0xf]};
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> ascii_label(std::string_view label) {
  const std::string low = protocol::lower_case(label);
  if (std::all_of(low.begin(), low.end(), is_ascii)) return low;
  const std::optional<std::vector<std::uint32_t>> codes = code_points(low);
  // Longer than any label may be: the arithmetic below stays within 32 bits.
  if (!codes || codes->size() > 63) return std::nullopt;
  return "xn--" + punycode(*codes);
}

Result<WebAddress> read_web_address(std::string_view text) {
  const auto forbidden = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f || std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos;
  };
  const std::size_t colon = text.find(':');
  const std::string scheme = protocol::lower_case(text.substr(0, std::min(colon, text.size())));
  if (scheme != "http" && scheme != "https") return failure("it is no http or https address");
  if (std::any_of(text.begin(), text.end(), forbidden))
    return failure("it has characters that no address has");
  std::string_view rest = text.substr(colon + 1);
  if (!rest.starts_with("//")) return failure("it names no host");
  rest.remove_prefix(2);
  const std::size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, path);
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    return failure("\"" + one_line(authority.substr(0, at), 60) +
                   "\" in front of the @ is a user name; the host would be " +
                   one_line(authority.substr(at + 1), 80));
  }
  const std::size_t bracket = authority.rfind(']');
  const std::size_t port_at = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view name = authority.substr(0, std::min(port_at, authority.size()));
  const std::string_view port = port_at == std::string_view::npos ? "" : authority.substr(port_at + 1);
  const std::optional<std::string> host = ascii_host(name);
  if (!host || port.size() > 5 || !std::all_of(port.begin(), port.end(), is_digit)) {
    return failure("its host is not plainly written: " + one_line(authority, 80));
  }
  if (is_hidden_number(*host)) return failure("its host is an IP address written as another number");
  WebAddress address;
  address.host = *host + (port.empty() ? "" : ":" + std::string(port));
  address.text = scheme + "://" + address.host + escaped(rest.substr(path));
  if (scheme == "http" && !is_loopback(*host))
    address.warnings.emplace_back("This address is not encrypted.");
  if (is_loopback(*host)) address.warnings.emplace_back("This address is on your own machine.");
  if (host->find("xn--") != std::string::npos) {
    const bool shown = !std::all_of(name.begin(), name.end(), is_ascii);
    address.warnings.push_back("The name of the host has letters outside ASCII, which can look like others" +
                               (shown ? ": it is written as " + one_line(name, 80) : std::string()) + ".");
  }
  return address;
}

}  // namespace signet::cli
