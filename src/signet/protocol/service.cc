#include <signet/protocol/service.h>

#include <signet/protocol/errors.h>

namespace signet {

Task<Reply> Outlet::request(std::string method, Json) {
  co_return failure(Fault(protocol::method_not_found, "This peer takes no requests: " + method));
}

}  // namespace signet
