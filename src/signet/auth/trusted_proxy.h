// Callers whom a proxy in front of us has authenticated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>
#include <signet/protocol/authenticator.h>

namespace signet::auth {

// A range of addresses: `10.0.0.0/8`, `::1`, `192.168.1.7`. IPv4 addresses match their mapped form.
class AddressRange {
 public:
  static std::optional<AddressRange> parse(std::string_view text);
  bool contains(std::string_view address) const;

 private:
  using Bits = std::array<std::uint8_t, 16>;
  static std::optional<Bits> bits_of(std::string_view address, bool& is_v4);

  Bits bits_{};
  unsigned length_ = 0;
};

// Believes one header, from the configured peers only; from anybody else it is as if it were not there. The proxy must remove
// the header from what its own clients send. Thread-safe.
class TrustedProxy final : public Authenticator {
 public:
  // An error where a peer is no address or range, or there is none, or the header has no name.
  static Result<std::shared_ptr<TrustedProxy>> create(const std::vector<std::string>& peers,
                                                      std::string header);

  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override;

 private:
  TrustedProxy(std::vector<AddressRange> peers, std::string header)
      : peers_(std::move(peers)), header_(std::move(header)) {}
  Result<Principal, Challenge> decide(const CallerHeaders& caller) const;

  std::vector<AddressRange> peers_;
  std::string header_;
};

}  // namespace signet::auth
