// Base64 with the standard alphabet (RFC 4648, section 4): blobs in content, and header values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <signet/base/bytes.h>

namespace signet::json {

// With padding.
std::string base64_encode(ByteView bytes);
// Canonical spelling only: padded, no white space, no bits behind the last byte. So one value has one text.
std::optional<Bytes> base64_decode(std::string_view text);

}  // namespace signet::json
