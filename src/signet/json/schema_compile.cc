#include <signet/json/schema.h>

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include <signet/base/percent.h>
#include <signet/json/schema_program.h>
#include <signet/json/text.h>
#include <signet/json/uri.h>

namespace signet::json {
namespace {

constexpr std::string_view draft_2020_12 = "https://json-schema.org/draft/2020-12/schema";
constexpr std::string_view draft_07 = "http://json-schema.org/draft-07/schema";
constexpr std::string_view vocabularies = "https://json-schema.org/draft/2020-12/vocab/";
// The base of a schema without $id; never shown.
constexpr std::string_view anonymous_base = "signet-schema:/";
constexpr std::size_t schema_depth_max = 512;

// Which keywords mean something.
struct Dialect {
  bool draft_07 = false;
  bool applicator = true;
  bool unevaluated = true;
  bool validation = true;
  bool format_assertion = false;
};

// Where a subschema stands.
struct Place {
  Resource* resource = nullptr;
  Dialect dialect;
  std::string pointer;  // from the root of the resource
  std::string location;
};

enum class Kind : std::uint8_t { one, list, named, one_or_list, named_or_strings };

struct Applicator {
  std::string_view keyword;
  Kind kind;
};

constexpr Applicator applicators_2020_12[] = {{"$defs", Kind::named},
                                              {"definitions", Kind::named},
                                              {"additionalProperties", Kind::one},
                                              {"allOf", Kind::list},
                                              {"anyOf", Kind::list},
                                              {"contains", Kind::one},
                                              {"contentSchema", Kind::one},
                                              {"dependentSchemas", Kind::named},
                                              {"else", Kind::one},
                                              {"if", Kind::one},
                                              {"items", Kind::one},
                                              {"not", Kind::one},
                                              {"oneOf", Kind::list},
                                              {"patternProperties", Kind::named},
                                              {"prefixItems", Kind::list},
                                              {"properties", Kind::named},
                                              {"propertyNames", Kind::one},
                                              {"then", Kind::one},
                                              {"unevaluatedItems", Kind::one},
                                              {"unevaluatedProperties", Kind::one}};

constexpr Applicator applicators_07[] = {{"definitions", Kind::named},
                                         {"additionalItems", Kind::one},
                                         {"additionalProperties", Kind::one},
                                         {"allOf", Kind::list},
                                         {"anyOf", Kind::list},
                                         {"contains", Kind::one},
                                         {"dependencies", Kind::named_or_strings},
                                         {"else", Kind::one},
                                         {"if", Kind::one},
                                         {"items", Kind::one_or_list},
                                         {"not", Kind::one},
                                         {"oneOf", Kind::list},
                                         {"patternProperties", Kind::named},
                                         {"properties", Kind::named},
                                         {"propertyNames", Kind::one},
                                         {"then", Kind::one}};

std::string without_empty_fragment(std::string_view uri) {
  if (uri.ends_with('#')) uri.remove_suffix(1);
  return std::string(uri);
}

bool is_anchor_name(std::string_view name) {
  const auto is_start = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_start(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

std::size_t count_values(const Json& value) {
  std::size_t count = 1;
  if (const JsonArray* array = value.as_array()) {
    for (const Json& element : *array) count += count_values(element);
  } else if (const Json::Object* object = value.as_object()) {
    for (const JsonMember& member : *object) count += count_values(member.second);
  }
  return count;
}

std::optional<TypeSet> type_named(std::string_view name) {
  static constexpr std::pair<std::string_view, TypeSet> types[] = {
      {"null", type_null},     {"boolean", type_boolean}, {"integer", type_integer}, {"number", type_number},
      {"string", type_string}, {"array", type_array},     {"object", type_object}};
  for (const auto& [known, type] : types) {
    if (name == known) return type;
  }
  return std::nullopt;
}

class Compiler {
 public:
  Compiler(Schema::Program& program, const SchemaOptions& options) : program_(program), options_(options) {}

  Result<void> compile(const Json& schema) {
    const Json* root = add_document(schema, anonymous_base);
    if (root == nullptr) return failure(error_);
    program_.root = node_for(root, places_.at(root));
    // Nodes name further nodes, and references further documents, until nothing is left to do.
    while (error_.empty() && !pending_.empty()) {
      const auto [json, node, place] = std::move(pending_.back());
      pending_.pop_back();
      fill(*json, *node, place);
    }
    if (!error_.empty()) return failure(error_);
    return {};
  }

 private:
  struct Pending {
    const Json* json;
    Node* node;
    Place place;
  };
  struct ToScan {
    const Json* json;
    Place place;
    std::size_t depth;
  };
  struct Anchor {
    const Json* json;
    bool dynamic;
  };

  bool fail(const Place& place, std::string_view keyword, std::string_view complaint) {
    if (!error_.empty()) return false;
    std::string where = place.location;
    if (!keyword.empty()) append_pointer(where, keyword);
    error_ = "The schema's " + (where.empty() ? std::string("root") : "'" + where.substr(0, 300) + "'") + " ";
    error_.append(complaint).push_back('.');
    return false;
  }

  // ---- Finding resources and anchors

  // Keeps a copy, and knows the resources in it. Null after an error.
  const Json* add_document(const Json& document, std::string_view uri) {
    program_.documents.push_back(document);
    const Json* root = &program_.documents.back();
    Place place;
    place.resource = new_resource(std::string(uri));
    if (uri != anonymous_base) place.location = std::string(uri) + "#";
    std::vector<ToScan> to_scan{ToScan{root, std::move(place), 0}};
    while (!to_scan.empty()) {
      ToScan next = std::move(to_scan.back());
      to_scan.pop_back();
      if (!scan(next, to_scan)) return nullptr;
    }
    return root;
  }

  Resource* new_resource(std::string uri) {
    program_.resources.push_back(Resource{std::move(uri), {}});
    return &program_.resources.back();
  }

  bool scan(ToScan& next, std::vector<ToScan>& to_scan) {
    Place& place = next.place;
    if (next.depth > schema_depth_max) return fail(place, "", "is nested too deep");
    if (places_.size() >= options_.subschemas_max) return fail(place, "", "is one subschema too many");
    const Json::Object* object = next.json->as_object();
    if (object == nullptr) {
      if (next.depth == 0) resources_[place.resource->uri] = next.json;
      places_[next.json] = place;
      return next.json->as_boolean().has_value() || fail(place, "", "must be an object, true or false");
    }
    const bool only_reference = place.dialect.draft_07 && object->contains("$ref");
    if (next.depth == 0 && !read_dialect(*object, place)) return false;
    if (!only_reference && !read_identity(*object, next)) return false;
    if (next.depth == 0) resources_.emplace(place.resource->uri, next.json);
    if (!only_reference && !read_anchors(*object, *next.json, place)) return false;
    places_[next.json] = place;
    if (place.dialect.draft_07 && object->contains("$ref")) return true;
    return scan_applicators(*object, next, to_scan);
  }

  bool scan_applicators(const Json::Object& object, const ToScan& parent, std::vector<ToScan>& to_scan) {
    const auto& place = parent.place;
    const auto push = [&](const Json& json, std::initializer_list<std::string_view> path) {
      ToScan next{&json, place, parent.depth + 1};
      for (const std::string_view name : path) {
        append_pointer(next.place.pointer, name);
        append_pointer(next.place.location, name);
      }
      to_scan.push_back(std::move(next));
    };
    const std::span<const Applicator> applicators =
        place.dialect.draft_07 ? std::span<const Applicator>(applicators_07) : applicators_2020_12;
    for (const auto& [keyword, kind] : applicators) {
      const Json* value = object.find(keyword);
      if (value == nullptr) continue;
      if (kind == Kind::list || (kind == Kind::one_or_list && value->is_array())) {
        const JsonArray* array = value->as_array();
        if (array == nullptr || array->empty())
          return fail(place, keyword, "must be an array with a schema in it");
        for (std::size_t i = 0; i < array->size(); ++i) push((*array)[i], {keyword, std::to_string(i)});
      } else if (kind == Kind::named || kind == Kind::named_or_strings) {
        if (!value->is_object()) return fail(place, keyword, "must be an object");
        for (const auto& [name, member] : *value->as_object()) {
          if (kind == Kind::named || !member.is_array()) push(member, {keyword, name});
        }
      } else {
        push(*value, {keyword});
      }
    }
    return true;
  }

  bool read_dialect(const Json::Object& object, Place& place) {
    const Json* schema = object.find("$schema");
    if (schema == nullptr) return true;
    const std::string* text = schema->as_string();
    if (text == nullptr) return fail(place, "$schema", "must be a string");
    const std::string uri = without_empty_fragment(*text);
    place.dialect = Dialect();
    if (uri == draft_2020_12) return true;
    if (uri == draft_07 || uri == "https://json-schema.org/draft-07/schema") {
      place.dialect.draft_07 = true;
      return true;
    }
    const auto document = options_.documents.find(uri);
    if (document == options_.documents.end()) {
      return fail(place, "$schema",
                  "names a dialect that is not supported: only draft 2020-12 and draft-07 are");
    }
    return read_vocabulary(document->second, place);
  }

  bool read_vocabulary(const Json& metaschema, Place& place) {
    const std::string* dialect = metaschema.find_string("$schema");
    if (dialect == nullptr || without_empty_fragment(*dialect) != draft_2020_12) {
      return fail(place, "$schema", "names a dialect whose own dialect is not 2020-12");
    }
    const Json* vocabulary = metaschema.find("$vocabulary");
    if (vocabulary == nullptr || !vocabulary->is_object()) return true;
    Dialect& known = place.dialect;
    known = Dialect{.applicator = false, .unevaluated = false, .validation = false};
    for (const auto& [uri, required] : *vocabulary->as_object()) {
      const std::string_view name = uri.starts_with(vocabularies)
                                        ? std::string_view(uri).substr(vocabularies.size())
                                        : std::string_view();
      if (name == "applicator") {
        known.applicator = true;
      } else if (name == "unevaluated") {
        known.unevaluated = true;
      } else if (name == "validation") {
        known.validation = true;
      } else if (name == "format-assertion") {
        known.format_assertion = true;
      } else if (name != "core" && name != "meta-data" && name != "format-annotation" && name != "content" &&
                 required.as_boolean() == true) {
        return fail(place, "$schema", "requires a vocabulary that is not supported");
      }
    }
    return true;
  }

  // $id begins a resource; in draft-07 it may also be an anchor.
  bool read_identity(const Json::Object& object, ToScan& next) {
    Place& place = next.place;
    const Json* id = object.find("$id");
    if (id == nullptr) return true;
    const std::string* text = id->as_string();
    if (text == nullptr) return fail(place, "$id", "must be a string");
    const SplitUri split = split_fragment(resolve_uri(place.resource->uri, *text));
    if (!split.fragment.empty()) {
      if (!place.dialect.draft_07 || !text->starts_with('#'))
        return fail(place, "$id", "must have no fragment");
      return add_anchor(place, split.fragment, *next.json, false);
    }
    if (next.depth == 0) {
      place.resource->uri = split.uri;
    } else {
      place.resource = new_resource(split.uri);
      if (!read_dialect(object, place)) return false;
      if (!resources_.emplace(split.uri, next.json).second) return fail(place, "$id", "is there twice");
    }
    place.pointer.clear();
    if (next.depth > 0 || !place.location.empty()) place.location = split.uri + "#";
    return true;
  }

  bool read_anchors(const Json::Object& object, const Json& json, const Place& place) {
    if (place.dialect.draft_07) return true;
    for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
      const Json* anchor = object.find(keyword);
      if (anchor == nullptr) continue;
      const std::string* name = anchor->as_string();
      if (name == nullptr || !is_anchor_name(*name))
        return fail(place, keyword, "must be the name of an anchor");
      if (!add_anchor(place, *name, json, keyword == "$dynamicAnchor")) return false;
    }
    return true;
  }

  bool add_anchor(const Place& place, const std::string& name, const Json& json, bool dynamic) {
    const auto [present, is_new] = anchors_.emplace(std::pair(place.resource, name), Anchor{&json, dynamic});
    if (!is_new && present->second.json != &json) return fail(place, "", "has an anchor that is there twice");
    present->second.dynamic = present->second.dynamic || dynamic;
    if (dynamic) place.resource->dynamic_anchors.emplace(name, node_for(&json, place));
    return true;
  }

  // ---- References

  struct Target {
    const Json* json = nullptr;
    Place place;
    bool dynamic_anchor = false;
  };

  std::optional<Target> resolve(std::string_view reference, const Place& from, std::string_view keyword) {
    const auto no_target = [&](std::string_view complaint) -> std::optional<Target> {
      fail(from, keyword, complaint);
      return std::nullopt;
    };
    const SplitUri split = split_fragment(resolve_uri(from.resource->uri, reference));
    const Json* root = find_resource(split.uri);
    if (!error_.empty()) return std::nullopt;
    if (root == nullptr) return no_target("leads to a schema that is not at hand; nothing is fetched");
    const std::optional<std::string> fragment = percent_decoded(split.fragment);
    if (!fragment) return no_target("has a malformed fragment");
    if (fragment->empty() || fragment->front() == '/') {
      return follow_pointer(*root, *fragment, [&] { return no_target("leads to nothing"); });
    }
    const auto anchor = anchors_.find(std::pair(places_.at(root).resource, *fragment));
    if (anchor == anchors_.end()) return no_target("leads to an anchor that is not there");
    return Target{anchor->second.json, places_.at(anchor->second.json), anchor->second.dynamic};
  }

  const Json* find_resource(const std::string& uri) {
    if (const auto known = resources_.find(uri); known != resources_.end()) return known->second;
    const auto document = options_.documents.find(uri);
    const Json* found = document != options_.documents.end() ? &document->second : metaschema(uri);
    if (found == nullptr) return nullptr;
    const Json* root = add_document(*found, uri);
    if (root != nullptr) resources_.emplace(uri, root);
    return root;
  }

  // Through places that are no subschemas the base stays that of the last subschema.
  template <typename OnFailure>
  std::optional<Target> follow_pointer(const Json& root, std::string_view pointer, OnFailure no_target) {
    const auto names = split_pointer(pointer);
    if (!names) return no_target();
    Target target{&root, places_.at(&root)};
    for (const std::string& name : *names) {
      target.json = step_into(*target.json, name);
      if (target.json == nullptr) return no_target();
      if (const auto known = places_.find(target.json); known != places_.end()) {
        target.place = known->second;
      } else {
        append_pointer(target.place.pointer, name);
        append_pointer(target.place.location, name);
      }
    }
    return target;
  }

  // ---- Nodes

  Node* node_for(const Json* json, const Place& place) {
    const auto [known, is_new] = nodes_.emplace(json, nullptr);
    if (!is_new) return known->second;
    if (nodes_.size() > options_.subschemas_max) fail(place, "", "is one subschema too many");
    program_.nodes.emplace_back();
    known->second = &program_.nodes.back();
    pending_.push_back(Pending{json, known->second, place});
    return known->second;
  }

  const Node* child(const Json& json, const Place& parent, std::initializer_list<std::string_view> path) {
    if (const auto known = places_.find(&json); known != places_.end()) return node_for(&json, known->second);
    Place place = parent;
    for (const std::string_view name : path) {
      append_pointer(place.pointer, name);
      append_pointer(place.location, name);
    }
    return node_for(&json, place);
  }

  void fill(const Json& json, Node& node, const Place& place) {
    node.resource = place.resource;
    node.location = place.location;
    node.constant = json.as_boolean();
    if (node.constant) return;
    const Json::Object* object = json.as_object();
    if (object == nullptr) {
      fail(place, "", "must be an object, true or false");
      return;
    }
    if (!fill_references(*object, node, place)) return;
    if (place.dialect.draft_07 && node.reference != nullptr) return;
    if (place.dialect.validation) {
      fill_any(*object, node, place) && fill_numbers(*object, node, place) &&
          fill_strings(*object, node, place) && fill_array_limits(*object, node, place) &&
          fill_object_limits(*object, node, place);
    }
    fill_format(*object, node, place);
    if (place.dialect.applicator) {
      fill_items(*object, node, place) && fill_properties(*object, node, place) &&
          fill_dependencies(*object, node, place) && fill_alternatives(*object, node, place);
    }
    if (place.dialect.unevaluated && !place.dialect.draft_07) {
      node.unevaluated_items = optional_child(*object, place, "unevaluatedItems");
      node.unevaluated_properties = optional_child(*object, place, "unevaluatedProperties");
    }
  }

  bool fill_references(const Json::Object& object, Node& node, const Place& place) {
    for (const std::string_view keyword : {"$ref", "$dynamicRef"}) {
      const Json* reference = object.find(keyword);
      if (reference == nullptr || (keyword == "$dynamicRef" && place.dialect.draft_07)) continue;
      const std::string* text = reference->as_string();
      if (text == nullptr) return fail(place, keyword, "must be a string");
      std::optional<Target> target = resolve(*text, place, keyword);
      if (!target) return false;
      const Node* resolved = node_for(target->json, target->place);
      if (keyword == "$ref") {
        node.reference = resolved;
      } else {
        const std::string anchor = target->dynamic_anchor ? split_fragment(*text).fragment : std::string();
        node.dynamic_reference = DynamicReference{resolved, anchor};
      }
    }
    return true;
  }

  const Node* optional_child(const Json::Object& object, const Place& place, std::string_view keyword) {
    const Json* value = object.find(keyword);
    return value != nullptr ? child(*value, place, {keyword}) : nullptr;
  }

  // ---- Assertions on any value

  bool fill_any(const Json::Object& object, Node& node, const Place& place) {
    if (const Json* type = object.find("type")) {
      if (!read_types(*type, node))
        return fail(place, "type", "must be the name of a type, or an array of such names");
    }
    if (const Json* values = object.find("enum")) {
      const JsonArray* array = values->as_array();
      if (array == nullptr) return fail(place, "enum", "must be an array");
      node.allowed = Allowed{{}, false, count_values(*values)};
      for (const Json& value : *array) node.allowed->values.push_back(&value);
    }
    if (const Json* value = object.find("const"); value != nullptr && !node.allowed) {
      node.allowed = Allowed{{value}, true, count_values(*value)};
    } else if (value != nullptr) {  // both: what remains of the enum
      std::erase_if(node.allowed->values, [value](const Json* one) { return *one != *value; });
    }
    return true;
  }

  static bool read_types(const Json& type, Node& node) {
    node.types = TypeSet{0};
    const auto add = [&node](const Json& name) {
      const std::string* text = name.as_string();
      const std::optional<TypeSet> known = text != nullptr ? type_named(*text) : std::nullopt;
      if (known) node.types = static_cast<TypeSet>(*node.types | *known);
      return known.has_value();
    };
    const JsonArray* names = type.as_array();
    return names != nullptr ? std::all_of(names->begin(), names->end(), add) : add(type);
  }

  // ---- Numbers and strings

  bool fill_numbers(const Json::Object& object, Node& node, const Place& place) {
    const std::pair<std::string_view, std::optional<NumberLimit> NumberRules::*> limits[] = {
        {"minimum", &NumberRules::minimum},
        {"maximum", &NumberRules::maximum},
        {"exclusiveMinimum", &NumberRules::exclusive_minimum},
        {"exclusiveMaximum", &NumberRules::exclusive_maximum},
        {"multipleOf", &NumberRules::multiple_of}};
    for (const auto& [keyword, member] : limits) {
      const Json* value = object.find(keyword);
      if (value == nullptr) continue;
      if (!value->is_number()) return fail(place, keyword, "must be a number");
      NumberLimit limit{decimal_of(*value), write(*value)};
      if (keyword == "multipleOf" &&
          (limit.value.is_zero() || limit.value.negative || limit.value.digits.size() > 19)) {
        return fail(place, keyword, "must be above zero and have at most 19 digits");
      }
      if (!node.number) node.number = std::make_unique<NumberRules>();
      node.number.get()->*member = std::move(limit);
    }
    return true;
  }

  bool fill_strings(const Json::Object& object, Node& node, const Place& place) {
    StringRules rules;
    if (!read_count(object, place, "minLength", rules.length_min)) return false;
    if (!read_count(object, place, "maxLength", rules.length_max)) return false;
    if (const Json* pattern = object.find("pattern")) {
      std::optional<Pattern> compiled = read_pattern(*pattern, place, "pattern");
      if (!compiled) return false;
      rules.pattern = std::move(*compiled);
      rules.pattern_text = *pattern->as_string();
    }
    if (rules.length_min || rules.length_max || rules.pattern) {
      node.string = std::make_unique<StringRules>(std::move(rules));
    }
    return true;
  }

  void fill_format(const Json::Object& object, Node& node, const Place& place) {
    if (!options_.assert_formats && !place.dialect.format_assertion) return;
    const Json* format = object.find("format");
    const std::string* name = format != nullptr ? format->as_string() : nullptr;
    const std::optional<Format> known = name != nullptr ? format_of(*name) : std::nullopt;
    if (!known) return;
    if (!node.string) node.string = std::make_unique<StringRules>();
    node.string->format = known;
  }

  std::optional<Pattern> read_pattern(const Json& expression, const Place& place, std::string_view keyword) {
    const std::string* text = expression.as_string();
    if (text == nullptr) {
      fail(place, keyword, "must be a string");
      return std::nullopt;
    }
    return compiled_pattern(*text, place, keyword);
  }

  std::optional<Pattern> compiled_pattern(const std::string& text, const Place& place,
                                          std::string_view keyword) {
    Result<Pattern> pattern = Pattern::compile(text);
    if (pattern) return std::move(pattern).value();
    std::string complaint = "is refused: " + pattern.error().message;
    complaint.pop_back();
    fail(place, keyword, complaint);
    return std::nullopt;
  }

  bool read_count(const Json::Object& object, const Place& place, std::string_view keyword,
                  std::optional<std::size_t>& count) {
    const Json* value = object.find(keyword);
    if (value == nullptr) return true;
    if (!value->is_integer() || decimal_of(*value).negative) {
      return fail(place, keyword, "must be an integer that is not negative");
    }
    count = value->as_uint64().value_or(std::numeric_limits<std::size_t>::max());
    return true;
  }

  // ---- Arrays

  bool fill_array_limits(const Json::Object& object, Node& node, const Place& place) {
    ArrayRules rules;
    if (!read_count(object, place, "minItems", rules.items_min)) return false;
    if (!read_count(object, place, "maxItems", rules.items_max)) return false;
    if (const Json* unique = object.find("uniqueItems")) {
      if (!unique->is_boolean()) return fail(place, "uniqueItems", "must be true or false");
      rules.unique = *unique->as_boolean();
    }
    if (rules.items_min || rules.items_max || rules.unique)
      node.array = std::make_unique<ArrayRules>(std::move(rules));
    return true;
  }

  bool fill_items(const Json::Object& object, Node& node, const Place& place) {
    const bool old = place.dialect.draft_07;
    const Json* items = object.find("items");
    const Json* prefix =
        old ? (items != nullptr && items->is_array() ? items : nullptr) : object.find("prefixItems");
    const Json* rest = prefix == items && prefix != nullptr ? object.find("additionalItems") : items;
    const Json* contains = object.find("contains");
    if (prefix == nullptr && rest == nullptr && contains == nullptr) return true;
    if (!node.array) node.array = std::make_unique<ArrayRules>();
    ArrayRules& rules = *node.array;
    rules.prefix_keyword = old ? "items" : "prefixItems";
    rules.rest_keyword = rest != items ? "additionalItems" : "items";
    if (prefix != nullptr && !read_list(*prefix, place, rules.prefix_keyword, rules.prefix)) return false;
    if (rest != nullptr) rules.rest = child(*rest, place, {rules.rest_keyword});
    if (contains == nullptr) return true;
    rules.contains = child(*contains, place, {"contains"});
    rules.contains_evaluates = !old;
    if (old || !place.dialect.validation) return true;
    std::optional<std::size_t> min;
    if (!read_count(object, place, "minContains", min)) return false;
    rules.contains_min = min.value_or(1);
    return read_count(object, place, "maxContains", rules.contains_max);
  }

  bool read_list(const Json& value, const Place& place, std::string_view keyword,
                 std::vector<const Node*>& nodes) {
    const JsonArray* array = value.as_array();
    if (array == nullptr) return fail(place, keyword, "must be an array");
    for (std::size_t i = 0; i < array->size(); ++i) {
      nodes.push_back(child((*array)[i], place, {keyword, std::to_string(i)}));
    }
    return true;
  }

  // ---- Objects

  bool fill_object_limits(const Json::Object& object, Node& node, const Place& place) {
    ObjectRules rules;
    if (!read_count(object, place, "minProperties", rules.members_min)) return false;
    if (!read_count(object, place, "maxProperties", rules.members_max)) return false;
    if (const Json* required = object.find("required")) {
      if (!read_names(*required, rules.required)) return fail(place, "required", "must be an array of names");
    }
    const Json* dependent = place.dialect.draft_07 ? nullptr : object.find("dependentRequired");
    if (dependent != nullptr) {
      if (!dependent->is_object()) return fail(place, "dependentRequired", "must be an object");
      for (const auto& [name, names] : *dependent->as_object()) {
        if (!read_names(names, rules.dependent_required[name])) {
          return fail(place, "dependentRequired", "must hold arrays of names");
        }
      }
    }
    const bool asks = rules.members_min || rules.members_max || !rules.required.empty() ||
                      !rules.dependent_required.empty();
    if (asks) node.object = std::make_unique<ObjectRules>(std::move(rules));
    return true;
  }

  static bool read_names(const Json& value, std::vector<std::string>& names) {
    const JsonArray* array = value.as_array();
    return array != nullptr && std::all_of(array->begin(), array->end(), [&names](const Json& name) {
             if (name.is_string()) names.push_back(*name.as_string());
             return name.is_string();
           });
  }

  static ObjectRules& object_rules(Node& node) {
    if (!node.object) node.object = std::make_unique<ObjectRules>();
    return *node.object;
  }

  bool read_named(const Json& value, const Place& place, std::string_view keyword,
                  std::map<std::string, const Node*, std::less<>>& nodes) {
    if (!value.is_object()) return fail(place, keyword, "must be an object");
    for (const auto& [name, schema] : *value.as_object())
      nodes.emplace(name, child(schema, place, {keyword, name}));
    return true;
  }

  bool fill_properties(const Json::Object& object, Node& node, const Place& place) {
    if (const Json* properties = object.find("properties")) {
      if (!read_named(*properties, place, "properties", object_rules(node).properties)) return false;
    }
    if (const Json* patterns = object.find("patternProperties")) {
      if (!patterns->is_object()) return fail(place, "patternProperties", "must be an object");
      for (const auto& [expression, schema] : *patterns->as_object()) {
        std::optional<Pattern> pattern = compiled_pattern(expression, place, "patternProperties");
        if (!pattern) return false;
        const Node* matched = child(schema, place, {"patternProperties", expression});
        object_rules(node).pattern_properties.emplace_back(std::move(*pattern), matched);
      }
    }
    if (const Node* additional = optional_child(object, place, "additionalProperties")) {
      object_rules(node).additional = additional;
    }
    if (const Node* names = optional_child(object, place, "propertyNames")) object_rules(node).names = names;
    return true;
  }

  bool fill_dependencies(const Json::Object& object, Node& node, const Place& place) {
    const std::string_view keyword = place.dialect.draft_07 ? "dependencies" : "dependentSchemas";
    const Json* dependencies = object.find(keyword);
    if (dependencies == nullptr) return true;
    if (!dependencies->is_object()) return fail(place, keyword, "must be an object");
    ObjectRules& rules = object_rules(node);
    for (const auto& [name, dependency] : *dependencies->as_object()) {
      if (place.dialect.draft_07 && dependency.is_array()) {
        if (!read_names(dependency, rules.dependent_required[name])) {
          return fail(place, keyword, "must hold schemas or arrays of names");
        }
      } else {
        rules.dependent_schemas.emplace(name, child(dependency, place, {keyword, name}));
      }
    }
    return true;
  }

  // ---- Schemas on the same value

  bool fill_alternatives(const Json::Object& object, Node& node, const Place& place) {
    Alternatives rules;
    const std::pair<std::string_view, std::vector<const Node*> Alternatives::*> lists[] = {
        {"allOf", &Alternatives::all_of}, {"anyOf", &Alternatives::any_of}, {"oneOf", &Alternatives::one_of}};
    bool asks = false;
    for (const auto& [keyword, member] : lists) {
      const Json* list = object.find(keyword);
      if (list == nullptr) continue;
      if (!read_list(*list, place, keyword, rules.*member)) return false;
      asks = true;
    }
    rules.negated = optional_child(object, place, "not");
    rules.condition = optional_child(object, place, "if");
    if (rules.condition != nullptr) {
      rules.then_node = optional_child(object, place, "then");
      rules.else_node = optional_child(object, place, "else");
    }
    if (asks || rules.negated != nullptr || rules.condition != nullptr) {
      node.alternatives = std::make_unique<Alternatives>(std::move(rules));
    }
    return true;
  }

  Schema::Program& program_;
  const SchemaOptions& options_;
  std::string error_;
  std::map<std::string, const Json*> resources_;
  std::map<std::pair<Resource*, std::string>, Anchor> anchors_;
  std::unordered_map<const Json*, Place> places_;
  std::unordered_map<const Json*, Node*> nodes_;
  std::vector<Pending> pending_;
};

}  // namespace

Result<Schema> Schema::compile(const Json& schema, const SchemaOptions& options) {
  auto program = std::make_shared<Program>();
  program->depth_max = options.depth_max;
  program->steps_max = options.steps_max;
  const Result<void> compiled = Compiler(*program, options).compile(schema);
  if (!compiled) return failure(compiled.error());
  return Schema(std::move(program));
}

Result<void, Violation> Schema::validate(const Json& instance) const { return evaluate(*program_, instance); }

}  // namespace signet::json
