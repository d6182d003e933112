#include <signet/server/legacy_questions.h>

#include <signet/protocol/versions.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace signet::detail {

namespace {

struct Choice {
  Choice(std::string chosen_value, std::string shown_title)
      : value(std::move(chosen_value)), title(std::move(shown_title)) {}
  std::string value;
  std::string title;
};

bool has_forms_of_today(std::string_view version) { return version == protocol::version_2025_11_25; }

bool has_type(const Json& field, std::string_view wanted) {
  const std::string* type = field.find_string("type");
  return type != nullptr && *type == wanted;
}

// [{"const", "title"}...]; nothing where it is something else.
std::optional<std::vector<Choice>> titled_choices(const Json* list) {
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<Choice> choices;
  for (const Json& one : *list->as_array()) {
    const std::string* value = one.find_string("const");
    const std::string* title = one.find_string("title");
    if (value == nullptr) return std::nullopt;
    choices.emplace_back(*value, title == nullptr ? *value : *title);
  }
  return choices;
}

// What may be chosen several times; nothing where the field is no such list.
std::optional<std::vector<Choice>> choices_of_list(const Json& field) {
  const Json* items = has_type(field, "array") ? field.find("items") : nullptr;
  if (items == nullptr) return std::nullopt;
  for (const std::string_view keyword : {"anyOf", "oneOf"}) {
    if (items->contains(keyword)) return titled_choices(items->find(keyword));
  }
  const Json* values = items->find("enum");
  if (values == nullptr || !values->is_array()) return std::nullopt;
  std::vector<Choice> choices;
  for (const Json& value : *values->as_array()) {
    if (!value.is_string()) return std::nullopt;
    choices.emplace_back(*value.as_string(), *value.as_string());
  }
  return choices;
}

std::string name_of_choice(const std::string& field, const std::string& value) {
  return field + "[" + value + "]";
}

// One of several titled values, as it was said before `oneOf`.
void say_enum_names(Json& field) {
  const std::optional<std::vector<Choice>> choices = titled_choices(field.find("oneOf"));
  if (!choices) return;
  Json values = Json::array();
  Json names = Json::array();
  for (const Choice& choice : *choices) {
    values.push_back(choice.value);
    names.push_back(choice.title);
  }
  field.erase("oneOf");
  field.set("enum", std::move(values));
  field.set("enumNames", std::move(names));
}

bool is_chosen_before(const Json& field, const std::string& value) {
  const Json* preset = field.find("default");
  const JsonArray* chosen = preset == nullptr ? nullptr : preset->as_array();
  return chosen != nullptr && std::ranges::find(*chosen, Json(value)) != chosen->end();
}

// Whether the field may stand in a form of that revision as it is.
bool is_primitive(const Json& field) {
  return std::ranges::any_of(std::vector<std::string_view>{"string", "integer", "number", "boolean"},
                             [&field](std::string_view type) { return has_type(field, type); });
}

// False where one of the names is taken.
bool add_yes_or_no(Json& properties, const JsonMember& list, const std::vector<Choice>& choices,
                   const Json& all) {
  const std::string* title = list.second.find_string("title");
  const std::string* description = list.second.find_string("description");
  for (const Choice& choice : choices) {
    std::string name = name_of_choice(list.first, choice.value);
    if (all.contains(name) || properties.contains(name)) return false;
    Json field;
    field.set("type", "boolean");
    field.set("title", (title == nullptr ? list.first : *title) + ": " + choice.title);
    if (description != nullptr) field.set("description", *description);
    field.set("default", is_chosen_before(list.second, choice.value));
    properties.set(std::move(name), std::move(field));
  }
  return true;
}

// The list that the yes-or-no fields say; null, which fits no list, where one of them is something else.
Json chosen(const std::string& field, const std::vector<Choice>& choices, Json& content) {
  Json list = Json::array();
  bool is_sound = true;
  for (const Choice& choice : choices) {
    const std::string name = name_of_choice(field, choice.value);
    const Json* given = content.find(name);
    if (given == nullptr) continue;
    const std::optional<bool> yes = given->as_boolean();
    is_sound = is_sound && yes.has_value();
    if (yes.value_or(false)) list.push_back(choice.value);
    content.erase(name);
  }
  return is_sound ? list : Json();
}

bool is_required(const Json& form, const std::string& name) {
  const Json* required = form.find("required");
  const JsonArray* names = required == nullptr ? nullptr : required->as_array();
  return names != nullptr && std::ranges::find(*names, Json(name)) != names->end();
}

}  // namespace

Json capabilities_of_revision(Json declared, std::string_view version) {
  if (has_forms_of_today(version)) return declared;
  Json* elicitation = declared.find("elicitation");
  if (elicitation != nullptr && elicitation->is_object()) elicitation->erase("url");
  Json* sampling = declared.find("sampling");
  if (sampling != nullptr && sampling->is_object()) sampling->erase("tools");
  return declared;
}

Result<Json> form_for_revision(Json params, std::string_view version) {
  if (has_forms_of_today(version)) return params;
  params.erase("mode");
  Json* form = params.find("requestedSchema");
  const Json* fields = form == nullptr ? nullptr : form->find("properties");
  if (fields == nullptr || !fields->is_object()) return params;
  Json properties = Json::object();
  JsonArray required;
  for (const JsonMember& field : *fields->as_object()) {
    const std::optional<std::vector<Choice>> several = choices_of_list(field.second);
    const bool is_said =
        several ? add_yes_or_no(properties, field, *several, *fields) : is_primitive(field.second);
    if (!is_said) {
      return failure("the field '" + field.first + "' has no form in revision " + std::string(version) +
                     ", which this client speaks");
    }
    if (several) continue;
    Json said = field.second;
    say_enum_names(said);
    properties.set(field.first, std::move(said));
    if (is_required(*form, field.first)) required.emplace_back(field.first);
  }
  form->set("properties", std::move(properties));
  form->erase("required");
  if (!required.empty()) form->set("required", std::move(required));
  return params;
}

Json answer_from_revision(const Json& form, Json answer, std::string_view version) {
  Json* content = answer.find("content");
  const Json* fields = form.find("properties");
  const bool is_plain = has_forms_of_today(version) || content == nullptr || !content->is_object() ||
                        fields == nullptr || !fields->is_object();
  if (is_plain) return answer;
  for (const JsonMember& field : *fields->as_object()) {
    const std::optional<std::vector<Choice>> several = choices_of_list(field.second);
    if (!several) continue;
    Json list = chosen(field.first, *several, *content);
    const bool is_left_out = list.is_array() && list.as_array()->empty() && !is_required(form, field.first);
    if (!is_left_out) content->set(field.first, std::move(list));
  }
  return answer;
}

}  // namespace signet::detail
