// JSON as other systems read and write it, where a digest or a token depends on every byte of their spelling.
//
// signet::json is strict and writes one form. Python, Ruby and JavaScript each take more, and spell numbers and strings
// each in their own way; this keeps the numbers' own text, and strings with the lone surrogates that Python and
// JavaScript allow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace signet::token::profiles {

struct Text {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  // Of a number: as it was written (or NaN, Infinity, -Infinity). Of a boolean: true or false. Of a string: its UTF-8,
  // where a lone surrogate is three bytes as if it were a character.
  std::string value;
  struct Member;
  std::vector<Text> elements;   // of an array
  std::vector<Member> members;  // of an object: of equal names the last value, at the first place

  const Text* find(std::string_view name) const;
  // The member where it is a string, else null.
  const std::string* find_string(std::string_view name) const;
  bool is(Kind of) const { return kind == of; }

  static Text of_string(std::string_view value);
};

struct Text::Member {
  std::string name;
  Text value;
};

// Whose reader is followed in what is no JSON, or hardly.
enum class Dialect {
  javascript,  // JSON and nothing else, with lone surrogates
  python,      // the same, and NaN, Infinity and -Infinity
  ruby,  // comments, and any character after a backslash; no lone surrogate, not even where it is overwritten
};

inline constexpr int ruby_depth_max = 100;
inline constexpr int script_depth_max = 900;  // Python's stack ends between that and 1000, JavaScript's later

// Reads a JSON text; nothing where it is none, is no UTF-8, or is deeper than so many arrays and objects.
std::optional<Text> read_text(std::string_view json, Dialect dialect = Dialect::javascript,
                              int depth_max = ruby_depth_max);
// Whether a JSON text is deeper than that.
bool is_deeper(std::string_view json, int depth_max);

// Whether the number was written without point and exponent: an integer to Python and Ruby.
bool is_integer(const Text& number);
// The nearest double; infinite beyond the range. Precondition: a number.
double double_of(const Text& number);

// --- as each writes a double ---
std::string python_float(double value);      // repr: 1.0, 1e-05, 1e+16, inf is Infinity as json.dumps has it
std::string python_str(const Text& number);  // str(): as repr, where infinity is inf and the other is nan
std::string ruby_float(double value);        // Float#to_s: 1.0, 1.0e-05, 1.0e+15. Precondition: finite
std::string javascript_float(double value);  // Number#toString: 1, 0.00001, 1e+21. Precondition: finite

// --- as each writes a value, without spaces ---
enum class Sort { members, no };
enum class Ascii { only, no };
// json.dumps(value, separators=(",", ":")) with sort_keys and ensure_ascii.
std::string python_json(const Text& value, Sort sort, Ascii ascii);
// The Ruby SDK's canonical_json (members sorted) over json 2.6.1. Nothing where Ruby raises: a number beyond the range
// of doubles, a lone surrogate.
std::optional<std::string> ruby_json(const Text& value, Sort sort);
// JSON.stringify(JSON.parse(...)): members that look like array indices first.
std::string javascript_json(const Text& value);

// A JSON string as each writes it.
std::string python_string(std::string_view text, Ascii ascii = Ascii::only);
std::string javascript_string(std::string_view text);

// The text with U+FFFD for each lone surrogate, as JavaScript's TextEncoder writes it. Precondition: a string of a Text.
std::string without_surrogates(std::string_view text);

// Whether it is UTF-8 without surrogates.
bool is_plain_utf8(std::string_view text);
// Whether it is what a string of a Text may hold: UTF-8 with lone surrogates.
bool is_string_value(std::string_view text);

}  // namespace signet::token::profiles
