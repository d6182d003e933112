// The `_meta` of requests: what 2026-07-28 says with every one of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <signet/base/result.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>

namespace signet::protocol {

namespace meta {
inline constexpr std::string_view member = "_meta";
inline constexpr std::string_view protocol_version = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view client_info = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view client_capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view log_level = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view server_info = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view progress_token = "progressToken";
}  // namespace meta

// What a request says about its sender (basic, "_meta", C5).
struct Envelope {
  Envelope() = default;
  std::string protocol_version;          // as claimed; not yet checked against what we speak
  Json client_info;                      // object with `name` and `version`, or null where absent
  Json client_capabilities;              // object, its known members of the right types
  std::optional<std::string> log_level;  // one of the eight
};

// True if `params._meta` has the member protocolVersion, whatever its value: the request claims to be modern.
bool claims_modern(const Json& params);

// The envelope, or the -32602 (stage envelope) that names each missing or malformed key (S9).
Result<Envelope, Fault> read_envelope(const Json& params);

// `params._meta` with the envelope's members set, the others kept. For clients. Precondition: object or null.
Json with_envelope(Json params, const Envelope& envelope);

// The token, a string or an integer (B22), or null where there is none. Borrowed from `params`.
const Json* progress_token(const Json& params);

// debug, info, notice, warning, error, critical, alert, emergency: 0 to 7; nothing for other words.
std::optional<int> log_level_rank(std::string_view level);

// The grammar of `_meta` keys (B12): an optional prefix of dot-separated labels and a slash, then a name.
bool is_meta_key(std::string_view key);
// The same with the prefix mandatory: identifiers of extensions (B14).
bool is_extension_id(std::string_view id);

}  // namespace signet::protocol
