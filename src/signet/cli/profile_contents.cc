#include <signet/cli/profile_contents.h>

#ifdef SIGNET_HAS_PROFILES

#include <cmath>
#include <cstdint>

#include <signet/cli/shown_text.h>
#include <signet/json/text.h>
#include <signet/keys/time_text.h>

namespace signet::cli {
namespace {

constexpr std::size_t rmcp_expiry_bytes = 8;
constexpr double shown_seconds_max = 253'402'300'799;  // the year 9999

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

std::optional<ProfileContents> read_rmcp(ByteView content) {
  if (content.size() < rmcp_expiry_bytes) return std::nullopt;
  std::uint64_t expiry = 0;
  for (const std::uint8_t octet : content.first(rmcp_expiry_bytes)) expiry = expiry << 8 | octet;
  ProfileContents contents;
  contents.claims.emplace_back("expires",
                               expiry == 0 ? "never" : shown_time(static_cast<double>(expiry) / 1000));
  contents.state = Bytes(content.begin() + rmcp_expiry_bytes, content.end());
  return contents;
}

}  // namespace

std::optional<ProfileContents> contents_of(std::string_view format, ByteView content) {
  if (content.empty()) return std::nullopt;
  return format.starts_with("rmcp") ? read_rmcp(content) : read_claims(format, content);
}

}  // namespace signet::cli

#endif
