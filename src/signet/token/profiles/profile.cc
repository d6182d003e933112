#include <signet/token/profiles/profile.h>

#include <algorithm>
#include <array>
#include <cmath>

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

}  // namespace

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

std::optional<Instant> instant_of(double seconds) {
  constexpr double most = 9e12;  // a microsecond count beyond that overflows
  if (!(std::fabs(seconds) < most)) return std::nullopt;
  return Instant(std::chrono::microseconds(std::llround(seconds * 1e6)));
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

std::optional<Text> read_params(const Context& context, int depth_max) {
  if (context.params.empty()) {
    Text none;
    none.kind = Text::Kind::object;
    return none;
  }
  std::optional<Text> params = read_text(context.params, NonFinite::accepted, depth_max);
  if (!params || !params->is(Text::Kind::object)) return std::nullopt;
  return params;
}

}  // namespace signet::token::profiles
