// C++ types as JSON and as JSON Schema, without macros.
//
//   struct Address { std::string street; std::optional<std::string> zip; };
//   struct Order { signet::described<"How many", signet::ranged<1, 10>> count = 1; Address to; };
//
//   Json schema = signet::json::schema_of<Order>();
//   Result<Order> order = signet::json::from_json<Order>(arguments);
//   Json again = signet::json::to_json(*order);
//
// Types: bool, integers, float and double, std::string, enums (as their names), std::optional, std::vector,
// std::map<std::string, T>, Json, structs of these (at most 24 members), and the wrappers of annotations.h.
// A member is required unless it is an optional or has an initialiser; the initialiser is the schema's default. (For
// members that are no numbers, truths or enums, an empty initialiser cannot be told from none: use an optional.)
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <signet/base/result.h>
#include <signet/json/annotations.h>
#include <signet/json/enums.h>
#include <signet/json/members.h>
#include <signet/json/value.h>

namespace signet::json {

// JSON Schema 2020-12 of what from_json<T> takes. Objects are open: other members are ignored. A struct inside
// itself becomes a $ref.
template <typename T>
Json schema_of();

// The value, or one sentence naming the member that does not fit, never its value. Integers are taken however they
// are written (1, 1.0) and refused out of their type's range. null stands for an absent optional.
template <typename T>
Result<T> from_json(const Json& json);

// Absent optionals are left out. What is not finite becomes null.
template <typename T>
Json to_json(const T& value);

// The form (elicitation, PrimitiveSchemaDefinition) that asks a person for a T: a struct of truths, numbers, strings,
// enums and vectors of enums, or optionals of them. Another member does not compile. One such type alone is asked
// for under the name `value`.
template <typename T>
Json form_schema_of();
// What the person filled in: as from_json, and for a type alone its member `value`.
template <typename T>
Result<T> from_form(const Json& content);

namespace detail {

// What does not fit, gathered from the inside out.
struct Problem {
  std::string path;
  std::string complaint;
  void within(std::string_view name);
  void within(std::size_t index);
};
std::string sentence(const Problem& problem);

// What a schema under construction knows of the structs around the present one.
class SchemaBuilder {
 public:
  // Where the struct of that id is being described, or is in $defs already: a $ref to it.
  std::optional<Json> begin(const void* id, std::string_view name);
  // The struct's schema as it stands in its place: itself, or a $ref if something referred to it.
  Json end(Json schema);
  Json finish(Json root);

