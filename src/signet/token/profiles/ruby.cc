// ruby-sdk-v1: "v1." base64url(iv 12 ‖ ciphertext ‖ tag 16), AES-256-GCM under the raw key, associated data "v1.".
// Inside: {"v":1,"exp":…,"m":method,"t":target,"a":hex digest of the arguments,"aud":…,"s":state}.
#include <algorithm>
#include <cmath>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::string_view prefix = "v1.";
constexpr std::chrono::seconds default_lifetime{300};
constexpr std::string_view not_its_own =
    "the target is the method's own field: a name must not stand in for the uri that is read";

// Whether the original's decoder takes it: the + and / of the other alphabet, and padding, which it completes.
bool original_takes(std::string_view text) {
  std::string padded(text);
  for (char& c : padded) c = c == '+' ? '-' : c == '/' ? '_' : c;
  padded.append((4 - padded.size() % 4) % 4, '=');
  const std::size_t end = std::min(padded.find('='), padded.size());
  return padded.size() - end <= 2 && padded.find_first_not_of('=', end) == std::string::npos &&
         decode_base64url(std::string_view(padded).substr(0, end)).has_value();
}

// What Ruby takes for nothing.
bool is_falsy(const Text* value) {
  return value == nullptr || value->is(Text::Kind::null) ||
         (value->is(Text::Kind::boolean) && value->value == "false");
}

// `name`, and `uri` where there is none, for every method alike; nothing where it is no text.
std::optional<std::string> target_of(const Text& params) {
  return string_param(params, is_falsy(params.find("name")) ? "uri" : "name");
}

// What the method itself goes by, as the specification has it.
std::optional<std::string> own_target_of(const Context& context, const Text& params) {
  return string_param(params, context.method == "resources/read" ? "uri" : "name");
}

// As the original reads a request: JSON of so many levels, of which the message is the first.
std::optional<Text> params_of(const Context& context) {
  return read_params(context, Dialect::ruby, ruby_depth_max - 1);
}

std::optional<ArgumentsDigest> digest_of(const Text* arguments) {
  std::optional<std::string> canonical = is_falsy(arguments) ? "{}" : ruby_json(*arguments, Sort::members);
  if (!canonical) return std::nullopt;
  std::string digest = hex(sha256(as_bytes(*canonical)));
  return ArgumentsDigest{std::move(*canonical), std::move(digest)};
}

bool is_string(const Text& claims, std::string_view name, std::string_view expected) {
  const std::string* value = claims.find_string(name);
  return value != nullptr && *value == expected;
}

class Ruby final : public Profile {
 public:
  explicit Ruby(Secret key) : key_(std::move(key)) {}
  std::string_view name() const override { return "ruby-sdk-v1"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context& context) const override {
    if (!token.starts_with(prefix)) return refuse(Refusal::malformed);
    const std::string_view text = token.substr(prefix.size());
    const std::optional<Bytes> blob = decode_base64url(text);
    if (!blob)
      return refuse(Refusal::malformed, {}, original_takes(text) ? one_spelling : std::string_view());
    if (blob->size() < nonce_bytes + tag_bytes) return refuse(Refusal::malformed);
    const ByteView sealed(*blob);
    const std::optional<Bytes> json =
        decrypt(Cipher::aes_256_gcm, {key_.expose(), sealed.first(nonce_bytes), as_bytes(prefix)},
                sealed.subspan(nonce_bytes, sealed.size() - nonce_bytes - tag_bytes), sealed.last(tag_bytes));
    if (!json) return refuse(Refusal::not_authentic);
    const std::optional<Text> claims = read_text(as_text(*json), Dialect::ruby);
    if (!claims || !claims->is(Text::Kind::object)) return refuse(Refusal::malformed);
    return with_content(verify(*claims, context), *json);
  }

