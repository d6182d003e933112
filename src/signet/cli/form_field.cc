#include <signet/cli/form_field.h>

#include <algorithm>
#include <charconv>

#include <signet/json/text.h>
#include <signet/json/utf8.h>
#include <signet/protocol/header_codec.h>

namespace signet::cli {
namespace {

using Kind = FormField::Kind;

std::string text_of(const Json& object, std::string_view name) {
  const std::string* text = object.find_string(name);
  return text != nullptr ? *text : std::string();
}

std::optional<double> number_of(const Json& object, std::string_view name) {
  const Json* number = object.find(name);
  return number != nullptr ? number->as_double() : std::nullopt;
}

std::optional<std::uint64_t> size_of(const Json& object, std::string_view name) {
  const Json* number = object.find(name);
  return number != nullptr ? number->as_uint64() : std::nullopt;
}

bool sounds_secret(std::string_view name) {
  const std::string low = protocol::lower_case(name);
  for (const std::string_view word :
       {"password", "passwd", "passphrase", "secret", "api_key", "apikey", "token"}) {
    if (low.find(word) != std::string::npos) return true;
  }
  return low == "pin";
}

// enum with enumNames, or oneOf/anyOf of {const, title}.
std::vector<FormField::Choice> options_of(const Json& schema) {
  std::vector<FormField::Choice> options;
  const Json* values = schema.find("enum");
  const Json* names = schema.find("enumNames");
  if (values != nullptr && values->is_array()) {
    for (std::size_t i = 0; i < values->as_array()->size(); ++i) {
      const std::string* value = (*values->as_array())[i].as_string();
      if (value == nullptr) continue;
      const bool named = names != nullptr && names->is_array() && i < names->as_array()->size();
      const std::string* title = named ? (*names->as_array())[i].as_string() : nullptr;
      options.push_back({*value, title != nullptr ? *title : *value});
    }
    return options;
  }
  for (const std::string_view member : {"oneOf", "anyOf"}) {
    const Json* titled = schema.find(member);
    if (titled == nullptr || !titled->is_array()) continue;
    for (const Json& one : *titled->as_array()) {
      const std::string* value = one.find_string("const");
      if (value == nullptr) continue;
      const std::string title = text_of(one, "title");
      options.push_back({*value, title.empty() ? *value : title});
    }
  }
  return options;
}

FormField field_of(const std::string& name, const Json& schema) {
  FormField field;
  field.name = name;
  field.label = text_of(schema, "title").empty() ? name : text_of(schema, "title");
  field.description = text_of(schema, "description");
  if (const Json* fallback = schema.find("default")) field.fallback = *fallback;
  const std::string type = text_of(schema, "type");
  if (type == "boolean") {
    field.kind = Kind::boolean;
  } else if (type == "integer" || type == "number") {
    field.kind = type == "integer" ? Kind::integer : Kind::number;
    field.least = number_of(schema, "minimum");
    field.most = number_of(schema, "maximum");
  } else if (type == "array") {
    field.kind = Kind::choices;
    const Json* items = schema.find("items");
    if (items != nullptr) field.options = options_of(*items);
    field.size_min = size_of(schema, "minItems");
    field.size_max = size_of(schema, "maxItems");
  } else {
    field.options = options_of(schema);
    field.kind = field.options.empty() ? Kind::text : Kind::choice;
    field.size_min = size_of(schema, "minLength");
    field.size_max = size_of(schema, "maxLength");
    field.format = json::format_of(text_of(schema, "format"));
    const Json* write_only = schema.find("writeOnly");
    field.secret =
        field.kind == Kind::text && (text_of(schema, "format") == "password" || sounds_secret(name) ||
                                     (write_only != nullptr && *write_only == Json(true)));
  }
  return field;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string number_text(double value) { return json::write(Json(value)); }

std::string range(const std::optional<double>& least, const std::optional<double>& most) {
  if (least && most) return " from " + number_text(*least) + " to " + number_text(*most);
  if (least) return " of at least " + number_text(*least);
  return most ? " of at most " + number_text(*most) : "";
}

std::string size_range(const std::optional<std::uint64_t>& least, const std::optional<std::uint64_t>& most) {
  const auto low = least && *least > 0 ? std::optional<double>(static_cast<double>(*least)) : std::nullopt;
  return range(low, most ? std::optional<double>(static_cast<double>(*most)) : std::nullopt);
}

Result<std::optional<Json>> done(Json value) { return std::optional<Json>(std::move(value)); }

Result<std::optional<Json>> read_text(const FormField& field, std::string_view line) {
  // A terminal of another encoding: what it sends would be something else to the server.
  if (!json::is_utf8(line)) return failure("this is no UTF-8 text");
  const std::size_t size = characters(line);
  if (field.size_min && size < *field.size_min) {
    return failure("at least " + std::to_string(*field.size_min) + " characters, please");
  }
  if (field.size_max && size > *field.size_max) {
    return failure("at most " + std::to_string(*field.size_max) + " characters, please");
  }
  if (field.format && !json::has_format(line, *field.format)) {
    return failure("this must be " + std::string(json::describe(*field.format)));
  }
  return done(Json(line));
}

Result<std::optional<Json>> read_number(const FormField& field, std::string_view line) {
  const Result<Json, json::ParseError> value = json::parse(line);
  if (!value || !value->is_number() || !value->as_double()) return failure("this must be a number");
  if (field.kind == Kind::integer && !value->is_integer()) return failure("this must be a whole number");
  const double number = *value->as_double();
  if (field.least && number < *field.least)
    return failure("this must be at least " + number_text(*field.least));
  if (field.most && number > *field.most) return failure("this must be at most " + number_text(*field.most));
  return done(*value);
}

Result<std::optional<Json>> read_boolean(std::string_view line) {
  const std::string low = protocol::lower_case(line);
  if (low == "y" || low == "yes" || low == "true" || low == "1") return done(true);
  if (low == "n" || low == "no" || low == "false" || low == "0") return done(false);
  return failure("yes or no, please");
}

// By number, value or title.
const FormField::Choice* option_for(const FormField& field, std::string_view word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && number >= 1 &&
      number <= field.options.size()) {
    return &field.options[number - 1];
  }
  for (const FormField::Choice& option : field.options) {
    if (option.value == word || protocol::lower_case(option.title) == protocol::lower_case(word))
      return &option;
  }
  return nullptr;
}

Result<std::optional<Json>> read_choice(const FormField& field, std::string_view line) {
  const FormField::Choice* option = option_for(field, line);
  if (option == nullptr)
    return failure("this is none of the choices: a number from 1 to " + std::to_string(field.options.size()) +
                   ", please");
  return done(Json(option->value));
}

Result<std::optional<Json>> read_choices(const FormField& field, std::string_view line) {
  std::vector<std::string> chosen;
  std::string_view rest = line;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = protocol::trim_blanks(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (word.empty()) continue;
    const FormField::Choice* option = option_for(field, word);
    if (option == nullptr && !field.options.empty()) {
      return failure("one of them is none of the choices: numbers from 1 to " +
                     std::to_string(field.options.size()) + ", separated by commas, please");
    }
    const std::string value = option != nullptr ? option->value : std::string(word);
    if (std::find(chosen.begin(), chosen.end(), value) == chosen.end()) chosen.push_back(value);
  }
  if (field.size_min && chosen.size() < *field.size_min) {
    return failure("at least " + std::to_string(*field.size_min) + " of them, please");
  }
  if (field.size_max && chosen.size() > *field.size_max) {
    return failure("at most " + std::to_string(*field.size_max) + " of them, please");
  }
  return done(JsonArray(chosen.begin(), chosen.end()));
}

std::optional<std::string> value_problem(const FormField& field, const Json& value) {
  std::string line;
  switch (field.kind) {
    case Kind::boolean:
      return value.is_boolean() ? std::nullopt : std::optional<std::string>("this must be true or false");
    case Kind::number:
    case Kind::integer:
      if (!value.is_number()) return "this must be a number";
      line = json::write(value);
      break;
    case Kind::text:
    case Kind::choice:
      if (!value.is_string()) return "this must be a text";
      line = *value.as_string();
      if (field.kind == Kind::text) break;
      for (const FormField::Choice& option : field.options) {
        if (option.value == line) return std::nullopt;
      }
      return "this is none of the choices";
    case Kind::choices:
      if (!value.is_array()) return "this must be a list";
      for (const Json& one : *value.as_array()) {
        if (!one.is_string()) return "this must be a list of texts";
        const bool known =
            std::any_of(field.options.begin(), field.options.end(),
                        [&](const FormField::Choice& option) { return option.value == *one.as_string(); });
        if (!known && !field.options.empty()) return "one of them is none of the choices";
      }
      return std::nullopt;
  }
  const Result<std::optional<Json>> read =
      field.kind == Kind::text ? read_text(field, line) : read_number(field, line);
  return read ? std::nullopt : std::optional<std::string>(read.error().message);
}

}  // namespace

std::vector<FormField> form_fields(const Json& schema) {
  std::vector<FormField> fields;
  const Json* properties = schema.find("properties");
  if (properties == nullptr || !properties->is_object()) return fields;
  for (const auto& [name, property] : *properties->as_object()) fields.push_back(field_of(name, property));
  const Json* required = schema.find("required");
  if (required == nullptr || !required->is_array()) return fields;
  for (FormField& field : fields) {
    const JsonArray& names = *required->as_array();
    field.required = std::find(names.begin(), names.end(), Json(field.name)) != names.end();
  }
  return fields;
}

std::string expectation(const FormField& field) {
  switch (field.kind) {
    case Kind::boolean:
      return "yes or no";
    case Kind::integer:
      return "whole number" + range(field.least, field.most);
    case Kind::number:
      return "number" + range(field.least, field.most);
    case Kind::choice:
      return "1 to " + std::to_string(field.options.size());
    case Kind::choices: {
      const std::string count = size_range(field.size_min, field.size_max);
      return "numbers separated by commas" + (count.empty() ? std::string() : "," + count);
    }
    case Kind::text:
      break;
  }
  if (field.format) return std::string(json::describe(*field.format));
  const std::string size = size_range(field.size_min, field.size_max);
  return size.empty() ? "" : "text" + size + " characters";
}

std::string fallback_text(const FormField& field) {
  if (field.fallback.is_null()) return {};
  if (const std::string* text = field.fallback.as_string()) return *text;
  if (const auto yes = field.fallback.as_boolean()) return *yes ? "yes" : "no";
  if (const JsonArray* many = field.fallback.as_array()) {
    std::string all;
    for (const Json& one : *many)
      all += (all.empty() ? "" : ", ") + (one.is_string() ? *one.as_string() : json::write(one));
    return all;
  }
  return json::write(field.fallback);
}

Result<std::optional<Json>> read_field(const FormField& field, std::string_view line) {
  const bool verbatim = field.kind == Kind::text;
  const std::string_view trimmed = verbatim ? line : protocol::trim_blanks(line);
  if (trimmed.empty()) {
    if (!field.fallback.is_null()) return std::optional<Json>(field.fallback);
    if (field.required) return failure("this one is needed");
    return std::optional<Json>();
  }
  switch (field.kind) {
    case Kind::text:
      return read_text(field, trimmed);
    case Kind::number:
    case Kind::integer:
      return read_number(field, trimmed);
    case Kind::boolean:
      return read_boolean(trimmed);
    case Kind::choice:
      return read_choice(field, trimmed);
    case Kind::choices:
      break;
  }
  return read_choices(field, trimmed);
}

std::optional<std::string> content_problem(const Json& schema, const Json& content) {
  if (!content.is_object()) return "the content is no object";
  for (const FormField& field : form_fields(schema)) {
    const Json* value = content.find(field.name);
    if (value == nullptr && field.required) return field.name + " is missing";
    if (value == nullptr) continue;
    const std::optional<std::string> problem = value_problem(field, *value);
    if (problem) return field.name + ": " + *problem;
  }
  return std::nullopt;
}

}  // namespace signet::cli
