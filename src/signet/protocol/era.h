// Which revision a request speaks: the one decision both transports make first (versioning; S9, S12, S32-S36).
// Pure functions; the envelope decides, never the method's name or Mcp-Method.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <signet/base/result.h>
#include <signet/protocol/service.h>

namespace signet::protocol {

enum class Era : std::uint8_t {
  modern,      // serve statelessly
  initialize,  // opens a session of a handshake revision
  handshake,   // belongs to a session
};

// The standard headers of a POST, surrounding blanks cut. Views borrowed for the call.
struct StandardHeaders {
  StandardHeaders() = default;
  std::optional<std::string_view> protocol_version;  // MCP-Protocol-Version
  std::optional<std::string_view> method;            // Mcp-Method
  std::optional<std::string_view> name;              // Mcp-Name
};

// A request that came by HTTP: its era, or the refusal (stage envelope), in the order: envelope -32602, version
// header -32020, Mcp-Method -32020, unsupported version -32022, missing headers and Mcp-Name -32020.
Result<Era, Fault> decide_http_request(const Request& request, const StandardHeaders& headers,
                                       bool modern_only);

// A notification that came by HTTP has no envelope: the header decides. Modern ones are never refused for
// what they hold.
Result<Era, Fault> decide_http_notification(const Notification& notification, const StandardHeaders& headers,
                                            bool modern_only);

// A request that came by a pipe. `initialized`: an `initialize` has been answered on it before. `ping` of the handshake
// revisions belongs to the session before that too.
Result<Era, Fault> decide_stdio_request(const Request& request, bool initialized, bool modern_only);

}  // namespace signet::protocol