 private:
  struct Known {
    const void* id;
    std::string reference;
    bool referred;
  };
  std::vector<Known> open_;     // from the root inwards
  std::vector<Known> defined_;  // in $defs
  Json definitions_;
};

// The code that needs no type, so that it is compiled once.
enum class Select : std::uint8_t { one, many };  // an enum as it is, or as the element of a vector
Json enum_schema(std::span<const EnumEntry> entries, Select select);
Json enum_to_json(std::span<const EnumEntry> entries, std::int64_t value);
bool read_enum(const Json& json, std::span<const EnumEntry> entries, std::int64_t& value, Problem& problem);
bool read_bool(const Json& json, bool& value, Problem& problem);
bool read_integer(const Json& json, std::int64_t min, std::int64_t max, std::int64_t& value,
                  Problem& problem);
bool read_unsigned(const Json& json, std::uint64_t max, std::uint64_t& value, Problem& problem);
bool read_double(const Json& json, double& value, Problem& problem);
bool read_string(const Json& json, std::string& value, Problem& problem);
bool refuse(Problem& problem, std::string complaint);
Json float_to_json(float value);
Json integer_schema(std::size_t bytes, bool is_signed);
void add_member(Json& schema, std::string_view name, Json member, bool required);
Json wrap_form(Json member);
std::string_view short_type_name(std::string_view pretty_function);

template <typename T>
struct OptionalOf : std::false_type {};
template <typename T>
struct OptionalOf<std::optional<T>> : std::true_type {};
template <typename T>
struct VectorOf : std::false_type {
  using element = void;
};
template <typename T>
struct VectorOf<std::vector<T>> : std::true_type {
  using element = T;
};
template <typename T>
struct MapOf : std::false_type {};
template <typename T>
struct MapOf<std::map<std::string, T>> : std::true_type {};

template <typename T>
concept IsWrapper = std::derived_from<T, Annotation>;
template <typename T>
concept IsOptional = OptionalOf<T>::value;
template <typename T>
concept IsVector = VectorOf<T>::value;
template <typename T>
concept IsMap = MapOf<T>::value;
template <typename T>
concept IsInteger =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;
template <typename T>
concept IsScalar = std::same_as<T, bool> || IsInteger<T> || std::same_as<T, double> ||
                   std::same_as<T, float> || std::is_enum_v<T>;

template <typename T>
constexpr bool is_form_value = IsScalar<T> || std::same_as<T, std::string>;
template <typename T>
constexpr bool is_form_value<std::vector<T>> = std::is_enum_v<plain_t<T>>;

template <typename T>
struct FormMember {
  static constexpr bool fits = is_form_value<plain_t<T>>;
};
template <typename T>
  requires IsOptional<plain_t<T>>
struct FormMember<T> {
  static constexpr bool fits = is_form_value<plain_t<typename plain_t<T>::value_type>>;
};

// The name in JSON of a member: the innermost `named` wrapper's, or the C++ one.
template <typename T>
constexpr std::string_view json_name(std::string_view member) {
  if constexpr (requires { T::json_name(); }) {
    return T::json_name();
  } else if constexpr (IsWrapper<T>) {
    return json_name<typename T::inner>(member);
  } else {
    return member;
  }
}

template <typename T>
constexpr std::string_view type_name() {
  return __PRETTY_FUNCTION__;
}
template <typename T>
inline constexpr char type_id = 0;

template <typename T>
Json describe(SchemaBuilder& builder);

template <Aggregate T>
Json describe_struct(SchemaBuilder& builder) {
  if (std::optional<Json> reference = builder.begin(&type_id<T>, short_type_name(type_name<T>())))
    return *reference;
  Json schema = Json::object({{"type", "object"}, {"properties", Json::object()}});
  const auto initialised = initialised_members<T>();
  const T defaults{};
  for_each_member(defaults, [&]<typename Member>(const Member& member, std::size_t i) {
    using Plain = plain_t<Member>;
    Json described = describe<Member>(builder);
    bool has_default = initialised[i];
    Json value = to_json(member);
    if constexpr (!IsScalar<Plain>) has_default = !value.is_null() && value != to_json(Member{});
    if (has_default) described.set("default", std::move(value));
    const bool required = !has_default && !IsOptional<Plain>;
    add_member(schema, json_name<Member>(member_names<T>[i]), std::move(described), required);
  });
  return builder.end(std::move(schema));
}

template <typename T>
Json describe(SchemaBuilder& builder) {
  if constexpr (IsWrapper<T>) {
    Json schema = describe<typename T::inner>(builder);
    T::annotate(schema);
    return schema;
  } else if constexpr (std::same_as<T, Json>) {
    return Json::object();
  } else if constexpr (std::same_as<T, bool>) {
    return Json::object({{"type", "boolean"}});
  } else if constexpr (IsInteger<T>) {
    return integer_schema(sizeof(T), std::is_signed_v<T>);
  } else if constexpr (std::same_as<T, double> || std::same_as<T, float>) {
    return Json::object({{"type", "number"}});
  } else if constexpr (std::same_as<T, std::string>) {
    return Json::object({{"type", "string"}});
  } else if constexpr (std::is_enum_v<T>) {
    return enum_schema(enum_entries<T>(), Select::one);
  } else if constexpr (IsOptional<T>) {
    return describe<typename T::value_type>(builder);
  } else if constexpr (IsVector<T> && std::is_enum_v<typename VectorOf<T>::element>) {
    return Json::object(
        {{"type", "array"}, {"items", enum_schema(enum_entries<typename T::value_type>(), Select::many)}});
  } else if constexpr (IsVector<T>) {
    return Json::object({{"type", "array"}, {"items", describe<typename T::value_type>(builder)}});
  } else if constexpr (IsMap<T>) {
    return Json::object(
        {{"type", "object"}, {"additionalProperties", describe<typename T::mapped_type>(builder)}});
  } else {
    static_assert(Aggregate<T>,
                  "this type has no JSON form: see the list at the head of signet/json/reflect.h");
    return describe_struct<T>(builder);
  }
}

template <typename T>
bool read(const Json& json, T& value, Problem& problem);

template <typename T>
bool read_integer_of(const Json& json, T& value, Problem& problem) {
  if constexpr (std::is_signed_v<T>) {
    std::int64_t wide = 0;
    if (!read_integer(json, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), wide, problem))
      return false;
    value = static_cast<T>(wide);
  } else {
    std::uint64_t wide = 0;
    if (!read_unsigned(json, std::numeric_limits<T>::max(), wide, problem)) return false;
    value = static_cast<T>(wide);
  }
  return true;
}

template <typename T>
bool read_vector(const Json& json, T& value, Problem& problem) {
  const JsonArray* array = json.as_array();
  if (array == nullptr) return refuse(problem, "must be an array");
  value.clear();
  value.reserve(array->size());
  for (const Json& element : *array) {
    typename T::value_type read_element{};
    if (!read(element, read_element, problem)) {
      problem.within(value.size());
      return false;
    }
    value.push_back(std::move(read_element));
  }
  return true;
}

template <typename T>
bool read_map(const Json& json, T& value, Problem& problem) {
  const Json::Object* object = json.as_object();
  if (object == nullptr) return refuse(problem, "must be an object");
  value.clear();
  for (const auto& [name, member] : *object) {
    if (!read(member, value[name], problem)) {
      problem.within(name);
      return false;
    }
  }
  return true;
}

// A member that is absent keeps what its initialiser gave it.
template <typename Member>
bool read_member(const Json::Object& object, std::string_view name, bool initialised, Member& member,
                 Problem& problem) {
  const Json* json = object.find(name);
  bool fits = true;
  if (json != nullptr) {
    fits = read(*json, member, problem);
  } else if constexpr (!IsOptional<plain_t<Member>>) {
    bool has_default = initialised;
    if constexpr (!IsScalar<plain_t<Member>>) has_default = to_json(member) != to_json(Member{});
    if (!has_default) fits = refuse(problem, "is missing");
  }
  if (!fits) problem.within(name);
  return fits;
}

template <Aggregate T>
bool read_struct(const Json& json, T& value, Problem& problem) {
  const Json::Object* object = json.as_object();
  if (object == nullptr) return refuse(problem, "must be an object");
  [[maybe_unused]] static const auto initialised = initialised_members<T>();
  bool fits = true;
  for_each_member(value, [&]<typename Member>(Member& member, std::size_t i) {
    fits =
        fits && read_member(*object, json_name<Member>(member_names<T>[i]), initialised[i], member, problem);
  });
  return fits;
}

// A wrapper's checks, from the innermost out.
template <typename Wrapper>
bool check(const typename Wrapper::plain& value, Problem& problem) {
  if constexpr (IsWrapper<typename Wrapper::inner>) {
    if (!check<typename Wrapper::inner>(value, problem)) return false;
  }
  std::string complaint = Wrapper::complaint(value);
  return complaint.empty() || refuse(problem, std::move(complaint));
}

template <typename T>
bool read(const Json& json, T& value, Problem& problem) {
  if constexpr (IsWrapper<T>) {
    typename T::plain plain{value.value()};
    if (!read(json, plain, problem) || !check<T>(plain, problem)) return false;
    value = std::move(plain);
    return true;
  } else if constexpr (std::same_as<T, Json>) {
    value = json;
    return true;
  } else if constexpr (std::same_as<T, bool>) {
    return read_bool(json, value, problem);
  } else if constexpr (IsInteger<T>) {
    return read_integer_of(json, value, problem);
  } else if constexpr (std::same_as<T, double> || std::same_as<T, float>) {
    double wide = 0;
    if (!read_double(json, wide, problem)) return false;
    if (wide < std::numeric_limits<T>::lowest() || wide > std::numeric_limits<T>::max()) {
      return refuse(problem, "is out of range");
    }
    value = static_cast<T>(wide);
    return true;
  } else if constexpr (std::same_as<T, std::string>) {
    return read_string(json, value, problem);
  } else if constexpr (std::is_enum_v<T>) {
    std::int64_t number = 0;
    if (!read_enum(json, enum_entries<T>(), number, problem)) return false;
    value = static_cast<T>(number);
    return true;
  } else if constexpr (IsOptional<T>) {
    value.reset();
    return json.is_null() || read(json, value.emplace(), problem);
  } else if constexpr (IsVector<T>) {
    return read_vector(json, value, problem);
  } else if constexpr (IsMap<T>) {
    return read_map(json, value, problem);
  } else {
    static_assert(Aggregate<T>,
                  "this type has no JSON form: see the list at the head of signet/json/reflect.h");
    return read_struct(json, value, problem);
  }
}

template <typename T>
constexpr bool is_form() {
  if constexpr (Aggregate<T>) {
    return with_imagined_members<T>([]<typename... M>(const M&...) { return (FormMember<M>::fits && ...); });
  } else {
    return FormMember<T>::fits;
  }
}

}  // namespace detail

