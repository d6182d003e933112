// JSON Schema 2020-12, and draft-07 where a schema declares it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <signet/base/result.h>
#include <signet/json/value.h>

namespace signet::json {

struct SchemaOptions {
  // Whether `format` refuses a string that is no email, uri, date or date-time (elicitation). Otherwise, and for all
  // other formats, it is an annotation, as the specification has it.
  bool assert_formats = false;
  // What $ref may lead to besides the schema itself, by URI. Nothing is ever fetched.
  std::map<std::string, Json, std::less<>> documents;
  // Of one schema with all that it refers to.
  std::size_t subschemas_max = 10'000;
  // Of one validation: schemas applied inside one another ($ref counts), and elementary checks.
  std::size_t depth_max = 512;
  std::size_t steps_max = 2'000'000;
};

// The first thing that does not fit.
struct Violation {
  std::string instance;  // JSON Pointer to the value
  std::string
      keyword;  // where in the schema: a JSON Pointer, behind a URI and '#' where it is another document
  std::string message;  // one sentence for a person; names of members, but nothing else of the instance
  bool limit = false;   // not judged: depth_max or steps_max was reached
};

// A compiled schema. Immutable and cheap to copy; validation is thread-safe.
class Schema {
 public:
  // Refused, with one sentence naming the place: malformed keywords, unknown dialects and required vocabularies, a
  // $ref to what is neither in the schema nor in `documents`, patterns that cannot be matched in linear time, and
  // what is beyond the limits. Keeps its own copy of the schema. Unknown keywords are ignored.
  static Result<Schema> compile(const Json& schema, const SchemaOptions& options = SchemaOptions());

  // Work is bounded by steps_max, recursion by depth_max.
  Result<void, Violation> validate(const Json& instance) const;

  struct Program;

 private:
  explicit Schema(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace signet::json
