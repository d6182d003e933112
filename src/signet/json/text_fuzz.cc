// The attacker writes the JSON text: whoever can reach a server's endpoint, or answers its client.
#include <signet/json/text.h>

#include <cstdlib>

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = signet::json;
  const auto value = json::parse({reinterpret_cast<const char*>(data), size});
  if (!value) {
    require(value.error().offset <= size && !json::describe(value.error()).empty());
    return 0;
  }
  const std::string text = json::write(*value);
  const auto again = json::parse(text);
  require(again.ok() && *again == *value && json::write(*again) == text);
  const std::string canonical = json::canonical(*value);
  const auto sorted = json::parse(canonical);
  // The canonical form moves the point, which can take a huge exponent over the reader's limit.
  if (!sorted) {
    require(sorted.error().kind == json::ParseError::Kind::too_long);
    return 0;
  }
  require(*sorted == *value && json::canonical(*sorted) == canonical);
  return 0;
}
