#include <algorithm>
#include <span>

#include <signet/json/schema_program.h>
#include <signet/json/text.h>
#include <signet/json/uri.h>
#include <signet/json/utf8.h>

namespace signet::json {
namespace {

// Which members or elements of one instance a schema has looked at, for unevaluatedProperties and -Items.
struct Evaluated {
  std::vector<bool> parts;

  void mark(std::size_t part, std::size_t count) {
    if (parts.size() < count) parts.resize(count);
    parts[part] = true;
  }
  void merge(const Evaluated& other) {
    if (parts.size() < other.parts.size()) parts.resize(other.parts.size());
    for (std::size_t i = 0; i < other.parts.size(); ++i) parts[i] = parts[i] || other.parts[i];
  }
  bool has(std::size_t part) const { return part < parts.size() && parts[part]; }
};

constexpr std::size_t name_bytes_max = 80;
constexpr std::size_t path_bytes_max = 240;
constexpr std::size_t choices_max = 40;

// A name for a sentence: short, and cut between characters.
std::string shortened(std::string_view name, std::size_t bytes_max = name_bytes_max) {
  if (name.size() <= bytes_max) return std::string(name);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return std::string(name.substr(0, end)) + "...";
}

TypeSet type_of(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::null:
      return type_null;
    case Json::Kind::boolean:
      return type_boolean;
    case Json::Kind::string:
      return type_string;
    case Json::Kind::array:
      return type_array;
    case Json::Kind::object:
      return type_object;
    default:
      return value.is_integer() ? type_integer | type_number : type_number;
  }
}

std::string describe_types(TypeSet types) {
  static constexpr std::pair<TypeSet, std::string_view> names[] = {
      {type_string, "a string"},    {type_number, "a number"},
      {type_integer, "an integer"}, {type_boolean, "true or false"},
      {type_array, "an array"},     {type_object, "an object"},
      {type_null, "null"}};
  if ((types & type_number) != 0) types = static_cast<TypeSet>(types & ~type_integer);
  std::string text;
  for (const auto& [type, name] : names) {
    if ((types & type) == 0) continue;
    if (!text.empty()) text += " or ";
    text.append(name);
  }
  return text.empty() ? "of another type" : text;
}

std::string counted(std::size_t count, std::string_view unit) {
  return std::to_string(count) + " " + std::string(unit) + (count == 1 ? "" : "s");
}

// The choices of an enum or const, where they make a sentence.
std::optional<std::string> listed(std::span<const Json* const> values) {
  if (values.empty() || values.size() > choices_max) return std::nullopt;
  std::string text;
  for (const Json* value : values) {
    if (value->is_array() || value->is_object()) return std::nullopt;
    const std::string* string = value->as_string();
    const std::string one = string != nullptr && !string->empty() ? *string : write(*value);
    if (one.size() > name_bytes_max) return std::nullopt;
    if (!text.empty()) text += ", ";
    text += one;
  }
  return text;
}

// Members of an object by name, without looking through all of them for each of many names.
class Members {
 public:
  explicit Members(const Json::Object& object) : object_(object) {}

  const Json* find(std::string_view name) {
    if (object_.size() <= plain_search_max) return object_.find(name);
    if (sorted_.empty()) sort();
    const auto found =
        std::lower_bound(sorted_.begin(), sorted_.end(), name,
                         [](const JsonMember* member, std::string_view n) { return member->first < n; });
    return found != sorted_.end() && (*found)->first == name ? &(*found)->second : nullptr;
  }

 private:
  static constexpr std::size_t plain_search_max = 16;

  void sort() {
    sorted_.reserve(object_.size());
    for (const JsonMember& member : object_) sorted_.push_back(&member);
    std::sort(sorted_.begin(), sorted_.end(),
              [](const JsonMember* a, const JsonMember* b) { return a->first < b->first; });
  }

  const Json::Object& object_;
  std::vector<const JsonMember*> sorted_;
};

class Evaluator {
 public:
  explicit Evaluator(const Schema::Program& program)
      : depth_max_(program.depth_max), steps_left_(program.steps_max) {}

  Result<void, Violation> run(const Node& root, const Json& instance) {
    const bool fits = evaluate(root, instance, nullptr);
    if (exhausted_) {
      return failure(
          Violation{"", "", "The value is too large or too deep to be checked against the schema.", true});
    }
    if (fits) return {};
    return failure(std::move(*violation_));
  }

