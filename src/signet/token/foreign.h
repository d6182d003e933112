// Request states in the format of another system: opened while its flows are still under way, sealed where its
// instances still serve.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/result.h>
#include <signet/token/claims.h>

namespace signet::token {

// What came out of a state of another system. What its format does not carry is absent.
struct ForeignOpened {
  Bytes state;
  TokenId token_id{};  // from the decoded token, whatever its spelling
  std::optional<Timestamp> issued_at;
  std::optional<Timestamp> expires_at;  // nothing: it never expires
  std::string key_id;
};

struct ForeignRefused {
  Refusal reason = Refusal::malformed;
  std::string key_id;  // empty where the token did not say
};

// One format of another system, with its keys. It verifies all that its format binds, itself. The Sealer asks it only
// for tokens that do not begin with the native prefix, and only where it was configured: a format is never guessed.
// Implementations are in token/profiles. Thread-safe.
class ForeignFormat {
 public:
  ForeignFormat() = default;
  ForeignFormat(const ForeignFormat&) = delete;
  ForeignFormat& operator=(const ForeignFormat&) = delete;
  virtual ~ForeignFormat() = default;

  // The format's name, as in the log: `python-sdk-v1`.
  virtual std::string_view name() const = 0;
  // Reads `binding.params_json`, not the digest of the arguments.
  virtual Result<ForeignOpened, ForeignRefused> open(std::string_view token, const Binding& binding,
                                                     Timestamp now) const = 0;
  virtual Result<std::string> seal(ByteView state, const Binding& binding, Timestamp now,
                                   Entropy& entropy) const = 0;
};

}  // namespace signet::token
