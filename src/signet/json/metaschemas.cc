// Schemas of schemas: what draft 2020-12 and draft-07 demand of each keyword, in one document each, without titles and
// other annotations.
#include <signet/json/schema_program.h>
#include <signet/json/text.h>

namespace signet::json {
namespace {

constexpr std::string_view text_2020_12 = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://json-schema.org/draft/2020-12/schema",
  "$dynamicAnchor": "meta",
  "type": ["object", "boolean"],
  "properties": {
    "$id": {"$ref": "#/$defs/uri_reference", "pattern": "^[^#]*#?$"},
    "$schema": {"type": "string", "format": "uri"},
    "$ref": {"$ref": "#/$defs/uri_reference"},
    "$dynamicRef": {"$ref": "#/$defs/uri_reference"},
    "$anchor": {"$ref": "#/$defs/anchor"},
    "$dynamicAnchor": {"$ref": "#/$defs/anchor"},
    "$vocabulary": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "$comment": {"type": "string"},
    "$defs": {"$ref": "#/$defs/named"},
    "definitions": {"$ref": "#/$defs/named"},
    "prefixItems": {"$ref": "#/$defs/list"},
    "items": {"$dynamicRef": "#meta"},
    "contains": {"$dynamicRef": "#meta"},
    "additionalProperties": {"$dynamicRef": "#meta"},
    "properties": {"$ref": "#/$defs/named"},
    "patternProperties": {"$ref": "#/$defs/named"},
    "dependentSchemas": {"$ref": "#/$defs/named"},
    "propertyNames": {"$dynamicRef": "#meta"},
    "if": {"$dynamicRef": "#meta"},
    "then": {"$dynamicRef": "#meta"},
    "else": {"$dynamicRef": "#meta"},
    "allOf": {"$ref": "#/$defs/list"},
    "anyOf": {"$ref": "#/$defs/list"},
    "oneOf": {"$ref": "#/$defs/list"},
    "not": {"$dynamicRef": "#meta"},
    "unevaluatedItems": {"$dynamicRef": "#meta"},
    "unevaluatedProperties": {"$dynamicRef": "#meta"},
    "type": {"anyOf": [{"$ref": "#/$defs/type"}, {"type": "array", "items": {"$ref": "#/$defs/type"}, "minItems": 1, "uniqueItems": true}]},
    "enum": {"type": "array"},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "maximum": {"type": "number"},
    "exclusiveMaximum": {"type": "number"},
    "minimum": {"type": "number"},
    "exclusiveMinimum": {"type": "number"},
    "maxLength": {"$ref": "#/$defs/count"},
    "minLength": {"$ref": "#/$defs/count"},
    "pattern": {"type": "string", "format": "regex"},
    "maxItems": {"$ref": "#/$defs/count"},
    "minItems": {"$ref": "#/$defs/count"},
    "uniqueItems": {"type": "boolean"},
    "maxContains": {"$ref": "#/$defs/count"},
    "minContains": {"$ref": "#/$defs/count"},
    "maxProperties": {"$ref": "#/$defs/count"},
    "minProperties": {"$ref": "#/$defs/count"},
    "required": {"$ref": "#/$defs/names"},
    "dependentRequired": {"type": "object", "additionalProperties": {"$ref": "#/$defs/names"}},
    "dependencies": {"type": "object", "additionalProperties": {"anyOf": [{"$dynamicRef": "#meta"}, {"$ref": "#/$defs/names"}]}},
    "title": {"type": "string"},
    "description": {"type": "string"},
    "deprecated": {"type": "boolean"},
    "readOnly": {"type": "boolean"},
    "writeOnly": {"type": "boolean"},
    "examples": {"type": "array"},
    "format": {"type": "string"},
    "contentEncoding": {"type": "string"},
    "contentMediaType": {"type": "string"},
    "contentSchema": {"$dynamicRef": "#meta"}
  },
  "$defs": {
    "uri_reference": {"type": "string", "format": "uri-reference"},
    "anchor": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
    "named": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}},
    "list": {"type": "array", "minItems": 1, "items": {"$dynamicRef": "#meta"}},
    "count": {"type": "integer", "minimum": 0},
    "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
    "type": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
  }
})";

constexpr std::string_view text_07 = R"({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "$id": "http://json-schema.org/draft-07/schema#",
  "type": ["object", "boolean"],
  "properties": {
    "$id": {"type": "string", "format": "uri-reference"},
    "$schema": {"type": "string", "format": "uri"},
    "$ref": {"type": "string", "format": "uri-reference"},
    "$comment": {"type": "string"},
    "title": {"type": "string"},
    "description": {"type": "string"},
    "readOnly": {"type": "boolean"},
    "examples": {"type": "array"},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "maximum": {"type": "number"},
    "exclusiveMaximum": {"type": "number"},
    "minimum": {"type": "number"},
    "exclusiveMinimum": {"type": "number"},
    "maxLength": {"$ref": "#/definitions/count"},
    "minLength": {"$ref": "#/definitions/count"},
    "pattern": {"type": "string", "format": "regex"},
    "additionalItems": {"$ref": "#"},
    "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/list"}]},
    "maxItems": {"$ref": "#/definitions/count"},
    "minItems": {"$ref": "#/definitions/count"},
    "uniqueItems": {"type": "boolean"},
    "contains": {"$ref": "#"},
    "maxProperties": {"$ref": "#/definitions/count"},
    "minProperties": {"$ref": "#/definitions/count"},
    "required": {"$ref": "#/definitions/names"},
    "additionalProperties": {"$ref": "#"},
    "definitions": {"$ref": "#/definitions/named"},
    "properties": {"$ref": "#/definitions/named"},
    "patternProperties": {"$ref": "#/definitions/named"},
    "dependencies": {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/names"}]}},
    "propertyNames": {"$ref": "#"},
    "enum": {"type": "array"},
    "type": {"anyOf": [{"$ref": "#/definitions/type"}, {"type": "array", "items": {"$ref": "#/definitions/type"}, "minItems": 1, "uniqueItems": true}]},
    "format": {"type": "string"},
    "contentMediaType": {"type": "string"},
    "contentEncoding": {"type": "string"},
    "if": {"$ref": "#"},
    "then": {"$ref": "#"},
    "else": {"$ref": "#"},
    "allOf": {"$ref": "#/definitions/list"},
    "anyOf": {"$ref": "#/definitions/list"},
    "oneOf": {"$ref": "#/definitions/list"},
    "not": {"$ref": "#"}
  },
  "definitions": {
    "named": {"type": "object", "additionalProperties": {"$ref": "#"}},
    "list": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
    "count": {"type": "integer", "minimum": 0},
    "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
    "type": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
  }
})";

}  // namespace

const Json* metaschema(std::string_view uri) {
  static const Json draft_2020_12 = parse(text_2020_12).value();
  static const Json draft_07 = parse(text_07).value();
  if (uri == "https://json-schema.org/draft/2020-12/schema") return &draft_2020_12;
  if (uri == "http://json-schema.org/draft-07/schema") return &draft_07;
  return nullptr;
}

}  // namespace signet::json