 private:
  // A step from a value into a part of it.
  struct Step {
    std::string_view name;
    std::size_t index;
    bool is_name;
  };

  // While it lives, violations are not reported: they only decide between alternatives.
  class Quiet {
   public:
    explicit Quiet(Evaluator& evaluator) : evaluator_(evaluator) { ++evaluator_.quiet_; }
    ~Quiet() { --evaluator_.quiet_; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    Evaluator& evaluator_;
  };

  bool charge(std::size_t steps) {
    if (steps > steps_left_) exhausted_ = true;
    steps_left_ -= std::min(steps, steps_left_);
    return !exhausted_;
  }

  // ---- Reports

  bool fail(const Node& node, std::string_view keyword, std::string_view complaint) {
    if (quiet_ > 0 || violation_ || exhausted_) return false;
    Violation violation;
    for (const Step& step : path_)
      append_pointer(violation.instance, step.is_name ? step.name : std::to_string(step.index));
    violation.keyword = node.location;
    if (!keyword.empty()) append_pointer(violation.keyword, keyword);
    violation.message = subject() + " " + std::string(complaint) + ".";
    violation_ = std::move(violation);
    return false;
  }

  // Reports about a member of the present value.
  bool fail_member(const Node& node, std::string_view keyword, std::string_view name,
                   std::string_view complaint) {
    path_.push_back(Step{name, 0, true});
    fail(node, keyword, complaint);
    path_.pop_back();
    return false;
  }

  std::string subject() const {
    if (path_.empty()) return "The value";
    std::string text;
    for (const Step& step : path_) {
      if (step.is_name) {
        if (!text.empty()) text.push_back('.');
        text += shortened(step.name);
      } else {
        text += "[" + std::to_string(step.index) + "]";
      }
    }
    return "'" + shortened(text, path_bytes_max) + "'";
  }

  // ---- One schema on one value

  bool evaluate(const Node& node, const Json& instance, Evaluated* outer) {
    if (!charge(1)) return false;
    if (depth_ >= depth_max_) {
      exhausted_ = true;
      return false;
    }
    if (node.constant) return *node.constant || fail(node, "", "is not allowed");
    ++depth_;
    scope_.push_back(node.resource);
    Evaluated mine;
    const bool tracks =
        outer != nullptr || node.unevaluated_items != nullptr || node.unevaluated_properties != nullptr;
    const bool fits = apply(node, instance, tracks ? &mine : nullptr);
    scope_.pop_back();
    --depth_;
    if (fits && outer != nullptr) outer->merge(mine);
    return fits && !exhausted_;
  }

  bool apply(const Node& node, const Json& instance, Evaluated* track) {
    return check_any(node, instance) && check_number(node, instance) && check_string(node, instance) &&
           check_array(node, instance, track) && check_object(node, instance, track) &&
           follow_references(node, instance, track) && choose(node, instance, track) &&
           check_unevaluated(node, instance, track);
  }

  bool evaluate_member(const Node& node, const JsonMember& member) {
    path_.push_back(Step{member.first, 0, true});
    const bool fits = evaluate(node, member.second, nullptr);
    path_.pop_back();
    return fits;
  }

  bool evaluate_element(const Node& node, const JsonArray& array, std::size_t index) {
    path_.push_back(Step{{}, index, false});
    const bool fits = evaluate(node, array[index], nullptr);
    path_.pop_back();
    return fits;
  }

  bool check_any(const Node& node, const Json& instance) {
    if (node.types && (type_of(instance) & *node.types) == 0) {
      return fail(node, "type", "must be " + describe_types(*node.types));
    }
    if (!node.allowed) return true;
    const Allowed& allowed = *node.allowed;
    if (!charge(allowed.weight)) return false;
    const bool is_allowed = std::any_of(allowed.values.begin(), allowed.values.end(),
                                        [&instance](const Json* value) { return *value == instance; });
    if (is_allowed) return true;
    const std::optional<std::string> choices = listed(allowed.values);
    if (!choices) return fail(node, allowed.is_const ? "const" : "enum", "is none of the allowed values");
    const std::string prefix = allowed.values.size() == 1 ? "must be " : "must be one of: ";
    return fail(node, allowed.is_const ? "const" : "enum", prefix + *choices);
  }

  // ---- Numbers and strings

