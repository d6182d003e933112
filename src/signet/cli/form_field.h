// The fields of an elicitation form, as a person fills them in on one line each. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>
#include <signet/json/format.h>
#include <signet/json/value.h>

namespace signet::cli {

struct FormField {
  enum class Kind : std::uint8_t { text, number, integer, boolean, choice, choices };
  struct Choice {
    std::string value;
    std::string title;
  };

  std::string name;
  std::string label;  // title or name
  std::string description;
  Kind kind = Kind::text;
  bool required = false;
  bool secret = false;  // not echoed: format `password`, writeOnly, or a name that says so
  Json fallback;        // the default, or null
  std::vector<Choice> options;
  std::optional<std::uint64_t> size_min;  // characters of a text, or choices
  std::optional<std::uint64_t> size_max;
  std::optional<double> least;
  std::optional<double> most;
  std::optional<json::Format> format;
};

// The fields of the restricted schema, in its order. Properties of a shape that elicitation does not know are texts.
std::vector<FormField> form_fields(const Json& schema);

// What may be entered, for the prompt: `number from 1 to 5`, `yes or no`.
std::string expectation(const FormField& field);

// The default as it would be entered, or empty.
std::string fallback_text(const FormField& field);

// The value that a line means; nothing where the field is left out. An empty line means the default, or leaves the field
// out. The error says what is wrong, in words for who typed it.
Result<std::optional<Json>> read_field(const FormField& field, std::string_view line);

// Why the content does not fit the form, or nothing: for answers that nobody typed.
std::optional<std::string> content_problem(const Json& schema, const Json& content);

}  // namespace signet::cli
