// The members of an aggregate: how many, what they are called, which have initialisers. Without macros, on g++ 12 and
// clang 16 and later. What users need of it is in reflect.h.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace signet::json {

inline constexpr std::size_t members_max = 24;

namespace detail {

// Converts to whatever a member is, in unevaluated expressions only.
struct AnyMember {
  template <typename T>
  operator T() const noexcept;
};

template <typename T, std::size_t... I>
constexpr bool takes_members(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyMember())...}; };
}

template <typename T, std::size_t N = 0>
constexpr std::size_t count_members() {
  if constexpr (N <= members_max && takes_members<T>(std::make_index_sequence<N + 1>())) {
    return count_members<T, N + 1>();
  } else {
    return N;
  }
}

}  // namespace detail

// A struct whose members json can see: no base, no private member, no constructor, no C array; and no container.
template <typename T>
concept Aggregate = std::is_class_v<T> && std::is_aggregate_v<T> && !requires { typename T::value_type; } &&
                    requires { T{}; };

template <Aggregate T>
inline constexpr std::size_t member_count = detail::count_members<T>();

// Calls visit(member...) with a reference to each member of the object, in their order.
template <typename T, typename F>
constexpr decltype(auto) with_members(T& object, F&& visit) {
  constexpr std::size_t count = member_count<std::remove_const_t<T>>;
  static_assert(count <= members_max, "a struct with more than 24 members: group some of them in a struct");
  if constexpr (count == 0) {
    return visit();
  } else if constexpr (count == 1) {
    auto& [a] = object;
    return visit(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = object;
    return visit(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = object;
    return visit(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = object;
    return visit(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = object;
    return visit(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = object;
    return visit(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = object;
    return visit(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = object;
    return visit(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = object;
    return visit(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = object;
    return visit(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (count == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  } else if constexpr (count == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (count == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  } else if constexpr (count == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  } else if constexpr (count == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  } else if constexpr (count == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  } else if constexpr (count == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  } else if constexpr (count == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  }
}

// Calls visit(member, index) for each member, in their order.
template <typename T, typename F>
void for_each_member(T& object, F&& visit) {
  with_members(object, [&](auto&... members) {
    [[maybe_unused]] std::size_t index = 0;
    (visit(members, index++), ...);
  });
}

namespace detail {

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

// Never defined: only the addresses of its members are named.
template <typename T>
struct Imagined {
  T value;
  static const Imagined object;
};

template <typename M>
struct Address {
  const M* at;
};
template <typename M>
Address(const M*) -> Address<M>;

template <std::size_t I, typename First, typename... Rest>
constexpr auto address_of(const First& first, const Rest&... rest) {
  if constexpr (I == 0) {
    return Address{std::addressof(first)};
  } else {
    return address_of<I - 1>(rest...);
  }
}

// Calls visit(member...) with references to members that do not exist, for what their types and addresses say.
template <typename T, typename F>
constexpr auto with_imagined_members(F visit) {
  return with_members(Imagined<T>::object.value, visit);
}

template <typename T, std::size_t I>
constexpr auto member_address() {
  return with_imagined_members<T>([](const auto&... members) { return address_of<I>(members...); });
}

// The name is in what the compiler says of this function: `...::name)}` (g++), `....name}` (clang).
template <auto Member>
constexpr std::string_view spelled_member() {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t brace = text.rfind('}');
  std::size_t end = brace;
  while (end > 0 && text[end - 1] == ')') --end;
  text = text.substr(0, end);
  return text.substr(text.find_last_of(":.") + 1);
}

template <typename T, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> spelled_members(std::index_sequence<I...>) {
  return {spelled_member<member_address<T, I>()>()...};
}

#ifdef __clang__
#pragma clang diagnostic pop
#endif

}  // namespace detail

// The names of the members, in their order.
template <Aggregate T>
inline constexpr std::array<std::string_view, member_count<T>> member_names =
    detail::spelled_members<T>(std::make_index_sequence<member_count<T>>());

namespace detail {

// Makes the compiler forget what it knows of the bytes, and keep what it was about to drop.
inline void keep(unsigned char* bytes) { asm volatile("" : : "r"(bytes) : "memory"); }

template <typename M>
constexpr bool is_plain_bytes = std::is_trivially_copyable_v<M> &&
                                std::is_trivially_default_constructible_v<M> && !std::is_aggregate_v<M>;

// Default-initialises a T over bytes of one value, and notes which scalar members left theirs as they were.
template <typename T>
std::array<bool, member_count<T>> untouched_over(unsigned char fill) {
  struct Storage {
    alignas(T) unsigned char bytes[sizeof(T)];
  };
  const auto storage = std::make_unique<Storage>();
  std::memset(storage->bytes, fill, sizeof(T));
  keep(storage->bytes);
  T* object = ::new (static_cast<void*>(storage->bytes)) T;
  keep(storage->bytes);
  std::array<bool, member_count<T>> untouched{};
  for_each_member(*object, [&]<typename M>(const M& member, std::size_t i) {
    if constexpr (is_plain_bytes<M>) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(std::addressof(member));
      untouched[i] =
          std::all_of(bytes, bytes + sizeof(M), [fill](unsigned char byte) { return byte == fill; });
    }
  });
  object->~T();
  return untouched;
}

}  // namespace detail

// Which scalar members have an initialiser in the struct: `bool dry_run = false;` has, `bool sure;` has none. The
// language does not tell (a constant expression would, where every member is literal), so it is seen from what
// default initialisation leaves alone, over two patterns. For members of class type: always true.
template <Aggregate T>
std::array<bool, member_count<T>> initialised_members() {
  const auto zeros = detail::untouched_over<T>(0x00);
  const auto ones = detail::untouched_over<T>(0xFF);
  std::array<bool, member_count<T>> initialised{};
  for (std::size_t i = 0; i < initialised.size(); ++i) initialised[i] = !(zeros[i] && ones[i]);
  return initialised;
}

}  // namespace signet::json
