// The attacker is any peer: a client before authentication, or a server we talk to. Bytes become a message, the message
// is decided upon and written back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <signet/protocol/era.h>
#include <signet/protocol/header_codec.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/mirrored_headers.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace signet;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  protocol::Message message = protocol::read_message(text);
  if (auto* request = std::get_if<Request>(&message)) {
    const protocol::StandardHeaders headers;
    (void)protocol::decide_http_request(*request, headers, false);
    (void)protocol::decide_stdio_request(*request, true, false);
    (void)protocol::read_envelope(request->params);
    (void)protocol::mirrored_headers(request->params);
    const std::string line = protocol::write_request(request->id, request->method, request->params);
    if (line.find('\n') != std::string::npos) std::abort();
    const protocol::Message again = protocol::read_message(line);
    const auto* same = std::get_if<Request>(&again);
    if (same == nullptr || !(same->params == request->params)) std::abort();
  }
  if (const std::optional<std::string> value = protocol::decode_header_value(text)) {
    if (protocol::decode_header_value(protocol::encode_header_value(*value)) != value) std::abort();
  }
  return 0;
}
