// The enumerators of an enum, with their names. What users need of it is in annotations.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <signet/json/annotations.h>

namespace signet::json {

// An enumerator for code that knows no enum.
struct EnumEntry {
  std::int64_t value = 0;
  std::string_view name;
  std::string_view title;
};

namespace detail {

inline constexpr int enum_scan_first = -16;
inline constexpr int enum_scan_last = 127;

template <typename E>
concept Scannable = std::is_enum_v<E> && requires { E{0}; };  // a fixed underlying type: any value is a value

template <typename E>
constexpr int scan_first() {
  return std::is_signed_v<std::underlying_type_t<E>> ? enum_scan_first : 0;
}
template <typename E>
constexpr std::size_t scan_count() {
  return static_cast<std::size_t>(enum_scan_last - scan_first<E>() + 1);
}

// The compiler lists the values: `ns::Colour::red, (ns::Colour)2, ...` before the last `}]` or `>]`. (With an alias as
// the return type, g++ would say more behind.)
template <typename E, E... Values>
constexpr const char* spelled_enumerators() {
  return __PRETTY_FUNCTION__;
}

template <typename E, std::size_t... I>
constexpr std::string_view scan(std::index_sequence<I...>) {
  return spelled_enumerators<E, static_cast<E>(static_cast<int>(I) + scan_first<E>())...>();
}

constexpr bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The name that ends the text, or nothing where that is a number.
constexpr std::string_view last_name(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_name_part(text[begin - 1])) --begin;
  const std::string_view name = text.substr(begin);
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return {};
  return name;
}

// Walks backwards, from the closing bracket of the list, over items parted by commas outside brackets.
template <std::size_t N>
constexpr std::array<std::string_view, N> split_enumerators(std::string_view text) {
  std::array<std::string_view, N> names{};
  std::size_t end = text.size() - 2;
  std::size_t at = end;
  int depth = 0;
  for (std::size_t left = N; left > 0;) {
    --at;
    const char c = text[at];
    if (c == ')' || c == '}' || c == '>') ++depth;
    if ((c == '(' || c == '{' || c == '<') && depth > 0) {
      --depth;
    } else if (depth == 0 && (c == ',' || c == '{' || c == '<')) {
      names[--left] = last_name(text.substr(at + 1, end - at - 1));
      end = at;
    }
  }
  return names;
}

template <Scannable E>
constexpr auto scanned_names =
    split_enumerators<scan_count<E>()>(scan<E>(std::make_index_sequence<scan_count<E>()>()));

template <Scannable E>
constexpr std::size_t count_scanned() {
  std::size_t count = 0;
  for (const std::string_view name : scanned_names<E>) count += name.empty() ? 0 : 1;
  return count;
}

template <typename E>
constexpr auto make_entries() {
  if constexpr (requires { Choices<E>::list; }) {
    std::array<EnumEntry, std::size(Choices<E>::list)> entries{};
    std::size_t i = 0;
    for (const auto& choice : Choices<E>::list) {
      entries[i++] = EnumEntry{static_cast<std::int64_t>(choice.value), choice.name, choice.title};
    }
    return entries;
  } else {
    static_assert(Scannable<E>,
                  "give the enum an underlying type (or make it an enum class), or specialise Choices");
    std::array<EnumEntry, count_scanned<E>()> entries{};
    std::size_t i = 0;
    for (std::size_t v = 0; v < scan_count<E>(); ++v) {
      const std::string_view name = scanned_names<E>[v];
      if (!name.empty())
        entries[i++] = EnumEntry{static_cast<int>(v) + std::int64_t{scan_first<E>()}, name, {}};
    }
    return entries;
  }
}

template <typename E>
inline constexpr auto entries = make_entries<E>();

}  // namespace detail

// In the order in which they are shown. Lives for ever.
template <typename E>
constexpr std::span<const EnumEntry> enum_entries() {
  static_assert(!detail::entries<E>.empty(),
                "an enum without enumerators from -16 to 127: specialise Choices");
  return detail::entries<E>;
}

}  // namespace signet::json
