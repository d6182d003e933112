// What a schema says of a member, written as the member's type. Each wrapper is used as the type inside it:
//
//   struct ResolveArgs {
//     signet::described<"Number of the ticket", signet::ranged<1, 99999>> ticket;
//     signet::described<"What to tell the reporter", signet::sized<1, 500>> note;   // a std::string
//     signet::header<"Region", std::string> region = "eu";                          // mirrored into an HTTP header
//     std::optional<signet::Email> copy_to;
//     bool notify = true;                                                           // a default, so not required
//   };
//   ...
//   if (args.note.size() > 100) log(args.note + "...");
//
// They nest in any order: described<"…", titled<"…", sized<1, 80>>>.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <signet/json/value.h>

namespace signet {

// A literal as a template argument.
template <std::size_t N>
struct Literal {
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval Literal(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
  char text[N] = {};
};

namespace json {

namespace detail {
struct AnyMember;

// Values of class types are inherited, so that they keep their members and operators; others convert.
template <typename P>
class Held {
 public:
  Held() = default;
  constexpr explicit Held(P value) : value_(value) {}
  // NOLINTBEGIN(google-explicit-constructor): used as the type inside.
  constexpr operator const P&() const { return value_; }
  constexpr operator P&() { return value_; }
  // NOLINTEND
  constexpr const P& value() const { return value_; }

 private:
  P value_;
};

template <typename P>
  requires std::is_class_v<P>
class Held<P> : public P {
 public:
  Held() = default;
  explicit Held(P value) : P(std::move(value)) {}
  const P& value() const { return *this; }
};

struct Annotation {};

template <typename T>
struct PlainOf {
  using type = T;
};
template <std::derived_from<Annotation> T>
struct PlainOf<T> {
  using type = typename T::plain;
};

}  // namespace detail

// The type below all wrappers: described<"…", sized<1, 80>> is a std::string.
template <typename T>
using plain_t = typename detail::PlainOf<T>::type;

// Base of the wrappers. `T` is the type or wrapper inside.
template <typename T>
class Annotated : public detail::Annotation, public detail::Held<plain_t<T>> {
 public:
  using inner = T;
  using plain = plain_t<T>;

  Annotated() = default;
  // From whatever the type inside is made from.
  template <typename U>
    requires(!std::derived_from<std::remove_cvref_t<U>, Annotated> &&
             !std::same_as<std::remove_cvref_t<U>, detail::AnyMember> && std::convertible_to<U, plain>)
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Annotated(U&& value) : detail::Held<plain>(static_cast<plain>(std::forward<U>(value))) {}

  static void annotate(Json&) {}
  // What is wrong with a value, as the rest of a sentence that begins with its name; empty if nothing is.
  static std::string complaint(const plain&) { return {}; }
};

std::string size_complaint(std::size_t size, std::size_t min, std::size_t max, std::string_view unit);
std::string format_complaint(std::string_view text, std::string_view format);
std::size_t count_characters(std::string_view text);

}  // namespace json

// A sentence for the person or the model that fills it in.
template <Literal Text, typename T>
struct described : json::Annotated<T> {
  using json::Annotated<T>::Annotated;
  static void annotate(Json& schema) { schema.set("description", Text.view()); }
};

// A short name to show instead of the member's.
template <Literal Text, typename T>
struct titled : json::Annotated<T> {
  using json::Annotated<T>::Annotated;
  static void annotate(Json& schema) { schema.set("title", Text.view()); }
};

// The name in JSON, where C++ cannot spell it: named<"order-id", int> order_id.
template <Literal Name, typename T>
struct named : json::Annotated<T> {
  using json::Annotated<T>::Annotated;
  static constexpr std::string_view json_name() { return Name.view(); }
};

// A tool argument that HTTP clients also send as the header Mcp-Param-<Name> (streamable-http, custom headers).
// Only for strings, integers and booleans, and at places no array lies above; checked when the tool is registered.
template <Literal Name, typename T>
struct header : json::Annotated<T> {
  using json::Annotated<T>::Annotated;
  static void annotate(Json& schema) { schema.set("x-mcp-header", Name.view()); }
};

inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

// Bounds of a string's characters (code points) or a vector's elements: sized<1, 80>, sized<1>,
// sized<1, 3, std::vector<Colour>>.
template <std::size_t Min, std::size_t Max = unbounded, typename T = std::string>
struct sized : json::Annotated<T> {
  using json::Annotated<T>::Annotated;
  static_assert(Min <= Max);
  static constexpr bool is_text = std::same_as<json::plain_t<T>, std::string>;

  static void annotate(Json& schema) {
    if (Min > 0) schema.set(is_text ? "minLength" : "minItems", Min);
    if (Max != unbounded) schema.set(is_text ? "maxLength" : "maxItems", Max);
  }
  static std::string complaint(const json::plain_t<T>& value) {
    if constexpr (is_text) {
      return json::size_complaint(json::count_characters(value), Min, Max, "characters");
    } else {
      return json::size_complaint(value.size(), Min, Max, "elements");
    }
  }
};

// Bounds of a number, both included: ranged<1, 10>, ranged<0, 100, double>.
template <std::int64_t Min, std::int64_t Max, typename T = int>
struct ranged : json::Annotated<T> {
  using json::Annotated<T>::Annotated;
  static_assert(Min <= Max);
  static void annotate(Json& schema) { schema.set("minimum", Min).set("maximum", Max); }
  static std::string complaint(const json::plain_t<T>& value) {
    const bool fits = [value] {
      if constexpr (std::integral<json::plain_t<T>>) {
        return std::in_range<std::int64_t>(value) && std::cmp_greater_equal(value, Min) &&
               std::cmp_less_equal(value, Max);
      } else {
        return value >= static_cast<json::plain_t<T>>(Min) && value <= static_cast<json::plain_t<T>>(Max);
      }
    }();
    if (fits) return {};
    return "must be from " + std::to_string(Min) + " to " + std::to_string(Max);
  }
};

// A string of one of the formats that forms know (elicitation, StringSchema). An Email is a std::string, and so on.
template <Literal Format>
struct formatted : json::Annotated<std::string> {
  using json::Annotated<std::string>::Annotated;
  static void annotate(Json& schema) { schema.set("format", Format.view()); }
  static std::string complaint(const std::string& text) {
    return json::format_complaint(text, Format.view());
  }
};
using Email = formatted<"email">;         // RFC 5321, section 4.1.2
using Uri = formatted<"uri">;             // RFC 3986, absolute
using Date = formatted<"date">;           // RFC 3339: 2026-07-28
using DateTime = formatted<"date-time">;  // RFC 3339: 2026-07-28T12:00:00Z

// One enumerator as JSON has it and as a person reads it; an empty title stands for the name.
template <typename E>
struct Choice {
  E value;
  std::string_view name;
  std::string_view title = {};
};

// How an enum looks in JSON. Without a specialisation: the enumerators from -16 to 127 under their C++ names, no
// titles. With one, exactly what it lists:
//
//   template <>
//   struct signet::Choices<Resolution> {
//     static constexpr signet::Choice<Resolution> list[] = {{Resolution::fixed, "fixed", "Fixed"},
//                                                           {Resolution::wont_fix, "wont_fix", "Won't fix"}};
//   };
template <typename E>
struct Choices {};

}  // namespace signet