  Result<std::string> seal(std::string_view state, const Context& context, std::optional<Duration> lifetime,
                           Entropy& entropy) const override {
    const Duration life = lifetime.value_or(default_lifetime);
    if (life.seconds() != std::floor(life.seconds())) {
      return failure("A lifetime in parts of a second makes tokens that this format never accepts.");
    }
    const std::optional<Text> params = params_of(context);
    const auto digest = params ? digest_of(params->find("arguments")) : std::nullopt;
    if (!digest) return failure("The arguments have no digest in this format.");
    const std::optional<std::string> target = target_of(*params);
    if (!target) return failure("The name in the params is no text.");
    if (!is_plain_utf8(state)) return failure("The state must be UTF-8 text for this format.");
    const auto text = [](std::string_view value) { return python_string(value, Ascii::no); };
    std::string json = R"({"v":1,"exp":)" +
                       std::to_string(saturating_sum(context.now.whole_seconds(), life.whole_seconds()));
    json += R"(,"m":)" + text(context.method) + R"(,"t":)" + text(*target);
    json += R"(,"a":)" + text(digest->digest);
    if (context.audience) json += R"(,"aud":)" + text(*context.audience);
    json += R"(,"s":)" + text(state) + '}';
    Bytes sealed(nonce_bytes);
    entropy.fill(sealed);
    const Bytes secret =
        encrypt(Cipher::aes_256_gcm, {key_.expose(), sealed, as_bytes(prefix)}, as_bytes(json));
    sealed.insert(sealed.end(), secret.begin(), secret.end());
    return std::string(prefix) + encode_base64url(sealed);
  }

 private:
  static Result<ProfileOpened, ProfileRefused> verify(const Text& claims, const Context& context) {
    if (!is_one(claims.find("v"))) return refuse(Refusal::malformed);
    const Text* expiry = claims.find("exp");
    const bool counts = expiry != nullptr && is_integer(*expiry);
    if (!counts || context.now.whole_seconds() > integer_of(*expiry)) {
      return refuse(Refusal::expired);
    }
    if (!is_string(claims, "m", context.method)) return refuse(Refusal::other_method);
    const std::optional<Text> params = params_of(context);
    if (!params) return refuse(Refusal::other_target);
    const std::optional<std::string> target = target_of(*params);
    if (!target || !is_string(claims, "t", *target)) return refuse(Refusal::other_target);
    if (own_target_of(context, *params) != target) return refuse(Refusal::other_target, {}, not_its_own);
    const auto digest = digest_of(params->find("arguments"));
    if (!digest || !is_string(claims, "a", digest->digest)) return refuse(Refusal::other_arguments);
    const Text* audience = claims.find("aud");
    const bool has_audience = audience != nullptr && !audience->is(Text::Kind::null);
    if (has_audience != context.audience.has_value() ||
        (has_audience && !is_string(claims, "aud", *context.audience))) {
      return refuse(Refusal::other_audience);
    }
    const std::string* state = claims.find_string("s");
    // Of a lone surrogate Ruby's reader makes an error or another character.
    if (state == nullptr || !is_plain_utf8(*state)) return refuse(Refusal::malformed);
    ProfileOpened opened;
    opened.state = bytes_of(*state);
    opened.expires_at = instant_of(double_of(*expiry));
    return opened;
  }

  Secret key_;
};

}  // namespace

std::optional<ArgumentsDigest> ruby_arguments_digest(std::string_view arguments) {
  if (arguments.empty()) return digest_of(nullptr);
  const std::optional<Text> read = read_text(arguments, Dialect::ruby, ruby_depth_max - 1);  // inside params
  return read ? digest_of(&*read) : std::nullopt;
}

Made make_ruby(ProfileConfig config) {
  auto key = single_key(config, cipher_key_bytes, cipher_key_bytes);
  if (!key) return failure(std::move(key.error()));
  return std::unique_ptr<Profile>(std::make_unique<Ruby>(std::move(*key)));
}

}  // namespace signet::token::profiles
