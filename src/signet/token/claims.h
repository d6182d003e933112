// What a sealed state is bound to, and why one may be refused.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/digest.h>
#include <signet/base/principal.h>

namespace signet::token {

// Why a state was not accepted: for the log and the metrics. The client is told one thing only.
enum class Refusal : std::uint8_t {
  malformed,
  too_large,
  unknown_key,
  key_retired,
  not_authentic,
  issued_in_future,
  expired,
  flow_expired,
  rounds_exceeded,
  other_method,
  other_target,
  other_arguments,
  other_audience,
  other_principal,
  other_version,
  already_used,
  unavailable,  // nothing is wrong with the state as far as we know: its key or its store is away
};
std::string_view to_string(Refusal refusal);

// A refusal with what the log may say of it.
struct Refused {
  Refusal reason = Refusal::malformed;
  std::string key_id;                            // empty where the token did not say
  std::optional<std::chrono::milliseconds> age;  // since it was issued, where it was authentic
};

// The request a state belongs to. Everything in it is verified when the state comes back. There is no default.
struct Binding {
  std::string method;    // as in the request: tools/call, prompts/get, resources/read
  std::string target;    // from the method's own field: name, or uri
  Digest arguments{};    // SHA-256 of the canonical arguments
  std::string audience;  // which service; the same on every instance
  Principal principal;
  std::string protocol_version;
  // The request's whole params as JSON text, numbers as the client wrote them (1.0 is not 1). Read only where a format
  // of another system is configured (token/foreign.h), whose digest differs from ours; empty otherwise.
  std::string params_json;
};

using FlowId = std::array<std::uint8_t, 16>;
using TokenId = std::array<std::uint8_t, 24>;

// The exchange of rounds that a state continues: from the first question to the last answer.
struct Flow {
  FlowId id{};
  std::uint32_t round = 1;  // the number of the round that this state ends; the first is 1
  Timestamp deadline{};     // absolute; sealing again does not move it
};

}  // namespace signet::token
