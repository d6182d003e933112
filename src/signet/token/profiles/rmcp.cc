// rmcp (the Rust SDK): rs1 and its successor rs2. Signed, not secret; bound to what the application passes as
// associated data.
//   rs1.<base64url(body)>.<base64url(tag)>     rs2.<base64url(kid)>.<base64url(body)>.<base64url(tag)>
//   body = expiry, milliseconds, eight bytes big-endian, 0 for none ‖ state
#include <algorithm>
#include <array>
#include <limits>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::string_view domain_1 = "rmcp/mrtr/request-state/v1";
constexpr std::string_view domain_2 = "rmcp/mrtr/request-state/v2";
constexpr std::size_t key_bytes_min = 32;
constexpr std::size_t key_id_bytes_max = 255;
constexpr std::size_t key_id_text_max = 340;
constexpr std::size_t expiry_bytes = 8;

std::string bound_of(const Context& context) { return context.bound.value_or(std::string()); }

Digest tag_1(const Secret& key, std::string_view bound, std::string_view body) {
  const std::string size = eight_bytes(bound.size());
  return hmac_sha256(key.expose(), {as_bytes(domain_1), as_bytes(size), as_bytes(bound), as_bytes(body)});
}

Digest tag_2(const ProfileKey& key, std::string_view bound, std::string_view body) {
  const std::string id_size = eight_bytes(key.id.size());
  const std::string size = eight_bytes(bound.size());
  return hmac_sha256(key.secret.expose(), {as_bytes(domain_2), as_bytes(id_size), as_bytes(key.id),
                                           as_bytes(size), as_bytes(bound), as_bytes(body)});
}

std::vector<std::string_view> split(std::string_view token) {
  std::vector<std::string_view> parts;
  while (parts.size() < 6) {  // more than any format has
    const std::size_t dot = token.find('.');
    parts.push_back(token.substr(0, dot));
    if (dot == std::string_view::npos) break;
    token.remove_prefix(dot + 1);
  }
  return parts;
}

std::string body_of(std::string_view state, const Context& context, std::optional<Duration> lifetime) {
  const std::int64_t expiry = lifetime ? (context.now + *lifetime).milliseconds() : 0;
  return eight_bytes(static_cast<std::uint64_t>(expiry)) + std::string(state);
}

// Precondition: the body is authentic.
Result<ProfileOpened, ProfileRefused> verify(std::string_view body, const Context& context,
                                             std::string key_id) {
  if (body.size() < expiry_bytes) return refuse(Refusal::malformed, std::move(key_id));
  std::uint64_t big_endian = 0;
  for (const std::uint8_t byte : as_bytes(body.substr(0, expiry_bytes))) big_endian = big_endian << 8 | byte;
  const auto expiry = static_cast<std::int64_t>(big_endian);
  if (expiry != 0 && context.now.milliseconds() > expiry) return refuse(Refusal::expired, std::move(key_id));
  ProfileOpened opened;
  opened.state = bytes_of(body.substr(expiry_bytes));
  opened.key_id = std::move(key_id);
  if (expiry != 0) opened.expires_at = instant_of(expiry);
  return opened;
}

Result<ProfileOpened, ProfileRefused> read_body(std::string_view body, const Context& context,
                                                std::string key_id) {
  return with_content(verify(body, context, std::move(key_id)), as_bytes(body));
}

struct Parts {
  std::string body;
  Bytes tag;
};

std::optional<Parts> decode(std::string_view body, std::string_view tag) {
  const std::optional<Bytes> decoded_body = decode_base64url(body);
  std::optional<Bytes> decoded_tag = decode_base64url(tag);
  if (!decoded_body || !decoded_tag) return std::nullopt;
  return Parts{text_of(*decoded_body), std::move(*decoded_tag)};
}

bool is_tag(ByteView tag, const Digest& expected) {
  return tag.size() == expected.size() && equal_in_constant_time(tag, expected);
}

std::string seal_1(const Secret& key, std::string_view bound, std::string_view body) {
  return "rs1." + encode_base64url(as_bytes(body)) + "." + encode_base64url(tag_1(key, bound, body));
}

class RmcpRs1 final : public Profile {
 public:
  explicit RmcpRs1(Secret key) : key_(std::move(key)) {}
  std::string_view name() const override { return "rmcp-rs1"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context& context) const override {
    const std::vector<std::string_view> parts = split(token);
    if (parts.size() != 3 || parts[0] != "rs1") return refuse(Refusal::malformed);
    const std::optional<Parts> decoded = decode(parts[1], parts[2]);
    if (!decoded) return refuse(Refusal::malformed);
    if (!is_tag(decoded->tag, tag_1(key_, bound_of(context), decoded->body)))
      return refuse(Refusal::not_authentic);
    return read_body(decoded->body, context, {});
  }

