#include <signet/server/compiled_schema.h>

#include <signet/json/schema.h>

#include <utility>

namespace signet::detail {

struct CompiledSchema::Impl {
  explicit Impl(json::Schema compiled) : schema(std::move(compiled)) {}
  json::Schema schema;
};

CompiledSchema::CompiledSchema(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
CompiledSchema::~CompiledSchema() = default;

Result<std::shared_ptr<const CompiledSchema>> CompiledSchema::compile(const Json& schema, Formats formats) {
  json::SchemaOptions options;
  options.assert_formats = formats == Formats::asserted;
  Result<json::Schema> compiled = json::Schema::compile(schema, options);
  if (!compiled.ok()) return failure(std::move(compiled.error()));
  return std::shared_ptr<const CompiledSchema>(
      new CompiledSchema(std::make_unique<const Impl>(std::move(*compiled))));
}

std::optional<std::string> CompiledSchema::check(const Json& value) const {
  const Result<void, json::Violation> fits = impl_->schema.validate(value);
  if (fits.ok()) return std::nullopt;
  const json::Violation& violation = fits.error();
  if (violation.instance.empty()) return violation.message;
  return violation.instance + ": " + violation.message;
}

}  // namespace signet::detail
