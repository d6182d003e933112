#include <signet/protocol/mirrored_headers.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/header_codec.h>

namespace signet::protocol {
namespace {

constexpr std::string_view annotation = "x-mcp-header";
constexpr std::string_view prefix = "Mcp-Param-";
constexpr std::int64_t safe_integer_max = (std::int64_t{1} << 53) - 1;
constexpr std::size_t schema_depth_max = 64;

// Where JSON Schema 2020-12 (and draft-07) keeps subschemas, `properties` aside.
constexpr std::array<std::string_view, 5> maps_of_schemas{"$defs", "definitions", "patternProperties",
                                                          "dependentSchemas", "dependencies"};
constexpr std::array<std::string_view, 4> lists_of_schemas{"allOf", "anyOf", "oneOf", "prefixItems"};
constexpr std::array<std::string_view, 12> single_schemas{"items",
                                                          "additionalItems",
                                                          "additionalProperties",
                                                          "not",
                                                          "if",
                                                          "then",
                                                          "else",
                                                          "contains",
                                                          "propertyNames",
                                                          "unevaluatedItems",
                                                          "unevaluatedProperties",
                                                          "contentSchema"};

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}

bool is_mirrored_type(const std::string& word) {
  return word == "string" || word == "integer" || word == "boolean";
}

// One of the three types, or one of them and null.
bool has_mirrored_type(const Json& schema) {
  const Json* type = schema.find("type");
  if (type == nullptr) return false;
  if (const std::string* word = type->as_string()) return is_mirrored_type(*word);
  const JsonArray* words = type->as_array();
  if (words == nullptr || words->size() != 2) return false;
  const std::string* first = (*words)[0].as_string();
  const std::string* second = (*words)[1].as_string();
  if (first == nullptr || second == nullptr) return false;
  return (is_mirrored_type(*first) && *second == "null") || (is_mirrored_type(*second) && *first == "null");
}

class Reader {
 public:
  // `reachable`: the schema is that of a property reached through `properties` alone.
  Result<void> read(const Json& schema, bool reachable, std::size_t depth) {
    if (!schema.is_object()) return {};
    if (depth > schema_depth_max) return failure("the schema is nested too deeply");
    if (const Json* name = schema.find(annotation)) {
      Result<void> added = add(schema, *name, reachable);
      if (!added.ok()) return added;
    }
    if (const Json::Object* properties = object_at(schema, "properties")) {
      for (const auto& [name, property] : *properties) {
        path_.push_back(name);
        Result<void> result = read(property, reachable, depth + 1);
        path_.pop_back();
        if (!result.ok()) return result;
      }
    }
    return read_unreachable(schema, depth);
  }

  std::vector<MirroredHeader> take() { return std::move(found_); }

 private:
  static const Json::Object* object_at(const Json& schema, std::string_view name) {
    const Json* found = schema.find(name);
    return found != nullptr ? found->as_object() : nullptr;
  }

  Result<void> add(const Json& schema, const Json& name, bool reachable) {
    const std::string* word = name.as_string();
    if (word == nullptr || !is_token(*word)) return failure("x-mcp-header must be a header name");
    if (!reachable || path_.empty())
      return failure("x-mcp-header \"" + *word + "\" is not on a property reached through properties alone");
    if (!has_mirrored_type(schema))
      return failure("x-mcp-header \"" + *word + "\" is on a property that is no string, integer or boolean");
    std::string header = std::string(prefix) + *word;
    for (const MirroredHeader& other : found_) {
      if (equal_ignoring_case(other.name, header))
        return failure("x-mcp-header \"" + *word + "\" is used twice");
    }
    found_.emplace_back(std::move(header), path_);
    return {};
  }

  Result<void> read_unreachable(const Json& schema, std::size_t depth) {
    for (const std::string_view name : maps_of_schemas) {
      const Json::Object* map = object_at(schema, name);
      if (map == nullptr) continue;
      for (const auto& [key, inner] : *map) {
        Result<void> result = read(inner, false, depth + 1);
        if (!result.ok()) return result;
      }
    }
    for (const std::string_view name : lists_of_schemas) {
      Result<void> result = read_list(schema.find(name), depth);
      if (!result.ok()) return result;
    }
    for (const std::string_view name : single_schemas) {
      const Json* inner = schema.find(name);
      if (inner == nullptr) continue;
      Result<void> result = inner->is_array() ? read_list(inner, depth) : read(*inner, false, depth + 1);
      if (!result.ok()) return result;
    }
    return {};
  }

