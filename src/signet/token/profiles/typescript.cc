// typescript-sdk-v1: "v1." base64url(JSON.stringify({p, exp, b})) "." base64url(HMAC-SHA256(key, "v1." ‖ body)).
// Signed, not secret; bound to what the application's bind() returns.
#include <cmath>
#include <limits>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::string_view prefix = "v1.";
constexpr std::string_view bind_domain = "mcp.requestState.bind:";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t bind_bytes = 16;
constexpr std::chrono::seconds default_lifetime{600};
constexpr std::string_view too_deep = "an envelope has at most 900 arrays and objects one inside the other";

// Whether the original's atob takes it: either alphabet, padded or not, white space anywhere, any bits at the end.
bool atob_takes(std::string_view text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
  std::string bare;
  for (const char c : text) {
    if (std::string_view(" \t\n\f\r").find(c) == std::string_view::npos) bare += c;
  }
  if (bare.size() % 4 == 0 && bare.ends_with('=')) bare.resize(bare.size() - (bare.ends_with("==") ? 2 : 1));
  return bare.size() % 4 != 1 && bare.find_first_not_of(alphabet) == std::string::npos;
}

class Typescript final : public Profile {
 public:
  explicit Typescript(Secret key) : key_(std::move(key)) {}
  std::string_view name() const override { return "typescript-sdk-v1"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context& context) const override {
    const std::size_t dot = token.rfind('.');
    if (dot == std::string_view::npos || dot <= prefix.size() || !token.starts_with(prefix)) {
      return refuse(Refusal::malformed);
    }
    const std::string_view body = token.substr(prefix.size(), dot - prefix.size());
    const std::string_view mac_text = token.substr(dot + 1);
    const std::optional<Bytes> mac = decode_base64url(mac_text);
    if (!mac) return respelled(mac_text);
    const Digest expected = hmac_sha256(key_.expose(), {as_bytes(prefix), as_bytes(body)});
    if (mac->size() != expected.size() || !equal_in_constant_time(*mac, expected)) {
      return refuse(Refusal::not_authentic);
    }
    const std::optional<Bytes> json = decode_base64url(body);
    if (!json) return respelled(body);
    std::string_view text = as_text(*json);
    if (text.starts_with(byte_order_mark))
      text.remove_prefix(byte_order_mark.size());  // as its TextDecoder does
    const std::optional<Text> envelope = read_text(text, Dialect::javascript, script_depth_max);
    if (!envelope && is_deeper(text, script_depth_max)) return refuse(Refusal::malformed, {}, too_deep);
    if (!envelope || envelope->is(Text::Kind::null)) return refuse(Refusal::malformed);
    return with_content(read_envelope(*envelope, context), as_bytes(text));
  }

  Result<std::string> seal(std::string_view state, const Context& context, std::optional<Duration> lifetime,
                           Entropy&) const override {
    const std::optional<Text> payload = read_text(state, Dialect::javascript, script_depth_max - 1);
    if (!payload) return failure("The state must be JSON text for this format.");
    const double expiry = std::floor(context.now.seconds()) + lifetime.value_or(default_lifetime).seconds();
    std::string json = R"({"p":)" + javascript_json(*payload) + R"(,"exp":)" + javascript_float(expiry);
    if (context.bound) json += R"(,"b":")" + bind_tag(*context.bound) + '"';
    json += '}';
    const std::string text = std::string(prefix) + encode_base64url(as_bytes(json));
    return text + "." + encode_base64url(hmac_sha256(key_.expose(), {as_bytes(text)}));
  }

 private:
  static Failure<ProfileRefused> respelled(std::string_view text) {
    return refuse(Refusal::malformed, {}, atob_takes(text) ? one_spelling : std::string_view());
  }

  std::string bind_tag(std::string_view bound) const {
    const std::string text = without_surrogates(bound);
    const Digest tag = hmac_sha256(key_.expose(), {as_bytes(bind_domain), as_bytes(text)});
    return encode_base64url(ByteView(tag).first(bind_bytes));
  }

  Result<ProfileOpened, ProfileRefused> read_envelope(const Text& envelope, const Context& context) const {
    const Text* expiry = envelope.find("exp");
    const bool counts = expiry != nullptr && expiry->is(Text::Kind::number);
    if (!counts || !(double_of(*expiry) >= std::floor(context.now.seconds()))) {
      return refuse(Refusal::expired);
    }
    const Text* tag = envelope.find("b");
    if (!context.bound) {
      if (tag != nullptr) return refuse(Refusal::other_arguments);
    } else if (tag == nullptr || !tag->is(Text::Kind::string) ||
               !equal_in_constant_time(as_bytes(tag->value), as_bytes(bind_tag(*context.bound)))) {
      return refuse(Refusal::other_arguments);
    }
    const Text* payload = envelope.find("p");
    if (payload == nullptr) {
      return refuse(Refusal::malformed, {},
                    "without a payload the original hands the raw token to the handler");
    }
    ProfileOpened opened;
    opened.state = bytes_of(javascript_json(*payload));
    opened.expires_at = instant_of(double_of(*expiry));
    return opened;
  }

  Secret key_;
};

}  // namespace

Made make_typescript(ProfileConfig config) {
  auto key = single_key(config, 32, std::numeric_limits<std::size_t>::max());
  if (!key) return failure(std::move(key.error()));
  return std::unique_ptr<Profile>(std::make_unique<Typescript>(std::move(*key)));
}

}  // namespace signet::token::profiles
