// What came back for a question.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/json/value.h>

namespace signet {

// Declined and cancelled are answers, not failures (client, elicitation, "Response actions"): the person said no,
// or went away without choosing.
enum class ElicitAction : std::uint8_t { accept, decline, cancel };

// The answer to a form built by hand, or to a URL. The content has been checked against the form's schema.
class ElicitResult {
 public:
  ElicitResult(ElicitAction action, Json content) : action_(action), content_(std::move(content)) {}

  ElicitAction action() const { return action_; }
  bool accepted() const { return action_ == ElicitAction::accept; }
  bool declined() const { return action_ == ElicitAction::decline; }
  bool cancelled() const { return action_ == ElicitAction::cancel; }

  // The object that was filled in; null unless accepted, and for URLs.
  const Json& content() const { return content_; }
  // The field, or false, "", 0, {} where it was left out or nothing was accepted.
  bool boolean(std::string_view name) const;
  std::string string(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::vector<std::string> strings(std::string_view name) const;
  bool has(std::string_view name) const { return content_.contains(name); }

 private:
  ElicitAction action_;
  Json content_;
};

// The answer to a form made from the type T. `*` and `->` only where accepted.
template <typename T>
class Elicited {
 public:
  explicit Elicited(ElicitAction action) : action_(action) {}
  explicit Elicited(T value) : action_(ElicitAction::accept), value_(std::move(value)) {}

  ElicitAction action() const { return action_; }
  bool accepted() const { return action_ == ElicitAction::accept; }
  bool declined() const { return action_ == ElicitAction::decline; }
  bool cancelled() const { return action_ == ElicitAction::cancel; }
  explicit operator bool() const { return accepted(); }

  T& operator*() {
    assert(accepted());
    return *value_;
  }
  const T& operator*() const {
    assert(accepted());
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  T value_or(T otherwise) const { return value_.value_or(std::move(otherwise)); }

 private:
  ElicitAction action_;
  std::optional<T> value_;
};

}  // namespace signet