  Result<std::string> seal(std::string_view state, const Context& context, std::optional<Duration> lifetime,
                           Entropy&) const override {
    return seal_1(key_, bound_of(context), body_of(state, context, lifetime));
  }

 private:
  Secret key_;
};

class RmcpRs2 final : public Profile {
 public:
  explicit RmcpRs2(ProfileConfig config) : config_(std::move(config)) {}
  std::string_view name() const override { return "rmcp-rs2"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context& context) const override {
    const std::vector<std::string_view> parts = split(token);
    if (parts.size() == 3 && parts[0] == "rs1") return open_1(parts, context);
    if (parts.size() != 4 || parts[0] != "rs2") return refuse(Refusal::malformed);
    if (parts[1].size() > key_id_text_max) return refuse(Refusal::malformed);
    const std::optional<Bytes> id = decode_base64url(parts[1]);
    if (!id || id->empty() || id->size() > key_id_bytes_max || !is_plain_utf8(as_text(*id))) {
      return refuse(Refusal::malformed);
    }
    const ProfileKey* key = find_key(config_.keys, as_text(*id));
    if (key == nullptr) return refuse(Refusal::unknown_key);
    const std::optional<Parts> decoded = decode(parts[2], parts[3]);
    if (!decoded) return refuse(Refusal::malformed, key->id);
    if (!is_tag(decoded->tag, tag_2(*key, bound_of(context), decoded->body))) {
      return refuse(Refusal::not_authentic, key->id);
    }
    return read_body(decoded->body, context, key->id);
  }

  Result<std::string> seal(std::string_view state, const Context& context, std::optional<Duration> lifetime,
                           Entropy&) const override {
    const std::string body = body_of(state, context, lifetime);
    const std::string bound = bound_of(context);
    if (config_.rs1_signing) return seal_1(find_key(config_.keys, *config_.rs1_signing)->secret, bound, body);
    const ProfileKey& key = config_.keys.front();
    return "rs2." + encode_base64url(as_bytes(key.id)) + "." + encode_base64url(as_bytes(body)) + "." +
           encode_base64url(tag_2(key, bound, body));
  }

 private:
  // Every fallback is tried, so that the time does not tell which one fits.
  Result<ProfileOpened, ProfileRefused> open_1(const std::vector<std::string_view>& parts,
                                               const Context& context) const {
    if (config_.rs1_fallbacks.empty()) return refuse(Refusal::unknown_key);
    const std::optional<Parts> decoded = decode(parts[1], parts[2]);
    if (!decoded) return refuse(Refusal::malformed);
    const ProfileKey* fits = nullptr;
    for (const std::string& id : config_.rs1_fallbacks) {
      const ProfileKey* key = find_key(config_.keys, id);
      if (is_tag(decoded->tag, tag_1(key->secret, bound_of(context), decoded->body))) fits = key;
    }
    if (fits == nullptr) return refuse(Refusal::not_authentic);
    return read_body(decoded->body, context, fits->id);
  }

  ProfileConfig config_;
};

bool is_good_key(const ProfileKey& key) {
  return !key.id.empty() && key.id.size() <= key_id_bytes_max && is_plain_utf8(key.id) &&
         key.secret.size() >= key_bytes_min;
}

}  // namespace

Made make_rmcp_rs1(ProfileConfig config) {
  auto key = single_key(config, key_bytes_min, std::numeric_limits<std::size_t>::max());
  if (!key) return failure(std::move(key.error()));
  return std::unique_ptr<Profile>(std::make_unique<RmcpRs1>(std::move(*key)));
}

Made make_rmcp_rs2(ProfileConfig config) {
  for (std::size_t i = 0; i < config.keys.size(); ++i) {
    if (!is_good_key(config.keys[i]))
      return failure("Keys need ids of 1 to 255 bytes and at least 32 bytes each.");
    if (find_key(config.keys, config.keys[i].id) != &config.keys[i])
      return failure("Two keys have the same id.");
  }
  if (config.keys.empty()) return failure("There is no key.");
  std::vector<std::string> named = config.rs1_fallbacks;
  if (config.rs1_signing) named.push_back(*config.rs1_signing);
  for (const std::string& id : named) {
    if (find_key(config.keys, id) == nullptr) return failure("A key named for rs1 is not in the ring.");
  }
  config.rs1_fallbacks = std::move(named);  // who seals as rs1 opens what it sealed
  return std::unique_ptr<Profile>(std::make_unique<RmcpRs2>(std::move(config)));
}

}  // namespace signet::token::profiles
