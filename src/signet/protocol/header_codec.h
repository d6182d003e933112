// How values travel in Mcp-Name and Mcp-Param-* headers (streamable-http, "Value encoding"; C19, C22, C23, S36, S43).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace signet::protocol {

// The value as it is where it is plain: visible ASCII and inner spaces, not looking like a sentinel; else (a tab too)
// `=?base64?` + standard padded Base64 of its UTF-8 + `?=`.
std::string encode_header_value(std::string_view value);

// The value a header stands for, or nothing where it holds bytes that no field value may hold, or a sentinel
// that is not canonical Base64 of UTF-8. The markers are matched by case. Cuts surrounding blanks first.
std::optional<std::string> decode_header_value(std::string_view header);

// Spaces and tabs cut from both ends.
std::string_view trim_blanks(std::string_view text);

// ASCII letters compared without case, as names of headers are.
bool equal_ignoring_case(std::string_view a, std::string_view b);
// a to z for A to Z.
std::string lower_case(std::string_view text);

}  // namespace signet::protocol