  bool check_number(const Node& node, const Json& instance) {
    if (!node.number || !instance.is_number()) return true;
    const NumberRules& rules = *node.number;
    const Decimal value = decimal_of(instance);
    if (!charge(1 + value.digits.size() / 16)) return false;
    if (rules.minimum && compare(value, rules.minimum->value) < 0) {
      return fail(node, "minimum", "must be at least " + rules.minimum->text);
    }
    if (rules.maximum && compare(value, rules.maximum->value) > 0) {
      return fail(node, "maximum", "must be at most " + rules.maximum->text);
    }
    if (rules.exclusive_minimum && compare(value, rules.exclusive_minimum->value) <= 0) {
      return fail(node, "exclusiveMinimum", "must be more than " + rules.exclusive_minimum->text);
    }
    if (rules.exclusive_maximum && compare(value, rules.exclusive_maximum->value) >= 0) {
      return fail(node, "exclusiveMaximum", "must be less than " + rules.exclusive_maximum->text);
    }
    if (rules.multiple_of && !is_multiple(value, rules.multiple_of->value)) {
      return fail(node, "multipleOf", "must be a multiple of " + rules.multiple_of->text);
    }
    return true;
  }

  bool check_string(const Node& node, const Json& instance) {
    const std::string* text = instance.as_string();
    if (!node.string || text == nullptr) return true;
    const StringRules& rules = *node.string;
    if (!charge(1 + text->size() / 64)) return false;
    if (rules.length_min || rules.length_max) {
      const std::size_t length = count_code_points(*text);
      if (rules.length_min && length < *rules.length_min) {
        return fail(node, "minLength", "must have at least " + counted(*rules.length_min, "character"));
      }
      if (rules.length_max && length > *rules.length_max) {
        return fail(node, "maxLength", "must have at most " + counted(*rules.length_max, "character"));
      }
    }
    if (rules.pattern && !rules.pattern->matches(*text)) {
      const bool is_short = rules.pattern_text.size() <= name_bytes_max;
      return fail(node, "pattern",
                  "must match the pattern" + (is_short ? " " + rules.pattern_text : std::string()));
    }
    if (rules.format && !has_format(*text, *rules.format)) {
      return fail(node, "format", "must be " + std::string(describe(*rules.format)));
    }
    return true;
  }

  // ---- Arrays

  bool check_array(const Node& node, const Json& instance, Evaluated* track) {
    const JsonArray* array = instance.as_array();
    if (!node.array || array == nullptr) return true;
    const ArrayRules& rules = *node.array;
    if (rules.items_min && array->size() < *rules.items_min) {
      return fail(node, "minItems", "must have at least " + counted(*rules.items_min, "element"));
    }
    if (rules.items_max && array->size() > *rules.items_max) {
      return fail(node, "maxItems", "must have at most " + counted(*rules.items_max, "element"));
    }
    if (rules.unique && !are_unique(*array)) {
      return exhausted_ ? false : fail(node, "uniqueItems", "must not have two equal elements");
    }
    return check_elements(rules, *array, track) && check_contains(node, *array, track);
  }

  bool are_unique(const JsonArray& array) {
    std::vector<std::string> forms;
    forms.reserve(array.size());
    for (const Json& element : array) {
      forms.push_back(canonical(element));
      if (!charge(1 + forms.back().size() / 16)) return false;
    }
    std::sort(forms.begin(), forms.end());
    return std::adjacent_find(forms.begin(), forms.end()) == forms.end();
  }

  bool check_elements(const ArrayRules& rules, const JsonArray& array, Evaluated* track) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      const Node* node = i < rules.prefix.size() ? rules.prefix[i] : rules.rest;
      if (node == nullptr) break;
      if (!evaluate_element(*node, array, i)) return false;
      if (track != nullptr) track->mark(i, array.size());
    }
    return true;
  }

  bool check_contains(const Node& node, const JsonArray& array, Evaluated* track) {
    const ArrayRules& rules = *node.array;
    if (rules.contains == nullptr) return true;
    std::size_t found = 0;
    {
      const Quiet quiet(*this);
      for (std::size_t i = 0; i < array.size() && !exhausted_; ++i) {
        if (!evaluate_element(*rules.contains, array, i)) continue;
        ++found;
        if (track != nullptr && rules.contains_evaluates) track->mark(i, array.size());
      }
    }
    if (found < rules.contains_min) {
      const bool one = rules.contains_min == 1;
      return fail(node, one ? "contains" : "minContains",
                  "must have at least " + counted(rules.contains_min, "element") + " of the required form");
    }
    if (rules.contains_max && found > *rules.contains_max) {
      return fail(node, "maxContains",
                  "must have at most " + counted(*rules.contains_max, "element") + " of the given form");
    }
    return true;
  }

