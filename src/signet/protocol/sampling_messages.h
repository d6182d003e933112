// The conversation that a sampling request shows to the model (client, sampling).
#pragma once

#include <optional>
#include <string>

#include <signet/json/value.h>

namespace signet::protocol {

// Why `messages` is no conversation that may be sampled, in one sentence that repeats nothing of it; or nothing. Every
// message has a role and content (B27); the uses of tools in an assistant's message are answered, each once and all of them,
// by the results in the next message, and such a message holds nothing but results (B26).
std::optional<std::string> sampling_messages_fault(const Json& messages);

}  // namespace signet::protocol
