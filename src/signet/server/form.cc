#include <signet/server/form.h>

#include <algorithm>

namespace signet {

namespace {

Json typed(std::string_view type, const Field& field) {
  Json schema;
  schema.set("type", type);
  if (const Json::Object* rest = field.json().as_object()) {
    for (const JsonMember& member : *rest) schema.set(member.first, member.second);
  }
  return schema;
}

bool any_title(const std::vector<Option>& choices) {
  return std::any_of(choices.begin(), choices.end(), [](const Option& c) { return !c.title.empty(); });
}

// [{"const": value, "title": title}...]
Json titled(const std::vector<Option>& choices) {
  Json list = Json::array();
  for (const Option& choice : choices) {
    Json one;
    one.set("const", choice.value);
    one.set("title", choice.title.empty() ? choice.value : choice.title);
    list.push_back(std::move(one));
  }
  return list;
}

Json plain(const std::vector<Option>& choices) {
  Json list = Json::array();
  for (const Option& choice : choices) list.push_back(choice.value);
  return list;
}

}  // namespace

Field& Field::title(std::string title) {
  json_.set("title", std::move(title));
  return *this;
}

Field& Field::description(std::string description) {
  json_.set("description", std::move(description));
  return *this;
}

Field& Field::optional() {
  required_ = false;
  return *this;
}

Field& Field::value(Json default_value) {
  json_.set("default", std::move(default_value));
  return *this;
}

Field& Field::format(std::string format) {
  json_.set("format", std::move(format));
  return *this;
}

Field& Field::length(std::size_t least, std::size_t most) {
  json_.set("minLength", least);
  json_.set("maxLength", most);
  return *this;
}

Field& Field::pattern(std::string regular_expression) {
  json_.set("pattern", std::move(regular_expression));
  return *this;
}

Field& Field::between(double least, double most) {
  json_.set("minimum", least);
  json_.set("maximum", most);
  return *this;
}

Field& Field::items(std::size_t least, std::size_t most) {
  json_.set("minItems", least);
  json_.set("maxItems", most);
  return *this;
}

Form& Form::add(std::string name, Json schema, bool required) {
  std::erase(required_, Json(name));
  if (required) required_.emplace_back(name);
  properties_.set(std::move(name), std::move(schema));
  return *this;
}

Form& Form::string(std::string name, Field field) {
  return add(std::move(name), typed("string", field), field.required());
}
Form& Form::integer(std::string name, Field field) {
  return add(std::move(name), typed("integer", field), field.required());
}
Form& Form::number(std::string name, Field field) {
  return add(std::move(name), typed("number", field), field.required());
}
Form& Form::boolean(std::string name, Field field) {
  return add(std::move(name), typed("boolean", field), field.required());
}

Form& Form::choice(std::string name, std::vector<Option> choices, Field field) {
  Json schema = typed("string", field);
  if (any_title(choices)) {
    schema.set("oneOf", titled(choices));
  } else {
    schema.set("enum", plain(choices));
  }
  return add(std::move(name), std::move(schema), field.required());
}

Form& Form::choices(std::string name, std::vector<Option> choices, Field field) {
  Json items;
  if (any_title(choices)) {
    items.set("anyOf", titled(choices));
  } else {
    items.set("type", "string");
    items.set("enum", plain(choices));
  }
  Json schema = typed("array", field);
  schema.set("items", std::move(items));
  return add(std::move(name), std::move(schema), field.required());
}

Form& Form::custom(std::string name, Json schema, bool required) {
  return add(std::move(name), std::move(schema), required);
}

Json Form::schema() const {
  Json schema;
  schema.set("type", "object");
  schema.set("properties", properties_);
  if (!required_.empty()) schema.set("required", required_);
  return schema;
}

}  // namespace signet
