#include <signet/protocol/era.h>

#include <signet/protocol/errors.h>
#include <signet/protocol/header_codec.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/methods.h>
#include <signet/protocol/versions.h>

namespace signet::protocol {
namespace {

Failure<Fault> refuse(int code, std::string sentence) {
  Fault fault(code, std::move(sentence));
  fault.stage = Fault::Stage::envelope;
  return failure(std::move(fault));
}

Failure<Fault> refuse_envelope(const Json& params) {
  Result<Envelope, Fault> envelope = read_envelope(params);
  return failure(std::move(envelope).error());
}

// Mcp-Name against the member of the body it mirrors. A body without that member is left to dispatch, which
// refuses it with a better sentence.
Result<void, Fault> check_name(const Request& request, const StandardHeaders& headers) {
  const std::string_view member = method::name_member(request.method);
  const std::string* named = member.empty() ? nullptr : request.params.find_string(member);
  if (named == nullptr) return {};
  if (!headers.name) return refuse(header_mismatch, "Header Mcp-Name is missing");
  const std::optional<std::string> decoded = decode_header_value(*headers.name);
  if (!decoded || *decoded != *named) return refuse(header_mismatch, "Header Mcp-Name differs from the body");
  return {};
}

Result<Era, Fault> decide_modern_http(const Request& request, const StandardHeaders& headers) {
  Result<Envelope, Fault> envelope = read_envelope(request.params);
  if (!envelope.ok()) return failure(std::move(envelope).error());
  const std::string& claim = envelope->protocol_version;
  if (headers.protocol_version && *headers.protocol_version != claim)
    return refuse(header_mismatch, "Header MCP-Protocol-Version differs from the body");
  if (headers.method && *headers.method != request.method)
    return refuse(header_mismatch, "Header Mcp-Method differs from the body");
  if (!is_modern_version(claim)) return failure(unsupported_version_fault(claim));
  if (!headers.protocol_version) return refuse(header_mismatch, "Header MCP-Protocol-Version is missing");
  if (!headers.method) return refuse(header_mismatch, "Header Mcp-Method is missing");
  Result<void, Fault> name = check_name(request, headers);
  if (!name.ok()) return failure(std::move(name).error());
  return Era::modern;
}

// What a server without the handshake revisions says to their clients.
Failure<Fault> refuse_handshake(const Request& request,
                                std::optional<std::string_view> named = std::nullopt) {
  if (request.method != method::initialize)
    return named ? failure(unsupported_version_fault(*named)) : refuse_envelope(request.params);
  const std::string* requested = request.params.find_string("protocolVersion");
  return failure(unsupported_version_fault(requested != nullptr ? *requested : std::string_view()));
}

Failure<Fault> refuse_unknown_version(std::string_view version) {
  return failure(unsupported_version_fault(version));
}

}  // namespace

Result<Era, Fault> decide_http_request(const Request& request, const StandardHeaders& headers,
                                       bool modern_only) {
  if (claims_modern(request.params)) return decide_modern_http(request, headers);
  if (headers.protocol_version && names_modern_era(*headers.protocol_version)) {
    if (request.method == method::initialize)
      return refuse(header_mismatch, "initialize does not go with this MCP-Protocol-Version");
    return refuse_envelope(request.params);
  }
  if (modern_only) return refuse_handshake(request, headers.protocol_version);
  if (request.method == method::initialize) return Era::initialize;
  if (headers.protocol_version && !is_handshake_version(*headers.protocol_version))
    return refuse_unknown_version(*headers.protocol_version);
  return Era::handshake;
}

Result<Era, Fault> decide_http_notification(const Notification& notification, const StandardHeaders& headers,
                                            bool modern_only) {
  if (headers.protocol_version && names_modern_era(*headers.protocol_version)) {
    if (!is_modern_version(*headers.protocol_version))
      return refuse_unknown_version(*headers.protocol_version);
    if (headers.method && *headers.method != notification.method)
      return refuse(header_mismatch, "Header Mcp-Method differs from the body");
    return Era::modern;
  }
  if (modern_only) {
    if (headers.protocol_version) return refuse_unknown_version(*headers.protocol_version);
    return refuse(header_mismatch, "Header MCP-Protocol-Version is missing");
  }
  if (headers.protocol_version && !is_handshake_version(*headers.protocol_version))
    return refuse_unknown_version(*headers.protocol_version);
  return Era::handshake;
}

Result<Era, Fault> decide_stdio_request(const Request& request, bool initialized, bool modern_only) {
  if (claims_modern(request.params)) {
    Result<Envelope, Fault> envelope = read_envelope(request.params);
    if (!envelope.ok()) return failure(std::move(envelope).error());
    if (!is_modern_version(envelope->protocol_version))
      return failure(unsupported_version_fault(envelope->protocol_version));
    return Era::modern;
  }
  if (modern_only) return refuse_handshake(request);
  if (request.method == method::initialize) return Era::initialize;
  // The one thing that a client of theirs may ask before (2025-11-25, lifecycle).
  if (initialized || request.method == method::ping) return Era::handshake;
  return refuse_envelope(request.params);
}

}  // namespace signet::protocol
