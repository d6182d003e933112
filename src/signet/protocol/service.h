// The one interface at which clients, servers, transports and guards meet.
//
// A request goes in with a sink for its notifications, a reply comes out. `Server` implements Service; a child
// process or an HTTP endpoint is a Service seen from the client. It does no I/O itself, so a program with its own event
// loop or HTTP server calls it directly.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <signet/base/executor.h>
#include <signet/base/principal.h>
#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/json/value.h>

namespace signet {

// JSON-RPC error object (basic, "Error responses"). `data` is null where there is none.
struct Fault {
  Fault(int error_code, std::string sentence, Json more = Json())
      : code(error_code), message(std::move(sentence)), data(std::move(more)) {}
  int code;
  std::string message;
  Json data;

  // Where the request was refused. On HTTP, `envelope` and `dispatch` refusals have an error status; what a
  // handler answers travels in a 200, except codes whose status the specification fixes (protocol/errors.h).
  // `transport` is never sent: the reply did not arrive, and the fault was made on this side
  // (protocol/transport_failure.h). A client's transport gives a refusal with an error status `envelope`.
  enum class Stage : std::uint8_t { envelope, dispatch, handler, transport };
  Stage stage = Stage::handler;
};

// `id` is an integer or a string, kept exactly as the peer wrote it. `params` is an object, or null when absent.
struct Request {
  Request(Json request_id, std::string method_name, Json parameters)
      : id(std::move(request_id)), method(std::move(method_name)), params(std::move(parameters)) {}
  Json id;
  std::string method;
  Json params;
};

struct Notification {
  Notification(std::string method_name, Json parameters)
      : method(std::move(method_name)), params(std::move(parameters)) {}
  std::string method;
  Json params;
};

// The `result` member of a response, or its error.
using Reply = Result<Json, Fault>;

// The way back to the peer while a request is being served. Belongs to the transport; used on the exchange's
// executor only.
class Outlet {
 public:
  Outlet() = default;
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;
  virtual ~Outlet() = default;

  // Sends a notification that belongs to this exchange, in order, before the reply. Bounded: a peer that does
  // not read loses the connection, not the server its memory.
  virtual void notify(Notification notification) = 0;

  // Whether so much of what was given to `notify` waits for the peer to read it that more should wait too. While it does,
  // plain functions wait before they tell more. An outlet that cannot know says no: then only its own bound stands
  // between a peer that reads slowly and the loss of its connection.
  virtual bool is_behind() const { return false; }

  // Handshake revisions (2025-11-25 and before) only: asks the peer and waits for its answer. With the
  // 2026-07-28 revision a server never sends requests, and this replies with -32601.
  virtual Task<Reply> request(std::string method, Json params);

  // 2025-11-25 over HTTP only, elsewhere nothing: closes the event stream of this exchange. What is sent afterwards,
  // the reply too, is kept for the client, which comes for it after `retry` (SSE polling).
  virtual void detach(std::chrono::milliseconds /*retry*/) {}
};

// A connection of the handshake revisions, from `initialize` to its end. Made by the transport (one per stdio
// process, or one per Mcp-Session-Id), filled in by the server while it answers `initialize`, and passed with every
// later request. Used on one executor.
struct Session {
  std::string protocol_version;          // negotiated
  Json client_info;                      // object
  Json client_capabilities;              // object
  std::optional<std::string> log_level;  // logging/setLevel
  Outlet* outlet = nullptr;  // outside any request: stdout, or the GET stream; null while there is none
  std::shared_ptr<void> server_state;  // what the server keeps per session (subscriptions)
};

// Everything around one request that is not in it. Lives until the reply is there or the task was dropped.
struct Exchange {
  Principal principal;
  Outlet* outlet = nullptr;      // never null
  Executor* executor = nullptr;  // never null; the task runs on it
  std::stop_token stop;          // fires when the client cancels or disconnects
  Session* session = nullptr;    // null with the 2026-07-28 revision
  // The value of an HTTP header of the request (names compared without case, surrounding blanks cut), or nothing;
  // an empty function where the transport has no headers.
  std::function<std::optional<std::string>(std::string_view name)> header;
  // Set by the service, on the executor, while it makes a reply that is kept for a client that comes back for it. A
  // transport whose client is gone or no longer wants the reply lets the task run to its end then, and sends nothing; it
  // may drop the task where too many run so, and when it ends itself.
  bool runs_to_end = false;
};

class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // Serves one request. Dropping the task cancels it: nothing more is sent for it. The exchange is borrowed
  // until then. Exceptions never leave.
  virtual Task<Reply> call(Request request, Exchange& exchange) = 0;

  // Takes a notification; there is no answer, whatever it holds.
  virtual void notify(Notification notification, Exchange& exchange) = 0;

  // Ends long-running streams (subscriptions/listen) with their regular result. Idempotent.
  virtual void shut_down() {}
};

}  // namespace signet
