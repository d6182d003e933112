// python-sdk-v1: "v1." base64url(kid 4 ‖ nonce 12 ‖ ciphertext ‖ tag 16), AES-256-GCM, associated data "v1." ‖ kid.
// Inside: {"v":1,"iat":…,"exp":…,"m":method,"t":target,"a":digest of the arguments,"s":state,"aud":…,"p":principal}.
#include <algorithm>
#include <array>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::string_view prefix = "v1.";
constexpr std::string_view key_info = "mcp/request-state/v1/aes-256-gcm";
constexpr std::string_view key_id_domain = "mcp/request-state/v1/kid:";
constexpr std::string_view principal_domain = "mcp/request-state/principal:";
constexpr std::size_t secret_bytes_min = 32;
constexpr std::size_t key_id_bytes = 4;
constexpr std::size_t salt_bytes = 8;
constexpr std::size_t digest_bytes = 16;
constexpr double skew_seconds = 60;
constexpr std::chrono::seconds default_lifetime{600};
constexpr std::string_view no_name =
    "no request has an array or an object for its name, or such deep arguments";

using KeyId = std::array<std::uint8_t, key_id_bytes>;

// What is made of one configured secret.
struct Derived {
  explicit Derived(const Secret& secret) {
    Bytes bytes(cipher_key_bytes);
    hkdf_sha256(secret.expose(), {}, as_bytes(key_info), bytes);
    const Digest digest = sha256({as_bytes(key_id_domain), bytes});
    std::copy_n(digest.begin(), id.size(), id.begin());
    key = Secret(std::move(bytes));
  }
  std::string associated() const { return std::string(prefix) + text_of(id); }

  KeyId id{};
  Secret key;
};

bool is_falsy(const Text& value) {
  switch (value.kind) {
    case Text::Kind::null:
      return true;
    case Text::Kind::boolean:
      return value.value == "false";
    case Text::Kind::number:
      return double_of(value) == 0;
    case Text::Kind::string:
      return value.value.empty();
    case Text::Kind::array:
      return value.elements.empty();
    case Text::Kind::object:
      return value.members.empty();
  }
  return false;
}

ArgumentsDigest digest_of(const Text* arguments) {
  const bool none = arguments == nullptr || is_falsy(*arguments);
  std::string canonical = none ? "{}" : python_json(*arguments, Sort::members, Ascii::only);
  const Digest digest = sha256(as_bytes(canonical));
  return ArgumentsDigest{std::move(canonical), encode_base64url(ByteView(digest).first(digest_bytes))};
}

// str() of what stands where a name should; nothing for arrays and objects, which no request has there.
std::optional<std::string> str_of(const Text* value) {
  if (value == nullptr) return std::string();
  switch (value->kind) {
    case Text::Kind::null:
      return "None";
    case Text::Kind::boolean:
      return value->value == "true" ? "True" : "False";
    case Text::Kind::number:
      return python_str(*value);
    case Text::Kind::string:
      return value->value;
    case Text::Kind::array:
    case Text::Kind::object:
      break;
  }
  return std::nullopt;
}

// What the request is, as the token says it.
struct Identity {
  std::string target;
  std::string arguments;
};

std::optional<Identity> identity_of(const Context& context) {
  const std::optional<Text> params = read_params(context, Dialect::python, script_depth_max);
  if (!params) return std::nullopt;
  const bool reads_resource = context.method == "resources/read";
  std::optional<std::string> target = str_of(params->find(reads_resource ? "uri" : "name"));
  if (!target) return std::nullopt;
  Identity identity;
  identity.target = std::move(*target);
  identity.arguments = digest_of(reads_resource ? nullptr : params->find("arguments")).digest;
  return identity;
}

std::string principal_claim(std::string_view principal, ByteView salt) {
  const Digest digest = sha256({as_bytes(principal_domain), salt, as_bytes(principal)});
  Bytes claim(salt.begin(), salt.end());
  claim.insert(claim.end(), digest.begin(), digest.begin() + digest_bytes);
  return encode_base64url(claim);
}

// As Python compares: true is 1.
std::optional<double> number_of(const Text* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is(Text::Kind::boolean)) return value->value == "true" ? 1 : 0;
  if (value->is(Text::Kind::number)) return double_of(*value);
  return std::nullopt;
}

bool is_string(const Text& claims, std::string_view name, std::string_view expected) {
  const std::string* value = claims.find_string(name);
  return value != nullptr && *value == expected;
}

// Absent and null are the same.
bool is_there(const Text& claims, std::string_view name) {
  const Text* value = claims.find(name);
  return value != nullptr && !value->is(Text::Kind::null);
}

class Python final : public Profile {
 public:
  explicit Python(std::vector<Derived> keys) : keys_(std::move(keys)) {}
  std::string_view name() const override { return "python-sdk-v1"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context& context) const override {
    if (!token.starts_with(prefix)) return refuse(Refusal::malformed);
    const std::optional<Bytes> blob = decode_base64url(token.substr(prefix.size()));
    if (!blob || blob->size() < key_id_bytes + nonce_bytes + tag_bytes) return refuse(Refusal::malformed);
    const ByteView sealed(*blob);
    const ByteView id = sealed.first(key_id_bytes);
    const auto key = std::find_if(keys_.begin(), keys_.end(), [&](const Derived& one) {
      return std::equal(id.begin(), id.end(), one.id.begin());
    });
    if (key == keys_.end()) return refuse(Refusal::unknown_key);
    const std::string bound = key->associated();
    const ByteView secret = sealed.subspan(key_id_bytes + nonce_bytes);
    const std::optional<Bytes> json = decrypt(
        Cipher::aes_256_gcm, {key->key.expose(), sealed.subspan(key_id_bytes, nonce_bytes), as_bytes(bound)},
        secret.first(secret.size() - tag_bytes), secret.last(tag_bytes));
    if (!json) return refuse(Refusal::not_authentic, hex(id));
    const std::optional<Text> claims = read_text(as_text(*json), Dialect::python, script_depth_max);
    if (!claims || !claims->is(Text::Kind::object)) return refuse(Refusal::malformed, hex(id));
    return with_content(verify(*claims, context, hex(id)), *json);
  }