  // ---- Objects

  bool check_object(const Node& node, const Json& instance, Evaluated* track) {
    const Json::Object* object = instance.as_object();
    if (!node.object || object == nullptr) return true;
    const ObjectRules& rules = *node.object;
    Members members(*object);
    return check_required(node, members) && check_member_count(node, *object) &&
           check_members(rules, *object, track) && check_names(node, *object) &&
           apply_dependent_schemas(rules, members, instance, track);
  }

  bool check_required(const Node& node, Members& members) {
    const ObjectRules& rules = *node.object;
    if (!charge(rules.required.size())) return false;
    for (const std::string& name : rules.required) {
      if (members.find(name) == nullptr) return fail_member(node, "required", name, "is missing");
    }
    for (const auto& [name, names] : rules.dependent_required) {
      if (!charge(1 + names.size())) return false;
      if (members.find(name) == nullptr) continue;
      for (const std::string& needed : names) {
        if (members.find(needed) != nullptr) continue;
        return fail_member(node, "dependentRequired", needed,
                           "is missing where '" + shortened(name) + "' is given");
      }
    }
    return true;
  }

  bool check_member_count(const Node& node, const Json::Object& object) {
    const ObjectRules& rules = *node.object;
    if (rules.members_min && object.size() < *rules.members_min) {
      return fail(node, "minProperties", "must have at least " + counted(*rules.members_min, "member"));
    }
    if (rules.members_max && object.size() > *rules.members_max) {
      return fail(node, "maxProperties", "must have at most " + counted(*rules.members_max, "member"));
    }
    return true;
  }

  bool check_members(const ObjectRules& rules, const Json::Object& object, Evaluated* track) {
    if (rules.properties.empty() && rules.pattern_properties.empty() && rules.additional == nullptr)
      return true;
    std::size_t index = 0;
    for (const JsonMember& member : object) {
      if (!charge(1 + rules.pattern_properties.size() * (1 + member.first.size() / 64))) return false;
      bool matched = false;
      if (const auto property = rules.properties.find(member.first); property != rules.properties.end()) {
        matched = true;
        if (!evaluate_member(*property->second, member)) return false;
      }
      for (const auto& [pattern, node] : rules.pattern_properties) {
        if (!pattern.matches(member.first)) continue;
        matched = true;
        if (!evaluate_member(*node, member)) return false;
      }
      if (!matched && rules.additional != nullptr) {
        matched = true;
        if (!evaluate_member(*rules.additional, member)) return false;
      }
      if (matched && track != nullptr) track->mark(index, object.size());
      ++index;
    }
    return true;
  }

  bool check_names(const Node& node, const Json::Object& object) {
    const Node* names = node.object->names;
    if (names == nullptr) return true;
    for (const JsonMember& member : object) {
      bool fits = false;
      {
        const Quiet quiet(*this);
        fits = evaluate(*names, Json(member.first), nullptr);
      }
      if (!fits) return fail_member(node, "propertyNames", member.first, "has a name that is not allowed");
    }
    return true;
  }

  bool apply_dependent_schemas(const ObjectRules& rules, Members& members, const Json& instance,
                               Evaluated* track) {
    for (const auto& [name, node] : rules.dependent_schemas) {
      if (!charge(1)) return false;
      if (members.find(name) != nullptr && !evaluate(*node, instance, track)) return false;
    }
    return true;
  }

  // ---- Other schemas on the same value

  bool follow_references(const Node& node, const Json& instance, Evaluated* track) {
    if (node.reference != nullptr && !evaluate(*node.reference, instance, track)) return false;
    if (!node.dynamic_reference) return true;
    return evaluate(*dynamic_target(*node.dynamic_reference), instance, track);
  }

  // The outermost resource in the dynamic scope that has the anchor decides.
  const Node* dynamic_target(const DynamicReference& reference) {
    if (reference.anchor.empty()) return reference.initial;
    const Resource* last = nullptr;
    for (const Resource* resource : scope_) {
      if (resource == last) continue;
      last = resource;
      charge(1);
      const auto found = resource->dynamic_anchors.find(reference.anchor);
      if (found != resource->dynamic_anchors.end()) return found->second;
    }
    return reference.initial;
  }

