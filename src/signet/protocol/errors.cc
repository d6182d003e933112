#include <signet/protocol/errors.h>

namespace signet::protocol {

Fault invalid_request_state() {
  return Fault(invalid_params, "Invalid or expired requestState",
               Json::object({{"reason", "invalid_request_state"}}));
}

int http_status(const Fault& fault) {
  switch (fault.code) {
    case parse_error:
    case invalid_request:
    case header_mismatch:
    case missing_capability:
    case unsupported_version:
      return 400;
    case method_not_found:
      return 404;
    default:
      return fault.stage == Fault::Stage::envelope ? 400 : 200;
  }
}

}  // namespace signet::protocol
