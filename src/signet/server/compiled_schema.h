// A JSON Schema, compiled once and used for every call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <signet/base/result.h>
#include <signet/json/value.h>

namespace signet::detail {

// Whether `format` refuses (forms), or is an annotation only (tools), as JSON Schema has it.
enum class Formats : std::uint8_t { annotated, asserted };

// Thread-safe.
class CompiledSchema {
 public:
  // The schema, or why it is none (its dialect, its shape).
  static Result<std::shared_ptr<const CompiledSchema>> compile(const Json& schema, Formats formats);

  // Where and why the value does not fit, in one sentence that repeats nothing of the value; nothing where it fits.
  std::optional<std::string> check(const Json& value) const;

  ~CompiledSchema();

 private:
  struct Impl;
  explicit CompiledSchema(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace signet::detail