  bool choose(const Node& node, const Json& instance, Evaluated* track) {
    if (!node.alternatives) return true;
    const Alternatives& rules = *node.alternatives;
    for (const Node* each : rules.all_of) {
      if (!evaluate(*each, instance, track)) return false;
    }
    return fits_any(node, instance, track) && fits_one(node, instance, track) && fits_not(node, instance) &&
           fits_condition(rules, instance, track);
  }

  bool fits_any(const Node& node, const Json& instance, Evaluated* track) {
    const std::vector<const Node*>& choices = node.alternatives->any_of;
    if (choices.empty()) return true;
    bool fits = false;
    {
      const Quiet quiet(*this);
      for (const Node* choice : choices) {
        if (evaluate(*choice, instance, track)) fits = true;
        if (fits && track == nullptr) break;
      }
    }
    return fits || fail(node, "anyOf", complaint_of(choices, instance));
  }

  bool fits_one(const Node& node, const Json& instance, Evaluated* track) {
    const std::vector<const Node*>& choices = node.alternatives->one_of;
    if (choices.empty()) return true;
    std::size_t fitting = 0;
    {
      const Quiet quiet(*this);
      for (const Node* choice : choices) {
        if (evaluate(*choice, instance, track)) ++fitting;
        if (fitting > 1) break;
      }
    }
    if (fitting == 1) return true;
    return fail(node, "oneOf",
                fitting == 0 ? complaint_of(choices, instance)
                             : "fits more than one of the allowed forms, and may fit only one");
  }

  // What to say where no choice fits: the types or the values that would, if the choices are as simple as that.
  static std::string complaint_of(const std::vector<const Node*>& choices, const Json& instance) {
    std::vector<const Json*> values;
    TypeSet types = 0;
    bool only_types = true;
    bool only_values = true;
    for (const Node* choice : choices) {
      only_types = only_types && choice->types.has_value();
      types = static_cast<TypeSet>(types | choice->types.value_or(0));
      only_values = only_values && choice->allowed.has_value();
      if (choice->allowed)
        values.insert(values.end(), choice->allowed->values.begin(), choice->allowed->values.end());
    }
    if (only_types && (types & type_of(instance)) == 0) return "must be " + describe_types(types);
    if (only_values) {
      if (const auto text = listed(values)) return "must be one of: " + *text;
    }
    return "fits none of the allowed forms";
  }

  bool fits_not(const Node& node, const Json& instance) {
    const Node* negated = node.alternatives->negated;
    if (negated == nullptr) return true;
    bool fits = false;
    {
      const Quiet quiet(*this);
      fits = evaluate(*negated, instance, nullptr);
    }
    return !fits || fail(node, "not", "has a form that is not allowed");
  }

  bool fits_condition(const Alternatives& rules, const Json& instance, Evaluated* track) {
    if (rules.condition == nullptr) return true;
    bool holds = false;
    {
      const Quiet quiet(*this);
      holds = evaluate(*rules.condition, instance, track);
    }
    const Node* next = holds ? rules.then_node : rules.else_node;
    return next == nullptr || evaluate(*next, instance, track);
  }

  // ---- What nothing has looked at

  bool check_unevaluated(const Node& node, const Json& instance, Evaluated* track) {
    if (const JsonArray* array = instance.as_array(); array != nullptr && node.unevaluated_items != nullptr) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        if (track->has(i)) continue;
        if (!evaluate_element(*node.unevaluated_items, *array, i)) return false;
        track->mark(i, array->size());
      }
    }
    const Json::Object* object = instance.as_object();
    if (object == nullptr || node.unevaluated_properties == nullptr) return true;
    std::size_t index = 0;
    for (const JsonMember& member : *object) {
      if (!track->has(index)) {
        if (!evaluate_member(*node.unevaluated_properties, member)) return false;
        track->mark(index, object->size());
      }
      ++index;
    }
    return true;
  }

  std::size_t depth_max_;
  std::size_t steps_left_;
  std::size_t depth_ = 0;
  bool exhausted_ = false;
  int quiet_ = 0;
  std::vector<Step> path_;
  std::vector<const Resource*> scope_;
  std::optional<Violation> violation_;
};

}  // namespace

Result<void, Violation> evaluate(const Schema::Program& program, const Json& instance) {
  return Evaluator(program).run(*program.root, instance);
}

}  // namespace signet::json
