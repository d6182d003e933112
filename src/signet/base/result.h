// A value or the reason why there is none.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace signet {

// The reason of a failure that only people read: one sentence, no secrets.
struct Error {
  explicit Error(std::string sentence) : message(std::move(sentence)) {}
  std::string message;
};

// Marks a value as the reason, so that `return failure(Refusal::expired);` converts to any Result
// with that error type.
template <typename E>
class Failure {
 public:
  explicit Failure(E error) : error_(std::move(error)) {}
  E& error() { return error_; }

 private:
  E error_;
};

template <typename E>
Failure<std::decay_t<E>> failure(E&& error) {
  return Failure<std::decay_t<E>>(std::forward<E>(error));
}
inline Failure<Error> failure(const char* sentence) { return Failure<Error>(Error(sentence)); }
inline Failure<Error> failure(std::string sentence) { return Failure<Error>(Error(std::move(sentence))); }

// Either a T or an E, never neither. `value()` of a failure and `error()` of a success are bugs of the
// caller and abort in debug builds. (C++20: libstdc++ 12 gives clang no std::expected.)
// Threads: as the T it holds.
template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = E;

  // NOLINTBEGIN(google-explicit-constructor): success and failure read as plain returns.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  template <typename F>
    requires std::is_constructible_v<E, F>
  Result(Failure<F> failed) : state_(std::in_place_index<1>, std::move(failed.error())) {}
  // NOLINTEND

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  E& error() & {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  const E& error() const& {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  E&& error() && {
    assert(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, E> state_;
};

// A success that carries nothing, or the reason.
template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  Result() = default;
  template <typename F>
    requires std::is_constructible_v<E, F>
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Failure<F> failed) : error_(std::in_place, std::move(failed.error())) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  E& error() & {
    assert(!ok());
    return *error_;
  }
  const E& error() const& {
    assert(!ok());
    return *error_;
  }
  E&& error() && {
    assert(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<E> error_;
};

}  // namespace signet
