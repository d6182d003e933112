// What the parts of the HTTP server say to one another. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/principal.h>

namespace signet::transport {

// A request as it was read. Immutable; views live as long as the request.
class ServerRequest {
 public:
  ServerRequest() = default;
  ServerRequest(const ServerRequest&) = delete;
  ServerRequest& operator=(const ServerRequest&) = delete;
  virtual ~ServerRequest() = default;

  virtual std::string_view method() const = 0;
  virtual std::string_view target() const = 0;
  virtual std::string_view body() const = 0;
  virtual std::size_t header_count(std::string_view name) const = 0;
  // The value, blanks cut; nothing unless the header is there exactly once.
  virtual std::optional<std::string_view> header(std::string_view name) const = 0;

  // A header whose name begins so (without case) and that is there more than once, or nothing.
  virtual std::optional<std::string_view> doubled(std::string_view prefix) const = 0;

  // The values of a header that holds a list, however many lines it came in; nothing if there is none.
  virtual std::optional<std::string> list(std::string_view name) const = 0;

  std::string peer_address;
  bool secure = false;
  std::optional<Principal> principal;  // where RequestHandler::admit has found out who it is
};

// Additional header fields of a response. Names and values are ours: no bytes of a client.
using Fields = std::vector<std::pair<std::string_view, std::string>>;

// The way to answer one request: either respond(), or open_stream(), write() any number of times and end_stream(). On the
// loop's thread. Once the answer is complete or the client has gone, calls do nothing.
class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  // `content_type` empty: no body.
  virtual void respond(int status, std::string_view content_type, std::string_view body,
                       const Fields& fields) = 0;
  virtual void open_stream(const Fields& fields) = 0;
  // One or more whole events. A reader that lags too far behind is cut off: `gone` is called from inside.
  virtual void write(std::string_view events) = 0;
  virtual void end_stream() = 0;
  // Whether a reader lags so far behind that whoever can wait should.
  virtual bool is_behind() const { return false; }

  // Called once if the client goes before the answer is complete.
  std::function<void()> gone;
};

class RequestHandler {
 public:
  RequestHandler() = default;
  RequestHandler(const RequestHandler&) = delete;
  RequestHandler& operator=(const RequestHandler&) = delete;
  virtual ~RequestHandler() = default;
  virtual void handle(std::shared_ptr<const ServerRequest> request, std::shared_ptr<Responder> responder) = 0;

  // Who sends a request whose body has not arrived: `admitted` is called with them, maybe from inside, and the body is read; or
  // the request is answered without it. Only where wants_heads(); a request that arrived whole goes to handle() at once.
  using Admitted = std::function<void(Principal)>;
  virtual bool wants_heads() const { return false; }
  virtual void admit(std::shared_ptr<const ServerRequest> /*head*/, std::shared_ptr<Responder> /*responder*/,
                     Admitted admitted) {
    admitted(Principal());
  }
};

}  // namespace signet::transport
