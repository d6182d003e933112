// The attacker writes both the schema and the value: a server describes its tools to a client, and answers it; a
// client sends arguments. The input is a JSON array of the two.
#include <signet/json/schema.h>

#include <cstdlib>

#include <signet/json/text.h>

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = signet::json;
  const auto input = json::parse({reinterpret_cast<const char*>(data), size});
  if (!input || !input->is_array() || input->as_array()->size() != 2) return 0;
  const signet::JsonArray& pair = *input->as_array();
  json::SchemaOptions options;
  options.steps_max = 10'000;
  options.assert_formats = true;
  const auto schema = json::Schema::compile(pair[0], options);
  if (!schema) {
    require(!schema.error().message.empty());
    return 0;
  }
  const auto first = schema->validate(pair[1]);
  const auto second = schema->validate(pair[1]);
  require(first.ok() == second.ok());
  if (!first) require(!first.error().message.empty() && first.error().message == second.error().message);
  return 0;
}