  Result<void> read_list(const Json* list, std::size_t depth) {
    const JsonArray* elements = list != nullptr ? list->as_array() : nullptr;
    if (elements == nullptr) return {};
    for (const Json& inner : *elements) {
      Result<void> result = read(inner, false, depth + 1);
      if (!result.ok()) return result;
    }
    return {};
  }

  std::vector<std::string> path_;
  std::vector<MirroredHeader> found_;
};

const Json* value_at(const Json& arguments, const std::vector<std::string>& path) {
  const Json* value = &arguments;
  for (const std::string& name : path) {
    value = value->find(name);
    if (value == nullptr) return nullptr;
  }
  return value->is_null() ? nullptr : value;
}

std::optional<std::int64_t> safe_integer(const Json& value) {
  const std::optional<std::int64_t> number = value.as_int64();
  if (!number || *number > safe_integer_max || *number < -safe_integer_max) return std::nullopt;
  return number;
}

bool same_integer(const Json& value, std::string_view text) {
  const std::optional<std::int64_t> expected = safe_integer(value);
  const Result<Json, json::ParseError> sent = json::parse(text);
  return expected && sent.ok() && sent->is_number() && sent->as_int64() == expected;
}

bool same(const Json& value, const std::string& sent) {
  if (const std::string* text = value.as_string()) return *text == sent;
  if (const std::optional<bool> flag = value.as_boolean()) return sent == (*flag ? "true" : "false");
  if (value.is_integer()) return same_integer(value, sent);
  return json::write(value) == sent;
}

Fault mismatch(const std::string& header, std::string_view what) {
  Fault fault(header_mismatch, "Header " + header + " " + std::string(what));
  fault.stage = Fault::Stage::envelope;
  return fault;
}

}  // namespace

Result<std::vector<MirroredHeader>> mirrored_headers(const Json& input_schema) {
  Reader reader;
  Result<void> result = reader.read(input_schema, true, 0);
  if (!result.ok()) return failure(std::move(result).error());
  return reader.take();
}

Result<std::vector<std::pair<std::string, std::string>>> mirror(const std::vector<MirroredHeader>& headers,
                                                                const Json& arguments) {
  std::vector<std::pair<std::string, std::string>> sent;
  for (const MirroredHeader& header : headers) {
    const Json* value = value_at(arguments, header.path);
    if (value == nullptr || value->is_object() || value->is_array()) continue;
    if (const std::string* text = value->as_string()) {
      sent.emplace_back(header.name, encode_header_value(*text));
    } else if (const std::optional<bool> flag = value->as_boolean()) {
      sent.emplace_back(header.name, *flag ? "true" : "false");
    } else if (const std::optional<std::int64_t> number = safe_integer(*value)) {
      sent.emplace_back(header.name, std::to_string(*number));
    } else {
      return failure("the value for header " + header.name + " is no integer within 2^53");
    }
  }
  return sent;
}

std::optional<Fault> check_mirrored(
    const std::vector<MirroredHeader>& headers, const Json& arguments,
    const std::function<std::optional<std::string>(std::string_view name)>& header) {
  for (const MirroredHeader& mirrored : headers) {
    const Json* value = value_at(arguments, mirrored.path);
    if (value != nullptr && (value->is_object() || value->is_array())) continue;
    const std::optional<std::string> sent = header(mirrored.name);
    if (value == nullptr) {
      if (sent) return mismatch(mirrored.name, "has no value in the body");
      continue;
    }
    if (!sent) return mismatch(mirrored.name, "is missing");
    const std::optional<std::string> decoded = decode_header_value(*sent);
    if (!decoded || !same(*value, *decoded)) return mismatch(mirrored.name, "differs from the body");
  }
  return std::nullopt;
}

}  // namespace signet::protocol
