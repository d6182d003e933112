#include <signet/server/elicited.h>

namespace signet {

bool ElicitResult::boolean(std::string_view name) const {
  const Json* field = content_.find(name);
  return field != nullptr && field->as_boolean().value_or(false);
}

std::string ElicitResult::string(std::string_view name) const {
  const std::string* field = content_.find_string(name);
  return field == nullptr ? std::string() : *field;
}

std::int64_t ElicitResult::integer(std::string_view name) const {
  const Json* field = content_.find(name);
  return field == nullptr ? 0 : field->as_int64().value_or(0);
}

double ElicitResult::number(std::string_view name) const {
  const Json* field = content_.find(name);
  return field == nullptr ? 0 : field->as_double().value_or(0);
}

std::vector<std::string> ElicitResult::strings(std::string_view name) const {
  std::vector<std::string> all;
  const Json* field = content_.find(name);
  if (field == nullptr || !field->is_array()) return all;
  for (const Json& element : *field->as_array()) {
    if (element.is_string()) all.push_back(*element.as_string());
  }
  return all;
}

}  // namespace signet
