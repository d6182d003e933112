// protocol-droid: hex(HMAC-SHA256(key, state)) "." state. Neither secret nor bound to anything, and without expiry.
#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

// Two characters as the original's u8::from_str_radix reads them: upper case and a leading + too.
bool is_lenient_pair(std::string_view pair) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  const std::string_view number = pair.starts_with('+') ? pair.substr(1) : pair;
  return number.find_first_not_of(digits) == std::string_view::npos;
}

bool is_lenient_hex(std::string_view text) {
  if (text.size() != 2 * std::tuple_size_v<Digest>) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    if (!is_lenient_pair(text.substr(i, 2))) return false;
  }
  return true;
}

class Droid final : public Profile {
 public:
  explicit Droid(Secret key) : key_(std::move(key)) {}
  std::string_view name() const override { return "protocol-droid"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context&) const override {
    const std::size_t dot = token.find('.');
    if (dot == std::string_view::npos) return refuse(Refusal::malformed);
    const std::string_view mac = token.substr(0, dot);
    const std::string_view state = token.substr(dot + 1);
    if (!is_lenient_hex(mac) || !is_plain_utf8(state)) return refuse(Refusal::malformed);
    if (mac.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
      return refuse(Refusal::malformed, {}, one_spelling);
    }
    if (!equal_in_constant_time(as_bytes(mac), as_bytes(mac_of(state))))
      return refuse(Refusal::not_authentic);
    ProfileOpened opened;
    opened.state = bytes_of(state);
    return opened;
  }

  Result<std::string> seal(std::string_view state, const Context&, std::optional<Duration>,
                           Entropy&) const override {
    if (!is_plain_utf8(state)) return failure("The state must be UTF-8 text for this format.");
    return mac_of(state) + "." + std::string(state);
  }

 private:
  std::string mac_of(std::string_view state) const {
    return hex(hmac_sha256(key_.expose(), {as_bytes(state)}));
  }

  Secret key_;
};

}  // namespace

Made make_droid(ProfileConfig config) {
  auto key = single_key(config, 32, 32);
  if (!key) return failure(std::move(key.error()));
  return std::unique_ptr<Profile>(std::make_unique<Droid>(std::move(*key)));
}

}  // namespace signet::token::profiles
