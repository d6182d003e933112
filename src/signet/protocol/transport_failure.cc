#include <signet/protocol/transport_failure.h>

#include <array>

namespace signet::protocol {
namespace {

using Kind = TransportFailure::Kind;

constexpr std::array<std::string_view, 10> names{"unreachable", "tls",          "http_status", "redirected",
                                                 "not_mcp",     "too_large",    "closed",      "timed_out",
                                                 "local",       "session_ended"};

std::string text_of(const Json& data, std::string_view name) {
  const std::string* text = data.find_string(name);
  return text != nullptr ? *text : std::string();
}

}  // namespace

std::string_view to_string(Kind kind) { return names[static_cast<std::size_t>(kind)]; }

Fault to_fault(const TransportFailure& failure) {
  Json data = Json::object({{"kind", static_cast<int>(failure.kind)},
                            {"mayHaveArrived", failure.may_have_arrived},
                            {"httpStatus", failure.http_status}});
  if (!failure.location.empty()) data.set("location", failure.location);
  if (!failure.challenge.empty()) data.set("challenge", failure.challenge);
  Fault fault(0, failure.message, std::move(data));
  fault.stage = Fault::Stage::transport;
  return fault;
}

std::optional<TransportFailure> transport_failure(const Fault& fault) {
  if (fault.stage != Fault::Stage::transport) return std::nullopt;
  const Json* kind = fault.data.find("kind");
  const Json* arrived = fault.data.find("mayHaveArrived");
  const Json* status = fault.data.find("httpStatus");
  TransportFailure failure(kind != nullptr ? static_cast<Kind>(kind->as_int64().value_or(0)) : Kind::closed,
                           fault.message, arrived == nullptr || arrived->as_boolean().value_or(true));
  if (status != nullptr) failure.http_status = static_cast<int>(status->as_int64().value_or(0));
  failure.location = text_of(fault.data, "location");
  failure.challenge = text_of(fault.data, "challenge");
  return failure;
}

}  // namespace signet::protocol
