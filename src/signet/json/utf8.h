// UTF-8, strictly (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace signet::json {

// The length of the well-formed sequence at `at`, or 0. Precondition: at != end.
std::size_t utf8_length(const char* at, const char* end);
bool is_utf8(std::string_view text);
// Code points of a UTF-8 text; each byte that is in no sequence counts as one.
std::size_t count_code_points(std::string_view text);
// Precondition: a Unicode scalar value.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace signet::json
