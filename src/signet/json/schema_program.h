// What a schema is compiled to. Shared by schema_compile.cc, which makes it, and schema_evaluate.cc, which runs it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/json/format.h>
#include <signet/json/number.h>
#include <signet/json/pattern.h>
#include <signet/json/schema.h>

namespace signet::json {

// Bits of a set of types. A number without a fraction is both an integer and a number.
enum Type : std::uint8_t {
  type_null = 1,
  type_boolean = 2,
  type_integer = 4,
  type_number = 8,
  type_string = 16,
  type_array = 32,
  type_object = 64,
};
using TypeSet = std::uint8_t;

struct Node;

// A schema with a URI of its own, and what it adds to the dynamic scope.
struct Resource {
  std::string uri;
  std::map<std::string, const Node*, std::less<>> dynamic_anchors;
};

// A limit, as text for sentences and as number for comparisons.
struct NumberLimit {
  Decimal value;
  std::string text;
};

struct NumberRules {
  std::optional<NumberLimit> minimum;
  std::optional<NumberLimit> maximum;
  std::optional<NumberLimit> exclusive_minimum;
  std::optional<NumberLimit> exclusive_maximum;
  std::optional<NumberLimit> multiple_of;
};

struct StringRules {
  std::optional<std::size_t> length_min;
  std::optional<std::size_t> length_max;
  std::optional<Pattern> pattern;
  std::string pattern_text;
  std::optional<Format> format;
};

struct ArrayRules {
  std::optional<std::size_t> items_min;
  std::optional<std::size_t> items_max;
  bool unique = false;
  std::vector<const Node*> prefix;
  std::string_view prefix_keyword;
  const Node* rest = nullptr;  // the elements behind the prefix
  std::string_view rest_keyword;
  const Node* contains = nullptr;
  std::size_t contains_min = 1;
  std::optional<std::size_t> contains_max;
  bool contains_evaluates = true;  // not in draft-07
};

struct ObjectRules {
  std::optional<std::size_t> members_min;
  std::optional<std::size_t> members_max;
  std::vector<std::string> required;
  std::map<std::string, std::vector<std::string>, std::less<>> dependent_required;
  std::map<std::string, const Node*, std::less<>> dependent_schemas;
  std::map<std::string, const Node*, std::less<>> properties;
  std::vector<std::pair<Pattern, const Node*>> pattern_properties;
  const Node* additional = nullptr;
  const Node* names = nullptr;
};

struct Alternatives {
  std::vector<const Node*> all_of;
  std::vector<const Node*> any_of;
  std::vector<const Node*> one_of;
  const Node* negated = nullptr;
  const Node* condition = nullptr;
  const Node* then_node = nullptr;
  const Node* else_node = nullptr;
};

struct DynamicReference {
  const Node* initial = nullptr;
  std::string anchor;  // empty: as a plain reference
};

struct Allowed {
  std::vector<const Json*> values;
  bool is_const = false;
  std::size_t weight = 0;  // what comparing costs
};

// One subschema. Absent groups ask nothing.
struct Node {
  const Resource* resource = nullptr;
  std::string location;          // as in Violation::keyword
  std::optional<bool> constant;  // true and false as schemas
  std::optional<TypeSet> types;
  std::optional<Allowed> allowed;
  std::unique_ptr<NumberRules> number;
  std::unique_ptr<StringRules> string;
  std::unique_ptr<ArrayRules> array;
  std::unique_ptr<ObjectRules> object;
  std::unique_ptr<Alternatives> alternatives;
  const Node* reference = nullptr;
  std::optional<DynamicReference> dynamic_reference;
  const Node* unevaluated_items = nullptr;
  const Node* unevaluated_properties = nullptr;
};

// Addresses of everything in the deques are stable.
struct Schema::Program {
  std::deque<Json> documents;
  std::deque<Resource> resources;
  std::deque<Node> nodes;
  const Node* root = nullptr;
  std::size_t depth_max = 0;
  std::size_t steps_max = 0;
};

// The documents that describe schemas, by URI without a fragment; null for others.
const Json* metaschema(std::string_view uri);

Result<void, Violation> evaluate(const Schema::Program& program, const Json& instance);

}  // namespace signet::json
