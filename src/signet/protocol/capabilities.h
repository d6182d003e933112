// What the client can be asked, by its own word on this request.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <signet/json/value.h>
#include <signet/protocol/service.h>

namespace signet::protocol {

enum class Capability : std::uint8_t {
  elicitation_form,
  elicitation_url,
  sampling,
  sampling_tools,
  sampling_context,
  roots,
};

// A view of a ClientCapabilities object; borrows it. Unknown members are tolerated, members that are no objects
// count as absent. `elicitation: {}` means form mode only (C42).
class ClientCapabilities {
 public:
  explicit ClientCapabilities(const Json& declared) : declared_(declared) {}

  bool has(Capability capability) const;
  bool has_extension(std::string_view id) const;
  // The extension's settings object, or null. Borrowed.
  const Json* extension(std::string_view id) const;

 private:
  const Json& declared_;
};

// Whether the members that the schema knows (elicitation, sampling, roots, experimental, extensions) and theirs are
// objects, as it says they are. Unknown members may be anything.
bool is_capabilities(const Json& declared);

// -32021 whose data.requiredCapabilities holds exactly those of `needed` that are not declared (S10), or nothing.
std::optional<Fault> missing_capabilities(const ClientCapabilities& declared,
                                          const std::vector<Capability>& needed);

// -32021 that names the extension.
Fault missing_extension(std::string_view id);

}  // namespace signet::protocol
