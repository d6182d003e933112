// The token formats of other systems, opened and sealed byte for byte: doc/profiles.md.
//
// A format is named in the configuration and never guessed: six systems begin their tokens with `v1.`, and some begin
// them with nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/result.h>
#include <signet/base/secret.h>
#include <signet/token/claims.h>

namespace signet::token::profiles {

// A time that a token names, between 1970 and latest_stamp: what lies beyond is moved there.
using Instant = Timestamp;

// A length of time, or the time since 1970, as the other systems carry it: Python and JavaScript as seconds in a double,
// of which every digit goes into their tokens, the others in whole milliseconds or seconds. Whatever does not fit into
// 64 bits becomes the nearest number that does.
class Duration {
 public:
  Duration() = default;
  Duration(std::chrono::milliseconds time);
  Duration(Timestamp since_1970) : Duration(since_1970.time_since_epoch()) {}
  template <typename Rep, typename Period>
  Duration(std::chrono::duration<Rep, Period> time)
      : Duration(of_seconds(std::chrono::duration<double>(time).count())) {}
  static Duration of_seconds(double seconds);

  double seconds() const { return seconds_; }
  std::int64_t whole_seconds() const;                          // the next below
  std::int64_t milliseconds() const { return milliseconds_; }  // the next below
  Duration operator+(const Duration& other) const;

 private:
  double seconds_ = 0;
  std::int64_t milliseconds_ = 0;
};

// One key, as the other system was given it. `id` is empty where the format names no keys.
struct ProfileKey {
  std::string id;
  Secret secret;
};

struct ProfileConfig {
  // The first seals. Formats that name no keys take exactly one.
  std::vector<ProfileKey> keys;
  // rmcp-rs2 only: ids of keys that also open rs1 tokens, and the key that seals as rs1, and opens it, while old code
  // still serves.
  std::vector<std::string> rs1_fallbacks;
  std::optional<std::string> rs1_signing;
};

// The request at hand, in the words of the other system. Each format reads what it binds, and nothing else.
struct Context {
  std::string method;
  std::string params;  // JSON text of the whole params; empty where there are none
  std::optional<std::string> audience;
  std::optional<std::string> principal;
  std::string protocol_version;
  // What the application itself bound: rmcp's associated data, or what TypeScript's bind() returned.
  std::optional<std::string> bound;
  Duration now;  // since 1970
};

// What came out of a token.
struct ProfileOpened {
  // Text in the formats of Python, Ruby and Rust; JSON text where the state is a JSON value (typescript, conduit).
  Bytes state;
  std::string key_id;  // empty where the format names no keys
  std::optional<Instant> issued_at;
  std::optional<Instant> expires_at;  // nothing: it never expires
};

struct ProfileRefused {
  Refusal reason = Refusal::malformed;
  std::string key_id;  // empty where the token did not say
  // Where the original would have gone on: why we do not (doc/profiles.md). Empty otherwise.
  std::string_view stricter;
  // What a token says that is authentic, where that is why it is refused: its claims as JSON; of rmcp eight octets of expiry and
  // the state. For whoever holds the keys, and nobody else. Empty otherwise.
  Bytes content{};
};

// A format with its keys. Thread-safe.
class Profile {
 public:
  Profile() = default;
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  virtual ~Profile() = default;

  virtual std::string_view name() const = 0;

  // Every token has one spelling that opens, the one its system writes.
  virtual Result<ProfileOpened, ProfileRefused> open(std::string_view token,
                                                     const Context& context) const = 0;

  // The token that the other system would make. Without a lifetime, the system's default (rmcp: for ever). Formats
  // whose tokens have no expiry ignore it. One sentence where the state is not what the format can hold.
  virtual Result<std::string> seal(std::string_view state, const Context& context,
                                   std::optional<Duration> lifetime, Entropy& entropy) const = 0;
};

// The names: haskell-mcp-server, python-sdk-v1, ruby-sdk-v1, typescript-sdk-v1, rmcp-rs1, rmcp-rs2, protocol-droid,
// conduit-mcp-0.11.
std::vector<std::string_view> profile_names();

// The format of that name, or what is wrong with the name or the keys.
Result<std::unique_ptr<Profile>> make_profile(std::string_view name, ProfileConfig config);

// The arguments digest of the formats that have one, and the text it is taken of. `arguments` is the JSON text of the
// request's arguments, empty where there are none; nothing where the original raises or it is no JSON.
struct ArgumentsDigest {
  std::string canonical;
  std::string digest;
};
std::optional<ArgumentsDigest> python_arguments_digest(std::string_view arguments);
std::optional<ArgumentsDigest> ruby_arguments_digest(std::string_view arguments);

}  // namespace signet::token::profiles