// The types that a form can ask for.
template <typename T>
concept FormType = detail::is_form<T>();

template <typename T>
Json schema_of() {
  detail::SchemaBuilder builder;
  return builder.finish(detail::describe<T>(builder));
}

template <typename T>
Result<T> from_json(const Json& json) {
  T value{};
  detail::Problem problem;
  if (!detail::read(json, value, problem)) return failure(detail::sentence(problem));
  return value;
}

template <typename T>
Json to_json(const T& value) {
  using Plain = plain_t<T>;
  if constexpr (detail::IsWrapper<T>) {
    return to_json<Plain>(value.value());
  } else if constexpr (std::same_as<T, float>) {
    return detail::float_to_json(value);
  } else if constexpr (std::same_as<T, Json> || std::same_as<T, bool> || detail::IsInteger<T> ||
                       std::same_as<T, double> || std::same_as<T, std::string>) {
    return Json(value);
  } else if constexpr (std::is_enum_v<T>) {
    return detail::enum_to_json(enum_entries<T>(), static_cast<std::int64_t>(value));
  } else if constexpr (detail::IsOptional<T>) {
    return value ? to_json(*value) : Json();
  } else if constexpr (detail::IsVector<T>) {
    JsonArray array;
    array.reserve(value.size());
    for (const auto& element : value) array.push_back(to_json<typename T::value_type>(element));
    return Json(std::move(array));
  } else if constexpr (detail::IsMap<T>) {
    Json::Object object;
    object.reserve(value.size());
    for (const auto& [name, member] : value) object.append_unchecked(name, to_json(member));
    return Json(std::move(object));
  } else {
    static_assert(Aggregate<T>,
                  "this type has no JSON form: see the list at the head of signet/json/reflect.h");
    Json::Object object;
    for_each_member(value, [&object]<typename Member>(const Member& member, std::size_t i) {
      Json json = to_json(member);
      if (detail::IsOptional<plain_t<Member>> && json.is_null()) return;
      object.set(std::string(detail::json_name<Member>(member_names<T>[i])), std::move(json));
    });
    return Json(std::move(object));
  }
}

template <typename T>
Json form_schema_of() {
  static_assert(FormType<T>,
                "a form asks for bool, numbers, std::string, enums, vectors of enums, or optionals of these");
  Json schema = schema_of<T>();
  if constexpr (Aggregate<T>) {
    return schema;
  } else {
    return detail::wrap_form(std::move(schema));
  }
}

template <typename T>
Result<T> from_form(const Json& content) {
  if constexpr (Aggregate<T>) {
    return from_json<T>(content);
  } else {
    const Json* value = content.find("value");
    if (value == nullptr) return failure("'value' is missing.");
    return from_json<T>(*value);
  }
}

}  // namespace signet::json
