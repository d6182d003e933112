// haskell-mcp-server: kid "." base64url with padding of (nonce 12 ‖ ciphertext ‖ tag 16), ChaCha20-Poly1305.
// The codec alone: what the library writes inside (caller, request, expiry) is not published, so none of it is
// verified here.
#include <algorithm>
#include <limits>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::string_view domain = "mcp-server/requestState/v1:";

bool is_key_id(std::string_view id) {
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !id.empty() && id.size() <= 32 && id.find_first_not_of(allowed) == std::string_view::npos;
}

std::string associated(std::string_view id) { return std::string(domain) + std::string(id); }

// Padded, and nothing else: the original also takes it without.
std::optional<Bytes> decode_padded(std::string_view text) {
  const std::size_t end = text.find('=');
  const std::string_view bare = text.substr(0, end);
  if (text.size() % 4 != 0 || text.size() - bare.size() > 2) return std::nullopt;
  if (text.substr(bare.size()).find_first_not_of('=') != std::string_view::npos) return std::nullopt;
  return decode_base64url(bare);
}

class Haskell final : public Profile {
 public:
  explicit Haskell(std::vector<ProfileKey> keys) : keys_(std::move(keys)) {}
  std::string_view name() const override { return "haskell-mcp-server"; }

  Result<ProfileOpened, ProfileRefused> open(std::string_view token, const Context&) const override {
    const std::size_t dot = token.find('.');
    const std::string id(token.substr(0, dot));
    const ProfileKey* key = find_key(keys_, id);
    if (key == nullptr) return refuse(Refusal::unknown_key);
    const std::string_view body = dot == std::string_view::npos ? "" : token.substr(dot + 1);
    const std::optional<Bytes> blob = decode_padded(body);
    if (!blob)
      return refuse(Refusal::malformed, id, decode_base64url(body) ? one_spelling : std::string_view());
    if (blob->size() < nonce_bytes + tag_bytes) return refuse(Refusal::malformed, id);
    const ByteView sealed(*blob);
    const std::string bound = associated(id);
    std::optional<Bytes> state =
        decrypt(Cipher::chacha20_poly1305, {key->secret.expose(), sealed.first(nonce_bytes), as_bytes(bound)},
                sealed.subspan(nonce_bytes, sealed.size() - nonce_bytes - tag_bytes), sealed.last(tag_bytes));
    if (!state) return refuse(Refusal::not_authentic, id);
    ProfileOpened opened;
    opened.state = std::move(*state);
    opened.key_id = id;
    return opened;
  }

  Result<std::string> seal(std::string_view state, const Context&, std::optional<Duration>,
                           Entropy& entropy) const override {
    const ProfileKey& key = keys_.front();
    Bytes sealed(nonce_bytes);
    entropy.fill(sealed);
    const std::string bound = associated(key.id);
    const Bytes secret =
        encrypt(Cipher::chacha20_poly1305, {key.secret.expose(), sealed, as_bytes(bound)}, as_bytes(state));
    sealed.insert(sealed.end(), secret.begin(), secret.end());
    std::string text = encode_base64url(sealed);
    text.append((4 - text.size() % 4) % 4, '=');
    return key.id + "." + text;
  }

 private:
  std::vector<ProfileKey> keys_;
};

}  // namespace

Made make_haskell(ProfileConfig config) {
  const auto good = [](const ProfileKey& key) {
    return is_key_id(key.id) && key.secret.size() == cipher_key_bytes;
  };
  if (config.keys.empty() || !std::all_of(config.keys.begin(), config.keys.end(), good)) {
    return failure("Keys need ids of 1 to 32 letters, digits, _ and -, and 32 bytes each.");
  }
  return std::unique_ptr<Profile>(std::make_unique<Haskell>(std::move(config.keys)));
}

}  // namespace signet::token::profiles
