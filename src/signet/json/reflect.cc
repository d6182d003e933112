#include <signet/json/reflect.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <signet/json/format.h>
#include <signet/json/number.h>
#include <signet/json/utf8.h>

namespace signet::json {

std::size_t count_characters(std::string_view text) { return count_code_points(text); }

std::string size_complaint(std::size_t size, std::size_t min, std::size_t max, std::string_view unit) {
  if (size < min) return "must have at least " + std::to_string(min) + " " + std::string(unit);
  if (size > max) return "must have at most " + std::to_string(max) + " " + std::string(unit);
  return {};
}

std::string format_complaint(std::string_view text, std::string_view format) {
  const std::optional<Format> known = format_of(format);
  if (!known || has_format(text, *known)) return {};
  return "must be " + std::string(describe(*known));
}

namespace detail {
namespace {

// Names from outside (those of a map) are shortened in sentences.
constexpr std::size_t path_bytes_max = 200;

std::string quoted_names(std::span<const EnumEntry> entries) {
  std::string text;
  for (const EnumEntry& entry : entries) {
    if (!text.empty()) text += ", ";
    text.append(entry.name);
  }
  return text;
}

constexpr std::string_view definitions = "#/$defs/";

bool has_titles(std::span<const EnumEntry> entries) {
  for (const EnumEntry& entry : entries) {
    if (!entry.title.empty()) return true;
  }
  return false;
}

}  // namespace

void Problem::within(std::string_view name) {
  std::string outer(name.substr(0, path_bytes_max));
  if (!path.empty() && path.front() != '[') outer.push_back('.');
  path = outer + path;
}

void Problem::within(std::size_t index) {
  std::string outer = "[" + std::to_string(index) + "]";
  if (!path.empty() && path.front() != '[') outer.push_back('.');
  path = outer + path;
}

std::string sentence(const Problem& problem) {
  const std::string subject =
      problem.path.empty() ? "The value" : "'" + problem.path.substr(0, path_bytes_max) + "'";
  return subject + " " + problem.complaint + ".";
}

bool refuse(Problem& problem, std::string complaint) {
  problem.complaint = std::move(complaint);
  return false;
}

std::optional<Json> SchemaBuilder::begin(const void* id, std::string_view name) {
  for (std::vector<Known>* structs : {&open_, &defined_}) {
    for (Known& known : *structs) {
      if (known.id != id) continue;
      known.referred = true;
      return Json::object({{"$ref", known.reference}});
    }
  }
  std::string reference = "#";
  if (!open_.empty()) {
    const auto is_taken = [this](const std::string& wanted) {
      const auto has_it = [&wanted](const Known& known) { return known.reference == wanted; };
      return std::any_of(open_.begin(), open_.end(), has_it) ||
             std::any_of(defined_.begin(), defined_.end(), has_it);
    };
    const std::string plain = std::string(definitions) + std::string(name);
    reference = plain;
    for (int i = 2; is_taken(reference); ++i) reference = plain + std::to_string(i);
  }
  open_.push_back(Known{id, std::move(reference), false});
  return std::nullopt;
}

Json SchemaBuilder::end(Json schema) {
  Known done = std::move(open_.back());
  open_.pop_back();
  if (!done.referred || done.reference == "#") return schema;
  definitions_.set(done.reference.substr(definitions.size()), std::move(schema));
  Json reference = Json::object({{"$ref", done.reference}});
  defined_.push_back(std::move(done));
  return reference;
}

Json SchemaBuilder::finish(Json root) {
  if (!definitions_.is_null()) root.set("$defs", std::move(definitions_));
  return root;
}

Json enum_schema(std::span<const EnumEntry> entries, Select select) {
  const bool titles = has_titles(entries);
  Json choices = Json::array();
  for (const EnumEntry& entry : entries) {
    const std::string_view title = entry.title.empty() ? entry.name : entry.title;
    choices.push_back(titles ? Json::object({{"const", entry.name}, {"title", title}}) : Json(entry.name));
  }
  if (titles && select == Select::many) return Json::object({{"anyOf", std::move(choices)}});
  Json schema = Json::object({{"type", "string"}});
  schema.set(titles ? "oneOf" : "enum", std::move(choices));
  return schema;
}

Json enum_to_json(std::span<const EnumEntry> entries, std::int64_t value) {
  for (const EnumEntry& entry : entries) {
    if (entry.value == value) return Json(entry.name);
  }
  return Json();
}

bool read_enum(const Json& json, std::span<const EnumEntry> entries, std::int64_t& value, Problem& problem) {
  if (const std::string* name = json.as_string()) {
    for (const EnumEntry& entry : entries) {
      if (entry.name != *name) continue;
      value = entry.value;
      return true;
    }
  }
  return refuse(problem, "must be one of: " + quoted_names(entries));
}

bool read_bool(const Json& json, bool& value, Problem& problem) {
  const std::optional<bool> read = json.as_boolean();
  if (!read) return refuse(problem, "must be true or false");
  value = *read;
  return true;
}

bool read_integer(const Json& json, std::int64_t min, std::int64_t max, std::int64_t& value,
                  Problem& problem) {
  if (!json.is_integer()) return refuse(problem, "must be an integer");
  const std::optional<std::int64_t> read = json.as_int64();
  if (!read || *read < min || *read > max) return refuse(problem, "is out of range");
  value = *read;
  return true;
}

bool read_unsigned(const Json& json, std::uint64_t max, std::uint64_t& value, Problem& problem) {
  if (!json.is_integer()) return refuse(problem, "must be an integer");
  const std::optional<std::uint64_t> read = json.as_uint64();
  if (!read || *read > max) return refuse(problem, "is out of range");
  value = *read;
  return true;
}

bool read_double(const Json& json, double& value, Problem& problem) {
  if (!json.is_number()) return refuse(problem, "must be a number");
  const std::optional<double> read = json.as_double();
  if (!read) return refuse(problem, "is out of range");
  value = *read;
  return true;
}

bool read_string(const Json& json, std::string& value, Problem& problem) {
  const std::string* read = json.as_string();
  if (read == nullptr) return refuse(problem, "must be a string");
  value = *read;
  return true;
}

// The shortest decimal of the float, so that 0.1f becomes 0.1.
Json float_to_json(float value) {
  if (!std::isfinite(value)) return Json();
  std::array<char, 48> text;
  const auto end = std::to_chars(text.begin(), text.end(), value).ptr;
  double wide = 0;
  std::from_chars(text.begin(), end, wide);
  return Json(wide);
}

Json integer_schema(std::size_t bytes, bool is_signed) {
  Json schema = Json::object({{"type", "integer"}});
  const int bits = static_cast<int>(bytes) * 8;
  if (!is_signed) schema.set("minimum", 0);
  if (bits > 16) return schema;
  if (is_signed) schema.set("minimum", -(1 << (bits - 1)));
  schema.set("maximum", (1 << (is_signed ? bits - 1 : bits)) - 1);
  return schema;
}

void add_member(Json& schema, std::string_view name, Json member, bool required) {
  schema.find("properties")->set(std::string(name), std::move(member));
  if (!required) return;
  if (!schema.contains("required")) schema.set("required", Json::array());
  schema.find("required")->push_back(name);
}

Json wrap_form(Json member) {
  return Json::object({{"type", "object"},
                       {"properties", Json::object({{"value", std::move(member)}})},
                       {"required", Json::array({"value"})}});
}

// `... [with T = ns::Order; ...]` (g++) or `... [T = ns::Order]` (clang): the last name, or `Struct` where there is
// none (a template, a local struct).
std::string_view short_type_name(std::string_view pretty_function) {
  const std::size_t begin = pretty_function.find("T = ");
  if (begin == std::string_view::npos) return "Struct";
  std::string_view name = pretty_function.substr(begin + 4);
  name = name.substr(0, name.find_first_of(";]"));
  std::size_t first = name.size();
  while (first > 0 && is_name_part(name[first - 1])) --first;
  name = name.substr(first);
  return name.empty() ? "Struct" : name;
}

}  // namespace detail
}  // namespace signet::json
