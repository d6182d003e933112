// JSON text: reading with limits, writing, and the canonical form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <signet/base/result.h>
#include <signet/json/value.h>

namespace signet::json {

// What a reader accepts at most. Beyond each limit the text is refused, never cut.
struct Limits {
  std::size_t bytes_max = std::size_t{4} << 20;
  std::size_t depth_max = 64;          // arrays and objects inside one another; never more than 1024
  std::size_t values_max = 1'000'000;  // values of every kind in one text
};

struct ParseError {
  enum class Kind : std::uint8_t {
    syntax,
    invalid_utf8,
    duplicate_name,
    too_deep,
    too_long,
    too_many_values,
    trailing_text,
  };
  Kind kind = Kind::syntax;
  std::size_t offset = 0;  // bytes from the start; for a name twice in a large object, where that object ends
};
// One sentence for a person, without any of the text.
std::string describe(const ParseError& error);

// Reads one JSON text (RFC 8259, strict: no comments, no BOM, no lone surrogates, UTF-8 only, names of an object
// unique after escapes, exponents of at most 18 digits). Never recurses on the input. Time is linear in the size,
// but for the names of a large object, which are sorted once. Thread-safe.
Result<Json, ParseError> parse(std::string_view text, const Limits& limits = Limits());

// Compact JSON on one line, members in their order; doubles in their shortest form that reads back the same
// (ECMAScript's layout: 1.0 is written 1), decimals as their text. Bytes that are no UTF-8 are written as U+FFFD, so
// that the text is always JSON.
std::string write(const Json& value);
// The same, where a double never looks like an integer: 1.0 is written 1.0, as other languages' digests of arguments
// tell the two apart.
std::string write_with_kinds(const Json& value);
void append(std::string& out, const Json& value);

// RFC 8785 (JCS): members sorted by UTF-16 code units, ECMAScript numbers; beyond the RFC, integers of 64 bits are
// written exactly and what no double holds is written from its text, so that values the input kept apart stay
// apart. Equal values have equal canonical forms.
std::string canonical(const Json& value);

}  // namespace signet::json
