// Regular expressions of schemas: the syntax of ECMA-262, matched in linear time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <signet/base/result.h>

namespace signet::json {

// Immutable, cheap to copy; matching is thread-safe.
class Pattern {
 public:
  // Refused, with one sentence: what is no expression, what takes more than linear time (lookaround, back-references),
  // what is longer than 4096 bytes or needs more than 1 MiB of memory.
  static Result<Pattern> compile(std::string_view expression);

  // Whether the expression matches anywhere in the UTF-8 text. Time is linear in it.
  bool matches(std::string_view text) const;

 private:
  struct Program;
  explicit Pattern(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace signet::json