  Result<std::string> seal(std::string_view state, const Context& context, std::optional<Duration> lifetime,
                           Entropy& entropy) const override {
    const std::optional<Identity> identity = identity_of(context);
    if (!identity) return failure("The params are no JSON object, or their name is none.");
    if (!is_string_value(state)) return failure("The state must be text for this format.");
    const double issued = context.now.seconds();
    const double expiry = issued + lifetime.value_or(default_lifetime).seconds();
    std::string json = R"({"v":1,"iat":)" + python_float(issued) + R"(,"exp":)" + python_float(expiry);
    json += R"(,"m":)" + python_string(context.method) + R"(,"t":)" + python_string(identity->target);
    json += R"(,"a":)" + python_string(identity->arguments) + R"(,"s":)" + python_string(state);
    if (context.audience) json += R"(,"aud":)" + python_string(*context.audience);
    if (context.principal) {
      std::array<std::uint8_t, salt_bytes> salt{};
      entropy.fill(salt);
      json += R"(,"p":)" + python_string(principal_claim(*context.principal, salt));
    }
    json += '}';
    const Derived& key = keys_.front();
    Bytes sealed(key.id.begin(), key.id.end());
    sealed.resize(key_id_bytes + nonce_bytes);
    const std::span<std::uint8_t> nonce = std::span(sealed).subspan(key_id_bytes);
    entropy.fill(nonce);
    const std::string bound = key.associated();
    const Bytes secret =
        encrypt(Cipher::aes_256_gcm, {key.key.expose(), nonce, as_bytes(bound)}, as_bytes(json));
    sealed.insert(sealed.end(), secret.begin(), secret.end());
    return std::string(prefix) + encode_base64url(sealed);
  }

 private:
  static Result<ProfileOpened, ProfileRefused> verify(const Text& claims, const Context& context,
                                                      std::string id) {
    const std::optional<double> issued = number_of(claims.find("iat"));
    const std::optional<double> expiry = number_of(claims.find("exp"));
    const std::string* state = claims.find_string("s");
    if (number_of(claims.find("v")) != 1.0 || !issued || !expiry || state == nullptr) {
      return refuse(Refusal::malformed, std::move(id));
    }
    const double now = context.now.seconds();
    if (!(*issued <= now + skew_seconds)) return refuse(Refusal::issued_in_future, std::move(id));
    if (!(now < *expiry)) return refuse(Refusal::expired, std::move(id));
    const std::optional<Identity> identity = identity_of(context);
    if (!is_string(claims, "m", context.method)) return refuse(Refusal::other_method, std::move(id));
    if (!identity) return refuse(Refusal::other_target, std::move(id), no_name);
    if (!is_string(claims, "t", identity->target)) return refuse(Refusal::other_target, std::move(id));
    if (!is_string(claims, "a", identity->arguments)) return refuse(Refusal::other_arguments, std::move(id));
    const bool audience_fits =
        context.audience ? is_string(claims, "aud", *context.audience) : !is_there(claims, "aud");
    if (!audience_fits) return refuse(Refusal::other_audience, std::move(id));
    if (!principal_fits(claims, context)) return refuse(Refusal::other_principal, std::move(id));
    ProfileOpened opened;
    opened.state = bytes_of(*state);
    opened.key_id = std::move(id);
    opened.issued_at = instant_of(*issued);
    opened.expires_at = instant_of(*expiry);
    return opened;
  }

  static bool principal_fits(const Text& claims, const Context& context) {
    if (!context.principal || !is_there(claims, "p")) return !context.principal && !is_there(claims, "p");
    const std::string* claim = claims.find_string("p");
    if (claim == nullptr) return false;
    const std::optional<Bytes> decoded = decode_base64url(*claim);
    if (!decoded || decoded->size() != salt_bytes + digest_bytes) return false;
    const std::string expected = principal_claim(*context.principal, ByteView(*decoded).first(salt_bytes));
    return equal_in_constant_time(as_bytes(*claim), as_bytes(expected));
  }

  std::vector<Derived> keys_;
};

}  // namespace

std::optional<ArgumentsDigest> python_arguments_digest(std::string_view arguments) {
  if (arguments.empty()) return digest_of(nullptr);
  const std::optional<Text> read = read_text(arguments, Dialect::python, script_depth_max);
  if (!read) return std::nullopt;
  return digest_of(&*read);
}

Made make_python(ProfileConfig config) {
  std::vector<Derived> keys;
  for (const ProfileKey& key : config.keys) {
    if (key.secret.size() < secret_bytes_min) return failure("Keys need at least 32 bytes each.");
    Derived derived(key.secret);
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](const Derived& one) { return one.id == derived.id; });
    if (known) return failure("A key is there twice.");
    keys.push_back(std::move(derived));
  }
  if (keys.empty()) return failure("There is no key.");
  return std::unique_ptr<Profile>(std::make_unique<Python>(std::move(keys)));
}

}  // namespace signet::token::profiles
