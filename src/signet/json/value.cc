#include <signet/json/value.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include <signet/json/number.h>

namespace signet {
namespace {

// Below this many members a plain search is the fastest.
constexpr std::size_t few_members = 16;

bool equal_in_any_order(const Json::Object& a, const Json::Object& b) {
  if (a.size() <= few_members) {
    return std::all_of(a.begin(), a.end(), [&b](const JsonMember& member) {
      const Json* other = b.find(member.first);
      return other != nullptr && *other == member.second;
    });
  }
  const auto sorted = [](const Json::Object& object) {
    std::vector<const JsonMember*> members;
    members.reserve(object.size());
    for (const JsonMember& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const JsonMember* left, const JsonMember* right) { return left->first < right->first; });
    return members;
  };
  const std::vector<const JsonMember*> left = sorted(a);
  const std::vector<const JsonMember*> right = sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(),
                    [](const JsonMember* one, const JsonMember* other) {
                      return one->first == other->first && one->second == other->second;
                    });
}

bool equal_objects(const Json::Object& a, const Json::Object& b) {
  if (a.size() != b.size()) return false;
  const bool same_order =
      std::equal(a.begin(), a.end(), b.begin(),
                 [](const JsonMember& one, const JsonMember& other) { return one.first == other.first; });
  if (!same_order) return equal_in_any_order(a, b);
  return std::equal(a.begin(), a.end(), b.begin(), [](const JsonMember& one, const JsonMember& other) {
    return one.second == other.second;
  });
}

bool equal_numbers(const Json& a, const Json& b) {
  if (a.kind() == b.kind()) {
    if (a.kind() == Json::Kind::integer) return a.as_int64() == b.as_int64();
    if (a.kind() == Json::Kind::unsigned_integer) return a.as_uint64() == b.as_uint64();
    if (a.kind() == Json::Kind::number) return a.as_double() == b.as_double();
  }
  return json::decimal_of(a) == json::decimal_of(b);
}

}  // namespace

const Json* Json::Object::find(std::string_view name) const {
  for (const JsonMember& member : members_) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

Json* Json::Object::find(std::string_view name) {
  return const_cast<Json*>(static_cast<const Object*>(this)->find(name));
}

Json& Json::Object::set(std::string name, Json value) {
  if (Json* present = find(name)) {
    *present = std::move(value);
    return *present;
  }
  return members_.emplace_back(std::move(name), std::move(value)).second;
}

bool Json::Object::erase(std::string_view name) {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [name](const JsonMember& member) { return member.first == name; });
  if (found == members_.end()) return false;
  members_.erase(found);
  return true;
}

void Json::Object::append_unchecked(std::string name, Json value) {
  members_.emplace_back(std::move(name), std::move(value));
}

Json::Object Json::Object::from_unique(std::vector<JsonMember> members) {
  Object object;
  object.members_ = std::move(members);
  return object;
}

void Json::Object::reserve(std::size_t members) { members_.reserve(members); }

Json::Json(double value) {
  if (std::isfinite(value)) value_ = value;
}

Json Json::array(std::initializer_list<Json> elements) { return Json(JsonArray(elements)); }

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Object object;
  object.reserve(members.size());
  for (const auto& [name, value] : members) object.set(std::string(name), value);
  return Json(std::move(object));
}

Json Json::decimal(std::string text) {
  Json json;
  json.value_ = Decimal{std::move(text)};
  return json;
}

bool Json::is_integer() const {
  switch (kind()) {
    case Kind::integer:
    case Kind::unsigned_integer:
      return true;
    case Kind::number: {
      const double value = *std::get_if<double>(&value_);
      return value == std::trunc(value);
    }
    case Kind::decimal:
      return json::decimal_of(*this).is_integer();
    default:
      return false;
  }
}

std::optional<bool> Json::as_boolean() const {
  const bool* value = std::get_if<bool>(&value_);
  return value != nullptr ? std::optional<bool>(*value) : std::nullopt;
}

std::optional<std::int64_t> Json::as_int64() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<double>(&value_);
      value != nullptr && std::abs(*value) <= json::exact_integers_max) {
    if (*value != std::trunc(*value)) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  }
  if (kind() != Kind::number && kind() != Kind::decimal) return std::nullopt;
  return json::as_int64(json::decimal_of(*this));
}

std::optional<std::uint64_t> Json::as_uint64() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) {
    return *value >= 0 ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(*value)) : std::nullopt;
  }
  if (kind() != Kind::number && kind() != Kind::decimal) return std::nullopt;
  const json::Decimal decimal = json::decimal_of(*this);
  if (decimal.negative) return std::nullopt;
  return json::as_uint64(decimal);
}

std::optional<double> Json::as_double() const {
  switch (kind()) {
    case Kind::integer:
      return static_cast<double>(*std::get_if<std::int64_t>(&value_));
    case Kind::unsigned_integer:
      return static_cast<double>(*std::get_if<std::uint64_t>(&value_));
    case Kind::number:
      return *std::get_if<double>(&value_);
    case Kind::decimal: {
      const json::Decimal decimal = json::decimal_of(*this);
      if (decimal.point < -330) return decimal.negative ? -0.0 : 0.0;
      const std::string& text = *decimal_text();
      double value = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
      if (read.ec == std::errc() && std::isfinite(value)) return value;
      if (decimal.point <= 0) return decimal.negative ? -0.0 : 0.0;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

const std::string* Json::decimal_text() const {
  const auto* decimal = std::get_if<Decimal>(&value_);
  return decimal != nullptr ? &decimal->text : nullptr;
}

const Json* Json::find(std::string_view name) const {
  const Object* object = as_object();
  return object != nullptr ? object->find(name) : nullptr;
}

Json* Json::find(std::string_view name) {
  Object* object = as_object();
  return object != nullptr ? object->find(name) : nullptr;
}

const std::string* Json::find_string(std::string_view name) const {
  const Json* member = find(name);
  return member != nullptr ? member->as_string() : nullptr;
}

Json& Json::set(std::string name, Json value) {
  if (is_null()) value_ = Object();
  assert(is_object());
  if (Object* object = as_object()) object->set(std::move(name), std::move(value));
  return *this;
}

bool Json::erase(std::string_view name) {
  Object* object = as_object();
  return object != nullptr && object->erase(name);
}

Json& Json::push_back(Json element) {
  if (is_null()) value_ = JsonArray();
  assert(is_array());
  if (JsonArray* array = as_array()) array->push_back(std::move(element));
  return *this;
}

bool Json::operator==(const Json& other) const {
  if (is_number() && other.is_number()) return equal_numbers(*this, other);
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::boolean:
      return *std::get_if<bool>(&value_) == *std::get_if<bool>(&other.value_);
    case Kind::string:
      return *as_string() == *other.as_string();
    case Kind::array:
      return *as_array() == *other.as_array();
    case Kind::object:
      return equal_objects(*as_object(), *other.as_object());
    default:
      return true;  // null
  }
}

}  // namespace signet
