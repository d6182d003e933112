#include <signet/token/profiles/profile.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <signet/token/claims_format.h>
#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

struct Named {
  std::string_view name;
  Made (*make)(ProfileConfig config);
};

constexpr std::array<Named, 8> all = {{
    {"haskell-mcp-server", make_haskell},
    {"python-sdk-v1", make_python},
    {"ruby-sdk-v1", make_ruby},
    {"typescript-sdk-v1", make_typescript},
    {"rmcp-rs1", make_rmcp_rs1},
    {"rmcp-rs2", make_rmcp_rs2},
    {"protocol-droid", make_droid},
    {"conduit-mcp-0.11", make_conduit},
}};

// The next integer below, or the nearest one that 64 bits hold.
std::int64_t saturating_floor(double value) {
  constexpr double beyond = 0x1p63;
  if (!(value < beyond)) return std::numeric_limits<std::int64_t>::max();
  if (value < -beyond) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(std::floor(value));
}

}  // namespace

Duration::Duration(std::chrono::milliseconds time)
    : seconds_(static_cast<double>(time.count()) / 1000), milliseconds_(time.count()) {}

Duration Duration::of_seconds(double seconds) {
  // The double nearest to a millisecond may lie below it: the millisecond is that of the nearest microsecond, as long as
  // doubles tell those apart, and the nearest one beyond.
  constexpr double microseconds_told = 9e9;
  const bool told = std::fabs(seconds) < microseconds_told;
  Duration duration;
  duration.seconds_ = seconds;
  duration.milliseconds_ =
      saturating_floor(told ? std::round(seconds * 1e6) / 1e3 : std::round(seconds * 1e3));
  return duration;
}

std::int64_t Duration::whole_seconds() const { return saturating_floor(seconds_); }

Duration Duration::operator+(const Duration& other) const {
  Duration sum;
  sum.seconds_ = seconds_ + other.seconds_;
  sum.milliseconds_ = saturating_sum(milliseconds_, other.milliseconds_);
  return sum;
}

std::vector<std::string_view> profile_names() {
  std::vector<std::string_view> names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

Made make_profile(std::string_view name, ProfileConfig config) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  if (found == all.end()) return failure("There is no token format of that name.");
  const bool rs1_options = !config.rs1_fallbacks.empty() || config.rs1_signing.has_value();
  if (rs1_options && name != "rmcp-rs2")
    return failure("Only rmcp-rs2 opens or seals rs1 tokens beside its own.");
  return found->make(std::move(config));
}

Result<Secret> single_key(ProfileConfig& config, std::size_t bytes_min, std::size_t bytes_max) {
  if (config.keys.size() != 1) return failure("This format names no keys, so it takes exactly one.");
  Secret secret = std::move(config.keys.front().secret);
  if (secret.size() < bytes_min) return failure("The key is too short for this format.");
  if (secret.size() > bytes_max) return failure("The key is too long for this format.");
  return secret;
}

const ProfileKey* find_key(const std::vector<ProfileKey>& keys, std::string_view id) {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const ProfileKey& key) { return key.id == id; });
  return found == keys.end() ? nullptr : &*found;
}

std::string eight_bytes(std::uint64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

Instant instant_of(std::int64_t milliseconds) {
  return as_stamp(Instant(std::chrono::milliseconds(milliseconds)));
}

std::optional<Instant> instant_of(double seconds) {
  if (!std::isfinite(seconds)) return std::nullopt;
  return instant_of(Duration::of_seconds(seconds).milliseconds());
}

std::int64_t integer_of(const Text& number) {
  std::int64_t value = 0;
  const char* end = number.value.data() + number.value.size();
  if (std::from_chars(number.value.data(), end, value).ec == std::errc()) return value;
  return number.value.starts_with('-') ? std::numeric_limits<std::int64_t>::min()
                                       : std::numeric_limits<std::int64_t>::max();
}

bool is_one(const Text* value) {
  return value != nullptr && value->is(Text::Kind::number) && double_of(*value) == 1;
}

std::optional<std::string> string_param(const Text& params, std::string_view name) {
  const Text* value = params.find(name);
  if (value == nullptr || value->is(Text::Kind::null)) return std::string();
  if (!value->is(Text::Kind::string)) return std::nullopt;
  return value->value;
}

std::optional<Text> read_params(const Context& context, Dialect dialect, int depth_max) {
  if (context.params.empty()) {
    Text none;
    none.kind = Text::Kind::object;
    return none;
  }
  std::optional<Text> params = read_text(context.params, dialect, depth_max);
  if (!params || !params->is(Text::Kind::object)) return std::nullopt;
  return params;
}

}  // namespace signet::token::profiles
