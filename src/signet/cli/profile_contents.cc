#include <signet/cli/profile_contents.h>

#ifdef SIGNET_HAS_PROFILES

#include <cmath>
#include <cstdint>

#include <signet/base/digest.h>
#include <signet/cli/shown_text.h>
#include <signet/json/text.h>
#include <signet/keys/time_text.h>
#include <signet/token/base64url.h>
#include <signet/token/profiles/ciphers.h>

namespace signet::cli {
namespace {

using token::decode_base64url;
using token::profiles::Cipher;
using token::profiles::Context;
using token::profiles::decrypt;
using token::profiles::nonce_bytes;
using token::profiles::ProfileKey;
using token::profiles::Sealing;
using token::profiles::tag_bytes;

constexpr std::string_view version_prefix = "v1.";
constexpr std::size_t python_key_id_bytes = 4;
constexpr std::size_t rmcp_expiry_bytes = 8;
constexpr double shown_seconds_max = 253'402'300'799;  // the year 9999

// The layouts are those of token/profiles: this reads what their `open` has found authentic.
std::optional<Bytes> python_plaintext(ByteView sealed, const ProfileKey& key) {
  if (sealed.size() < python_key_id_bytes + nonce_bytes + tag_bytes) return std::nullopt;
  Bytes derived(token::profiles::cipher_key_bytes);
  hkdf_sha256(key.secret.expose(), {}, as_bytes("mcp/request-state/v1/aes-256-gcm"), derived);
  const Secret secret(std::move(derived));
  const ByteView id = sealed.first(python_key_id_bytes);
  const std::string bound = std::string(version_prefix) + std::string(as_text(id));
  const ByteView rest = sealed.subspan(python_key_id_bytes + nonce_bytes);
  return decrypt(Cipher::aes_256_gcm,
                 Sealing{secret.expose(), sealed.subspan(python_key_id_bytes, nonce_bytes), as_bytes(bound)},
                 rest.first(rest.size() - tag_bytes), rest.last(tag_bytes));
}

std::optional<Bytes> ruby_plaintext(ByteView sealed, const ProfileKey& key) {
  if (sealed.size() < nonce_bytes + tag_bytes) return std::nullopt;
  return decrypt(
      Cipher::aes_256_gcm, Sealing{key.secret.expose(), sealed.first(nonce_bytes), as_bytes(version_prefix)},
      sealed.subspan(nonce_bytes, sealed.size() - nonce_bytes - tag_bytes), sealed.last(tag_bytes));
}

std::optional<Bytes> conduit_plaintext(ByteView sealed, const ProfileKey& key, const Context& context) {
  if (sealed.size() < nonce_bytes + tag_bytes) return std::nullopt;
  const std::string bound = context.protocol_version + "|" + context.method + "|" +
                            context.audience.value_or(std::string()) + "|" + key.id;
  return decrypt(Cipher::aes_256_gcm,
                 Sealing{key.secret.expose(), sealed.first(nonce_bytes), as_bytes(bound)},
                 sealed.subspan(nonce_bytes + tag_bytes), sealed.subspan(nonce_bytes, tag_bytes));
}

std::optional<Bytes> decrypted(std::string_view format, std::string_view token,
                               const std::vector<ProfileKey>& keys, const Context& context) {
  const std::optional<Bytes> sealed = decode_base64url(token.substr(token.find('.') + 1));
  if (!sealed) return std::nullopt;
  for (const ProfileKey& key : keys) {
    const bool is_conduit = format == "conduit-mcp-0.11";
    if (is_conduit && key.id != token.substr(0, token.find('.'))) continue;
    std::optional<Bytes> plaintext = is_conduit                  ? conduit_plaintext(*sealed, key, context)
                                     : format == "python-sdk-v1" ? python_plaintext(*sealed, key)
                                                                 : ruby_plaintext(*sealed, key);
    if (plaintext) return plaintext;
  }
  return std::nullopt;
}

std::string shown_time(double seconds) {
  if (!(seconds >= 0 && seconds <= shown_seconds_max)) return "(beyond the dates that can be shown)";
  return keys::to_text(Timestamp(std::chrono::milliseconds(std::llround(seconds * 1000))));
}

// A member of the JSON inside, and what it is.
struct Claim {
  enum class Kind { text, digest, seconds, milliseconds, state_text, state_json };
  std::string_view member;
  std::string_view name;
  Kind kind;
};

std::vector<Claim> claims_of(std::string_view format) {
  using Kind = Claim::Kind;
  if (format == "typescript-sdk-v1") {
    return {
        {"p", "state", Kind::state_json}, {"exp", "expires", Kind::seconds}, {"b", "bound", Kind::digest}};
  }
  if (format == "conduit-mcp-0.11") {
    return {{"p", "principal", Kind::text},
            {"e", "expires", Kind::milliseconds},
            {"d", "params", Kind::digest},
            {"s", "state", Kind::state_json}};
  }
  return {{"iat", "issued", Kind::seconds}, {"exp", "expires", Kind::seconds},
          {"m", "method", Kind::text},      {"t", "target", Kind::text},
          {"a", "arguments", Kind::digest}, {"aud", "audience", Kind::text},
          {"p", "principal", Kind::digest}, {"s", "state", Kind::state_text}};
}

std::optional<ProfileContents> read_claims(std::string_view format, ByteView text) {
  const Result<Json, json::ParseError> inside = json::parse(as_text(text));
  if (!inside || !inside->is_object()) return std::nullopt;
  ProfileContents contents;
  const auto add = [&contents](std::string_view name, std::string value) {
    contents.claims.emplace_back(std::string(name), std::move(value));
  };
  for (const Claim& claim : claims_of(format)) {
    const Json* value = inside->find(claim.member);
    if (value == nullptr) continue;
    const std::string* words = value->as_string();
    const std::string written = json::write(*value);
    switch (claim.kind) {
      case Claim::Kind::text:
        add(claim.name, *value == Json() ? "(none)" : printable(written));
        break;
      case Claim::Kind::digest:
        add(claim.name, "digest " + (words != nullptr ? one_line(*words) : printable(written)));
        break;
      case Claim::Kind::seconds:
        add(claim.name, shown_time(value->as_double().value_or(-1)));
        break;
      case Claim::Kind::milliseconds:
        add(claim.name, shown_time(value->as_double().value_or(-1) / 1000));
        break;
      case Claim::Kind::state_text:
        if (words != nullptr) contents.state = Bytes(words->begin(), words->end());
        break;
      case Claim::Kind::state_json:
        contents.state = Bytes(written.begin(), written.end());
        break;
    }
  }
  return contents;
}

// Signed, not secret: `rs1.BODY.TAG` and `rs2.KEY.BODY.TAG`.
std::optional<ProfileContents> rmcp_contents(std::string_view token) {
  const std::string_view signed_part = token.substr(0, token.rfind('.'));
  const std::optional<Bytes> body = decode_base64url(signed_part.substr(signed_part.rfind('.') + 1));
  if (!body || body->size() < rmcp_expiry_bytes) return std::nullopt;
  std::uint64_t expiry = 0;
  for (std::size_t i = 0; i < rmcp_expiry_bytes; ++i) expiry = expiry << 8 | (*body)[i];
  ProfileContents contents;
  contents.claims.emplace_back("expires",
                               expiry == 0 ? "never" : shown_time(static_cast<double>(expiry) / 1000));
  contents.state = Bytes(body->begin() + rmcp_expiry_bytes, body->end());
  return contents;
}

}  // namespace

std::optional<ProfileContents> contents_of(std::string_view format, std::string_view token,
                                           const std::vector<ProfileKey>& keys, const Context& context) {
  if (format.starts_with("rmcp")) return rmcp_contents(token);
  if (format == "typescript-sdk-v1") {
    const std::string_view signed_part = token.substr(0, token.rfind('.'));
    const std::optional<Bytes> body = decode_base64url(signed_part.substr(signed_part.rfind('.') + 1));
    return body ? read_claims(format, *body) : std::nullopt;
  }
  const bool has_claims =
      format == "python-sdk-v1" || format == "ruby-sdk-v1" || format == "conduit-mcp-0.11";
  if (!has_claims) return std::nullopt;
  const std::optional<Bytes> plaintext = decrypted(format, token, keys, context);
  return plaintext ? read_claims(format, *plaintext) : std::nullopt;
}

}  // namespace signet::cli

#endif
