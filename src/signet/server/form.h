// Questions written by hand: the restricted schema of form elicitation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <signet/json/value.h>

namespace signet {

// One of several values to choose from, with what the person reads.
struct Option {
  // NOLINTNEXTLINE(google-explicit-constructor): a plain value is its own title.
  Option(std::string plain_value) : value(std::move(plain_value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): so that {"one", "two"} reads as choices.
  Option(const char* plain_value) : value(plain_value) {}
  Option(std::string chosen_value, std::string shown_title)
      : value(std::move(chosen_value)), title(std::move(shown_title)) {}
  std::string value;
  std::string title;  // empty: the value is shown
};

// What a field of a form says beyond its name and type. Fields are required unless `optional()`.
class Field {
 public:
  Field() = default;
  Field& title(std::string title);
  Field& description(std::string description);
  Field& optional();
  Field& value(Json default_value);  // filled in before the person types
  // Strings
  Field& format(std::string format);  // email, uri, date or date-time
  Field& length(std::size_t least, std::size_t most);
  Field& pattern(std::string regular_expression);
  // Numbers and integers
  Field& between(double least, double most);
  // Multiple choice: how many may be chosen
  Field& items(std::size_t least, std::size_t most);

  bool required() const { return required_; }
  const Json& json() const { return json_; }

 private:
  Json json_;
  bool required_ = true;
};

// A question with fields (client, elicitation, "Form mode"). A regular value:
//
//   auto question = signet::form("Delete everything?").boolean("sure");
//   signet::ElicitResult answer = co_await call.elicit("confirm", question);
//
// Naming a field twice replaces the first.
class Form {
 public:
  explicit Form(std::string message) : message_(std::move(message)) {}

  Form& string(std::string name, Field field = Field());
  Form& integer(std::string name, Field field = Field());
  Form& number(std::string name, Field field = Field());
  Form& boolean(std::string name, Field field = Field());
  // Exactly one of the choices; titled where one of them has a title.
  Form& choice(std::string name, std::vector<Option> choices, Field field = Field());
  // Any number of the choices.
  Form& choices(std::string name, std::vector<Option> choices, Field field = Field());
  // A field whose schema is given as it is: for shapes that older clients know (`enumNames`).
  Form& custom(std::string name, Json schema, bool required = true);

  const std::string& message() const { return message_; }
  // The `requestedSchema`.
  Json schema() const;

 private:
  Form& add(std::string name, Json schema, bool required);

  std::string message_;
  Json::Object properties_;
  JsonArray required_;
};

inline Form form(std::string message) { return Form(std::move(message)); }

}  // namespace signet
