// What the formats have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/digest.h>
#include <signet/token/base64url.h>
#include <signet/token/profiles/ciphers.h>
#include <signet/token/profiles/profile.h>
#include <signet/token/profiles/text.h>

namespace signet::token::profiles {

using Made = Result<std::unique_ptr<Profile>>;
Made make_haskell(ProfileConfig config);
Made make_python(ProfileConfig config);
Made make_ruby(ProfileConfig config);
Made make_typescript(ProfileConfig config);
Made make_rmcp_rs1(ProfileConfig config);
Made make_rmcp_rs2(ProfileConfig config);
Made make_droid(ProfileConfig config);
Made make_conduit(ProfileConfig config);

// Why a token that the original opens does not open here.
inline constexpr std::string_view one_spelling =
    "a token has the one spelling that its system writes, so that it cannot be shown twice as two";

inline Failure<ProfileRefused> refuse(Refusal reason, std::string key_id = {},
                                      std::string_view stricter = {}) {
  return failure(ProfileRefused{reason, std::move(key_id), stricter});
}

// A token that was found authentic says this; if it is refused, the refusal has it.
inline Result<ProfileOpened, ProfileRefused> with_content(Result<ProfileOpened, ProfileRefused> verified,
                                                          ByteView content) {
  if (!verified.ok()) verified.error().content.assign(content.begin(), content.end());
  return verified;
}

// The one key of a format that names none, of a size that `fits`; otherwise an error.
Result<Secret> single_key(ProfileConfig& config, std::size_t bytes_min, std::size_t bytes_max);

const ProfileKey* find_key(const std::vector<ProfileKey>& keys, std::string_view id);

inline std::string text_of(ByteView bytes) { return std::string(as_text(bytes)); }
inline Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }

// Big-endian.
std::string eight_bytes(std::uint64_t value);

// The sum, or the nearest number that 64 bits hold.
std::int64_t saturating_sum(std::int64_t a, std::int64_t b);

Instant instant_of(std::int64_t milliseconds);
// Nothing where it is no time (an infinite expiry).
std::optional<Instant> instant_of(double seconds);

// The value of an integer, or the nearest that 64 bits hold. Precondition: is_integer.
std::int64_t integer_of(const Text& number);

// Whether the JSON value is the number 1 (1.0 too).
bool is_one(const Text* value);

// `name` of params: empty where it is absent or null, nothing where it is there and no string.
std::optional<std::string> string_param(const Text& params, std::string_view name);
// The params as an object; an empty one where there are none, nothing where they are no JSON.
std::optional<Text> read_params(const Context& context, Dialect dialect, int depth_max);

}  // namespace signet::token::profiles
