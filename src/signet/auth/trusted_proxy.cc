#include <signet/auth/trusted_proxy.h>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace signet::auth {

std::optional<AddressRange::Bits> AddressRange::bits_of(std::string_view address, bool& is_v4) {
  const std::string text(address);
  Bits bits{};
  if (::inet_pton(AF_INET6, text.c_str(), bits.data()) == 1) {
    is_v4 = false;
    return bits;
  }
  std::array<std::uint8_t, 4> four{};
  if (::inet_pton(AF_INET, text.c_str(), four.data()) != 1) return std::nullopt;
  is_v4 = true;
  bits = Bits{};
  bits[10] = bits[11] = 0xff;
  std::ranges::copy(four, bits.begin() + 12);
  return bits;
}

std::optional<AddressRange> AddressRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  bool is_v4 = false;
  const std::optional<Bits> bits = bits_of(text.substr(0, slash), is_v4);
  if (!bits) return std::nullopt;
  AddressRange range;
  range.bits_ = *bits;
  range.length_ = 128;
  if (slash == std::string_view::npos) return range;
  const std::string_view digits = text.substr(slash + 1);
  const unsigned most = is_v4 ? 32 : 128;
  unsigned length = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (digits.empty() || end.ec != std::errc() || end.ptr != digits.data() + digits.size() || length > most)
    return std::nullopt;
  range.length_ = is_v4 ? length + 96 : length;
  return range;
}

bool AddressRange::contains(std::string_view address) const {
  bool is_v4 = false;
  const std::optional<Bits> bits = bits_of(address, is_v4);
  if (!bits) return false;
  for (unsigned bit = 0; bit < length_; ++bit) {
    const unsigned mask = 0x80u >> bit % 8;
    if (((*bits)[bit / 8] & mask) != (bits_[bit / 8] & mask)) return false;
  }
  return true;
}

Result<std::shared_ptr<TrustedProxy>> TrustedProxy::create(const std::vector<std::string>& peers,
                                                           std::string header) {
  if (peers.empty()) return failure("a trusted proxy needs at least one peer");
  if (header.empty()) return failure("a trusted proxy needs the name of its header");
  std::vector<AddressRange> ranges;
  for (const std::string& peer : peers) {
    const std::optional<AddressRange> range = AddressRange::parse(peer);
    if (!range) return failure("no address and no range: " + peer);
    ranges.push_back(*range);
  }
  return std::shared_ptr<TrustedProxy>(new TrustedProxy(std::move(ranges), std::move(header)));
}

Task<Result<Principal, Challenge>> TrustedProxy::authenticate(const CallerHeaders& caller) {
  co_return decide(caller);
}

Result<Principal, Challenge> TrustedProxy::decide(const CallerHeaders& caller) const {
  const bool trusted = std::ranges::any_of(
      peers_, [&](const AddressRange& range) { return range.contains(caller.peer_address); });
  std::optional<std::string> name = trusted ? caller.header(header_) : std::nullopt;
  if (!name || name->empty()) return failure(Challenge(Challenge::Kind::unauthenticated));
  return Principal::authenticated(std::move(*name));
}

}  // namespace signet::auth
