#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/bytes.h>
#include <signet/base/percent.h>
#include <signet/store/redis.h>

namespace signet::store {
namespace {

bool read_number(std::string_view text, int most, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number <= most;
}

// Cuts `[user]:password@` off the front.
bool take_credentials(std::string_view& rest, RedisAddress& address) {
  const std::size_t at = rest.rfind('@');
  if (at == std::string_view::npos) return true;
  const std::string_view both = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  const std::size_t colon = both.find(':');
  if (colon == std::string_view::npos) return false;
  const auto user = percent_decoded(both.substr(0, colon));
  auto password = percent_decoded(both.substr(colon + 1));
  if (!user || !password || password->empty()) return false;
  address.user = *user;
  address.password = Secret::copy_of(as_bytes(*password));
  wipe({reinterpret_cast<std::uint8_t*>(password->data()), password->size()});
  return true;
}

bool read_tcp(std::string_view rest, RedisAddress& address) {
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view database = rest.substr(slash + 1);
    if (!database.empty() && !read_number(database, 1'000'000, address.database)) return false;
    rest = rest.substr(0, slash);
  }
  std::size_t host_end = rest.find(':');
  if (rest.starts_with('[')) {  // IPv6
    host_end = rest.find(']');
    if (host_end == std::string_view::npos) return false;
    address.host = rest.substr(1, host_end - 1);
    ++host_end;
  } else {
    address.host = rest.substr(0, host_end);
  }
  if (host_end < rest.size()) {
    if (rest[host_end] != ':' || !read_number(rest.substr(host_end + 1), 65535, address.port)) return false;
  }
  return !address.host.empty() && address.port != 0;
}

bool read_socket(std::string_view rest, RedisAddress& address) {
  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    std::string_view query = rest.substr(question + 1);
    if (!query.starts_with("db=") || !read_number(query.substr(3), 1'000'000, address.database)) return false;
    rest = rest.substr(0, question);
  }
  const auto path = percent_decoded(rest);
  if (!path || !path->starts_with('/')) return false;
  address.socket = *path;
  return true;
}

}  // namespace

Result<RedisAddress> parse_redis_url(std::string_view url) {
  constexpr std::string_view tcp = "redis://";
  constexpr std::string_view local = "unix://";
  RedisAddress address;
  bool ok = false;
  if (url.starts_with(tcp)) {
    url.remove_prefix(tcp.size());
    ok = take_credentials(url, address) && read_tcp(url, address);
  } else if (url.starts_with(local)) {
    url.remove_prefix(local.size());
    ok = take_credentials(url, address) && read_socket(url, address);
  }
  if (!ok)
    return failure("A Redis URL is redis://[[user]:password@]host[:port][/database] or unix:///path[?db=N].");
  return address;
}

}  // namespace signet::store
