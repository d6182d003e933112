// Parameters that travel a second time, in headers: the annotation `x-mcp-header` of input schemas
// (streamable-http, "Custom headers"; S37-S43, C20-C24).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/result.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>

namespace signet::protocol {

struct MirroredHeader {
  MirroredHeader(std::string header_name, std::vector<std::string> property_path)
      : name(std::move(header_name)), path(std::move(property_path)) {}
  std::string name;               // with the prefix: Mcp-Param-Region
  std::vector<std::string> path;  // the property inside `arguments`
};

// All annotations of the schema, in its order, or why it is invalid: a name that is no RFC 9110 token, two names equal
// without case, a property that is not string, integer or boolean (or one of them and null), or one that is not
// reached through `properties` alone.
Result<std::vector<MirroredHeader>> mirrored_headers(const Json& input_schema);

// The headers to send with these arguments, name and encoded value. Null and absent values have none (C24).
// An integer outside +-(2^53-1) is an error: it has no header form.
Result<std::vector<std::pair<std::string, std::string>>> mirror(const std::vector<MirroredHeader>& headers,
                                                                const Json& arguments);

// Compares what arrived: strings byte by byte after decoding, integers as numbers. -32020 (stage envelope) for a
// header that is missing, undecodable, different, or there without a value in the body. An argument that is an object or
// array is left to the validation of the arguments.
std::optional<Fault> check_mirrored(
    const std::vector<MirroredHeader>& headers, const Json& arguments,
    const std::function<std::optional<std::string>(std::string_view name)>& header);

}  // namespace signet::protocol
