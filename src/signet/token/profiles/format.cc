#include <signet/token/profiles/format.h>

#include <algorithm>
#include <utility>

#include <signet/token/claims_format.h>
#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::chrono::seconds rmcp_lifetime{600};

// As `later` does it: not back, and not beyond latest_stamp.
Duration lifetime_of(std::chrono::duration<double> lifetime, Timestamp now) {
  const std::chrono::duration<double> most = latest_stamp - as_stamp(now);
  return lifetime.count() > 0 ? Duration(std::min(lifetime, most)) : Duration();
}

// The first of two ends, of which either may be missing.
std::optional<Timestamp> sooner(std::optional<Timestamp> one, std::optional<Timestamp> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

// From the token itself: each has one spelling. Tokens of two systems never meet in one id.
TokenId id_of(std::string_view format, std::string_view token) {
  const Digest digest = sha256({as_bytes(format), as_bytes(std::string_view("\n")), as_bytes(token)});
  TokenId id{};
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

class Format final : public ForeignFormat {
 public:
  Format(std::unique_ptr<Profile> profile, FormatOptions options)
      : profile_(std::move(profile)), options_(std::move(options)) {}

  std::string_view name() const override { return profile_->name(); }

  Result<ForeignOpened, ForeignRefused> open(std::string_view token, const Binding& binding,
                                             Timestamp now) const override {
    if (token.size() > options_.token_bytes_max) return failure(ForeignRefused{Refusal::too_large, {}});
    if (options_.accept_until && now > *options_.accept_until) {
      return failure(ForeignRefused{Refusal::key_retired, {}});
    }
    auto opened = profile_->open(token, context_of(binding, now));
    if (!opened) return failure(ForeignRefused{opened.error().reason, std::move(opened.error().key_id)});
    ForeignOpened result;
    result.state = std::move(opened->state);
    result.token_id = id_of(name(), token);
    result.issued_at = opened->issued_at;
    result.expires_at = sooner(opened->expires_at, options_.accept_until);
    result.key_id = std::move(opened->key_id);
    return result;
  }

  Result<std::string> seal(ByteView state, const Binding& binding, Timestamp now,
                           Entropy& entropy) const override {
    std::optional<Duration> lifetime;
    if (options_.lifetime) lifetime = lifetime_of(*options_.lifetime, now);
    if (!lifetime && name().starts_with("rmcp")) lifetime = rmcp_lifetime;
    return profile_->seal(as_text(state), context_of(binding, now), lifetime, entropy);
  }

 private:
  Context context_of(const Binding& binding, Timestamp now) const {
    Context context;
    context.method = binding.method;
    context.params = binding.params_json;
    context.audience = options_.audience.value_or(binding.audience);
    if (context.audience->empty()) context.audience.reset();
    context.principal = principal_of(binding.principal);
    context.protocol_version = binding.protocol_version;
    if (options_.bound) context.bound = options_.bound(binding);
    context.now = now;
    return context;
  }

  std::optional<std::string> principal_of(const Principal& principal) const {
    if (options_.principal) return options_.principal(principal);
    if (principal.kind != Principal::Kind::authenticated) return std::nullopt;
    return principal.id;
  }

  std::unique_ptr<Profile> profile_;
  FormatOptions options_;
};

bool is_bound(std::string_view name, const FormatOptions& options) {
  const bool by_itself = name == "python-sdk-v1" || name == "ruby-sdk-v1" || name == "conduit-mcp-0.11";
  const bool by_application = name == "typescript-sdk-v1" || name.starts_with("rmcp");
  return by_itself || (by_application && options.bound);
}

}  // namespace

Result<std::shared_ptr<const ForeignFormat>> make_format(std::string_view name, FormatOptions options) {
  const bool clash = std::any_of(options.config.keys.begin(), options.config.keys.end(),
                                 [](const ProfileKey& key) { return key.id == "sg1"; });
  if (clash) return failure("A key of the other system is named sg1, as our own tokens begin.");
  auto profile = make_profile(name, std::move(options.config));
  if (!profile) return failure(std::move(profile.error()));
  if (!is_bound(name, options) && !options.accept_unbound) {
    return failure(
        "States of this format are bound to no request; accept_unbound must say that this is meant.");
  }
  options.config = ProfileConfig();
  return std::shared_ptr<const ForeignFormat>(
      std::make_shared<Format>(std::move(*profile), std::move(options)));
}

}  // namespace signet::token::profiles
