// JSON values that keep what the text said.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace signet {

class Json;

// One `name: value` of an object. Members keep the order in which they were added or read.
using JsonMember = std::pair<std::string, Json>;
using JsonArray = std::vector<Json>;

// A JSON value (RFC 8259). Integers are exact, however they are written: those of 64 bits are integers, larger ones
// that no double holds (2^64+1) stay as their text. Other numbers are the nearest double; what is beyond all doubles
// (1e400, 1e-400) stays as its text. A double stands for the decimal number of its shortest form, as in every JSON text it comes from or goes
// to. Strings are UTF-8. A regular type: copies are deep, comparison is by value (1 equals 1.0; the order of
// members does not matter). Threads: as any value.
class Json {
 public:
  enum class Kind : std::uint8_t {
    null,
    boolean,
    integer,           // fits std::int64_t
    unsigned_integer,  // above std::int64_t, fits std::uint64_t
    number,            // a finite double
    decimal,           // a number that none of the above holds, as its text
    string,
    array,
    object,
  };

  // Members in order, names unique.
  class Object {
   public:
    using const_iterator = std::vector<JsonMember>::const_iterator;
    using iterator = std::vector<JsonMember>::iterator;
    Object() = default;
    std::size_t size() const { return members_.size(); }
    bool empty() const { return members_.empty(); }
    const_iterator begin() const { return members_.begin(); }
    const_iterator end() const { return members_.end(); }
    iterator begin() { return members_.begin(); }
    iterator end() { return members_.end(); }
    const Json* find(std::string_view name) const;
    Json* find(std::string_view name);
    bool contains(std::string_view name) const { return find(name) != nullptr; }
    // Adds the member, or replaces the value of the one with that name.
    Json& set(std::string name, Json value);
    bool erase(std::string_view name);
    // For a reader that has made sure itself that the name is new, or all names are different.
    void append_unchecked(std::string name, Json value);
    static Object from_unique(std::vector<JsonMember> members);
    void reserve(std::size_t members);

   private:
    std::vector<JsonMember> members_;
  };

  Json() = default;  // null
  // NOLINTBEGIN(google-explicit-constructor): literals read as JSON.
  Json(std::nullptr_t) {}
  template <std::same_as<bool> B>  // pointers do not become true
  Json(B value) : value_(value) {}
  template <std::integral I>
    requires(!std::same_as<I, bool> && !std::same_as<I, char>)
  Json(I value) {
    if constexpr (std::signed_integral<I>) {
      value_ = static_cast<std::int64_t>(value);
    } else if (static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(INT64_MAX)) {
      value_ = static_cast<std::int64_t>(value);
    } else {
      value_ = static_cast<std::uint64_t>(value);
    }
  }
  // A double that is not finite has no JSON form: it becomes null.
  Json(double value);
  Json(const char* text) : value_(std::in_place_type<std::string>, text) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::in_place_type<std::string>, text) {}
  Json(JsonArray elements) : value_(std::move(elements)) {}
  Json(Object members) : value_(std::move(members)) {}
  // NOLINTEND

  // Json::array({1, "two"}), Json::object({{"a", 1}}). Outside co_await expressions only (STYLE, coroutines).
  static Json array(std::initializer_list<Json> elements = {});
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members = {});
  // A number kept as its text. Precondition: the text is a JSON number.
  static Json decimal(std::string text);

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::null; }
  bool is_boolean() const { return kind() == Kind::boolean; }
  bool is_string() const { return kind() == Kind::string; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_object() const { return kind() == Kind::object; }
  bool is_number() const { return kind() >= Kind::integer && kind() <= Kind::decimal; }
  // A number without a fractional part, however it was written (1, 1.0, 1e2; 2^64+1 too).
  bool is_integer() const;

  // The value in that form, or nothing. Borrowed pointers live as long as this value is not changed.
  std::optional<bool> as_boolean() const;
  std::optional<std::int64_t> as_int64() const;    // integral numbers that fit
  std::optional<std::uint64_t> as_uint64() const;  // integral numbers that fit
  std::optional<double> as_double() const;  // any number, rounded to nearest; none if beyond the largest
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  std::string* as_string() { return std::get_if<std::string>(&value_); }
  const JsonArray* as_array() const { return std::get_if<JsonArray>(&value_); }
  JsonArray* as_array() { return std::get_if<JsonArray>(&value_); }
  const Object* as_object() const { return std::get_if<Object>(&value_); }
  Object* as_object() { return std::get_if<Object>(&value_); }
  const std::string* decimal_text() const;

  // The member of that name, or null where this is no object or has none.
  const Json* find(std::string_view name) const;
  Json* find(std::string_view name);
  // The string member of that name, or null.
  const std::string* find_string(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  // Adds or replaces a member; null becomes an object first. Precondition: null or object. Returns *this.
  Json& set(std::string name, Json value);
  bool erase(std::string_view name);
  // Adds an element; null becomes an array first. Precondition: null or array. Returns *this.
  Json& push_back(Json element);

  bool operator==(const Json& other) const;

 private:
  struct Decimal {
    std::string text;
    bool operator==(const Decimal&) const = default;
  };
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Decimal, std::string, JsonArray,
               Object>
      value_;
};

}  // namespace signet
