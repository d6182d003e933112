// conduit-mcp-0.11: kid "." base64url(iv 12 ‖ tag 16 ‖ ciphertext), AES-256-GCM. Its semantics; its bytes are not
// published, so the layout of the associated data and of what is inside is assumed (doc/profiles.md):
//   associated data = version|method|server|kid      inside = {"p":principal,"e":expiry ms,"d":digest,"s":state}
#include <algorithm>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::size_t token_bytes_max = 65536;
constexpr std::chrono::minutes default_lifetime{5};
constexpr std::chrono::seconds anonymous_lifetime{60};

std::string associated(const Context& context, std::string_view id) {
  return context.protocol_version + "|" + context.method + "|" + context.audience.value_or(std::string()) +
         "|" + std::string(id);
}

// Of all that is in params and belongs to the request itself.
std::optional<std::string> digest_of(const Context& context) {
  std::optional<Text> params = read_params(context, Dialect::python, ruby_depth_max);
  if (!params) return std::nullopt;
  std::erase_if(params->members, [](const auto& member) {
    return member.name == "_meta" || member.name == "inputResponses" || member.name == "requestState";
  });
  const std::string text = context.method + "\n" + python_json(*params, Sort::members, Ascii::no);
  return encode_base64url(sha256(as_bytes(text)));
}

class Conduit final : public Profile {
 public:
  explicit Conduit(std::vector<ProfileKey> keys) : keys_(std::move(keys)) {}
  std::string_view name() const override { return "conduit-mcp-0.11"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context& context) const override {
    if (token.size() > token_bytes_max) return refuse(Refusal::too_large);
    const std::size_t dot = token.find('.');
    if (dot == std::string_view::npos) return refuse(Refusal::malformed);
    const std::string id(token.substr(0, dot));
    const ProfileKey* key = find_key(keys_, id);
    if (key == nullptr) return refuse(Refusal::unknown_key);
    const std::optional<Bytes> blob = decode_base64url(token.substr(dot + 1));
    if (!blob || blob->size() < nonce_bytes + tag_bytes) return refuse(Refusal::malformed, id);
    const ByteView sealed(*blob);
    const std::string bound = associated(context, id);
    const std::optional<Bytes> json =
        decrypt(Cipher::aes_256_gcm, {key->secret.expose(), sealed.first(nonce_bytes), as_bytes(bound)},
                sealed.subspan(nonce_bytes + tag_bytes), sealed.subspan(nonce_bytes, tag_bytes));
    if (!json) return refuse(Refusal::not_authentic, id);
    const std::optional<Text> claims = read_text(as_text(*json));
    if (!claims || !claims->is(Text::Kind::object)) return refuse(Refusal::malformed, id);
    return with_content(verify(*claims, context, id), *json);
  }

  Result<std::string> seal(std::string_view state, const Context& context, std::optional<Duration> lifetime,
                           Entropy& entropy) const override {
    const std::optional<Text> term = read_text(state);
    if (!term) return failure("The state must be JSON text for this format.");
    const std::optional<std::string> digest = digest_of(context);
    if (!digest) return failure("The params are no JSON object.");
    const Duration usual = context.principal ? Duration(default_lifetime) : Duration(anonymous_lifetime);
    const std::int64_t expiry = (context.now + lifetime.value_or(usual)).milliseconds();
    std::string json =
        R"({"p":)" + (context.principal ? python_string(*context.principal, Ascii::no) : "null");
    json += R"(,"e":)" + std::to_string(expiry) + R"(,"d":")" + *digest;
    json += R"(","s":)" + python_json(*term, Sort::no, Ascii::no) + '}';
    if (!read_text(json)) return failure("The state holds a number beyond the range of this format.");
    const ProfileKey& key = keys_.front();
    Bytes sealed(nonce_bytes);
    entropy.fill(sealed);
    const std::string bound = associated(context, key.id);
    const Bytes secret =
        encrypt(Cipher::aes_256_gcm, {key.secret.expose(), sealed, as_bytes(bound)}, as_bytes(json));
    sealed.insert(sealed.end(), secret.end() - tag_bytes, secret.end());
    sealed.insert(sealed.end(), secret.begin(), secret.end() - tag_bytes);
    std::string token = key.id + "." + encode_base64url(sealed);
    if (token.size() > token_bytes_max) return failure("The state is too large for this format.");
    return token;
  }

 private:
  static Result<ProfileOpened, ProfileRefused> verify(const Text& claims, const Context& context,
                                                      const std::string& id) {
    const Text* expiry = claims.find("e");
    const Text* state = claims.find("s");
    if (expiry == nullptr || !is_integer(*expiry) || state == nullptr) return refuse(Refusal::malformed, id);
    if (!(context.now.milliseconds() < integer_of(*expiry))) return refuse(Refusal::expired, id);
    const std::string* digest = claims.find_string("d");
    if (digest == nullptr || *digest != digest_of(context)) return refuse(Refusal::other_arguments, id);
    const Text* principal = claims.find("p");
    const bool has_principal = principal != nullptr && !principal->is(Text::Kind::null);
    const std::string* name = claims.find_string("p");
    const bool fits = context.principal ? name != nullptr && *name == *context.principal : !has_principal;
    if (!fits) return refuse(Refusal::other_principal, id);
    ProfileOpened opened;
    opened.state = bytes_of(python_json(*state, Sort::no, Ascii::no));
    opened.key_id = id;
    opened.expires_at = instant_of(integer_of(*expiry));
    return opened;
  }

  std::vector<ProfileKey> keys_;
};

bool is_good_key(const ProfileKey& key) {
  return !key.id.empty() && key.id.find('.') == std::string::npos && key.secret.size() == cipher_key_bytes;
}

}  // namespace

Made make_conduit(ProfileConfig config) {
  for (std::size_t i = 0; i < config.keys.size(); ++i) {
    if (!is_good_key(config.keys[i])) return failure("Keys need ids without a point and 32 bytes each.");
    if (find_key(config.keys, config.keys[i].id) != &config.keys[i])
      return failure("Two keys have the same id.");
  }
  if (config.keys.empty()) return failure("There is no key.");
  return std::unique_ptr<Profile>(std::make_unique<Conduit>(std::move(config.keys)));
}

}  // namespace signet::token::profiles
