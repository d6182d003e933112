// The client of an MCP server of any age.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/executor.h>
#include <signet/base/log.h>
#include <signet/client/continuation.h>
#include <signet/client/types.h>
#include <signet/protocol/service.h>

namespace signet {

struct ClientOptions {
  ClientOptions() = default;

  // Who we are, for the server's display (clientInfo).
  std::string name = "signet";
  std::string version = "0.1.0";

  // Each declares its capability with every request; without one, nothing of that kind may be asked, and a server that
  // does is refused without an answer (C41-C51).
  QuestionHandler on_form;
  QuestionHandler on_url;
  QuestionHandler on_sampling;  // deprecated by the specification
  QuestionHandler on_roots;     // deprecated by the specification
  bool sampling_tools = false;

  enum class Versions : std::uint8_t { automatic, modern_only, handshake_only };
  Versions versions = Versions::automatic;
  // How long the first question to an unknown server may go unanswered before `initialize` is tried.
  std::chrono::milliseconds probe_timeout{10'000};
  // Of one call with all its rounds, without the time people take to answer. Zero: none.
  std::chrono::milliseconds call_timeout{300'000};
  int rounds_max = 10;
  // Of one list: its pages, and the bytes of their JSON together.
  std::size_t pages_max = 1000;
  std::size_t list_bytes_max = std::size_t{64} << 20;
  bool validate_output = true;  // structured content against the output schemas of listed tools
  // Declares the tasks extension (SEP-2663): a tool may then answer with a task, which is polled at the interval the server
  // gives until it is over, its questions go to the handlers, and a call that is stopped or runs out of time cancels it.
  // `call_timeout` holds for all of it. A call whose Task is dropped leaves the server's task to itself.
  bool tasks = false;

  // The level from which the server is asked to send log messages; nothing means none.
  std::optional<std::string> log_level;
  std::function<void(const Json& params)> on_log;
  // Notifications that belong to no call, of handshake sessions.
  std::function<void(const Notification&)> on_notification;

  LogSink log;
  const Clock* clock = &system_clock();
};

// Calls a Service: an HTTP endpoint, a child process, a Server in the same program. Before the first call it finds out what
// the server speaks: the 2026-07-28 revision first, then `initialize` (versioning, transports; C12), and remembers.
//
// A result that asks for input is answered by the handlers and the call repeated, with a new id, the state byte for byte
// as it came and only where one came, and this round's answers alone (mrtr, C25-C29). Results with a state alone are repeated
// after 50 ms, doubling to 250. On sessions the same handlers answer the server's requests; a session that the server has
// forgotten (404) is begun anew, and the request, which it did not carry out, sent again.
//
// Threads: all tasks and callbacks run on the executor, where the tasks must be started (`wait` does); construction and
// destruction anywhere, while none of its tasks runs. Calls may run at the same time, without number. The service and the
// executor outlive the client; what the handlers refer to outlives the service.
class Client {
 public:
  Client(Service& service, Executor& executor, ClientOptions options = ClientOptions());
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Every call does this by itself where needed. Of the options, `stop` counts.
  Task<Called<ServerDescription>> connect(CallOptions options = CallOptions());

  // All pages. Tools whose x-mcp-header annotations are invalid are left out and named in the log (C21), and those without
  // a name.
  Task<Called<std::vector<ToolDescription>>> list_tools(CallOptions options = CallOptions());
  Task<Called<std::vector<PromptDescription>>> list_prompts(CallOptions options = CallOptions());
  Task<Called<std::vector<ResourceDescription>>> list_resources(CallOptions options = CallOptions());
  Task<Called<std::vector<ResourceDescription>>> list_resource_templates(CallOptions options = CallOptions());

  // `arguments` is an object, or null for none.
  Task<Called<ToolOutcome>> call_tool(std::string name, Json arguments, CallOptions options = CallOptions());
  Task<Called<PromptMessages>> get_prompt(std::string name, Json arguments,
                                          CallOptions options = CallOptions());
  Task<Called<ReadResourceResult>> read_resource(std::string uri, CallOptions options = CallOptions());
  // `reference` is {"type":"ref/prompt","name":...} or {"type":"ref/resource","uri":...}; `context` the arguments known
  // already, an object, or null.
  Task<Called<CompleteResult>> complete(Json reference, std::string argument, std::string value,
                                        Json context = Json(), CallOptions options = CallOptions());

  // Hands every notification that comes to `on_event`, the acknowledgement first, until the server ends the subscription
  // (its result comes back), the connection breaks, or the token stops it. No time limit. Does not subscribe again.
  Task<Called<Json>> listen(ListenFilter filter, std::function<void(const Notification&)> on_event,
                            CallOptions options = CallOptions());

  // Any method, with everything a call has; the result object comes back as it is.
  Task<Called<Json>> request(std::string method, Json params, CallOptions options = CallOptions());

  // For hosts whose window is not the process that called: one round. The questions come back with a continuation that this
  // or another process answers with `resume`, as often as it takes. Forms and URLs are declared, handlers are not used; on a
  // session, where questions cannot leave the connection, the handlers answer and the step is finished.
  Task<Called<Step>> call_once(std::string tool, Json arguments, CallOptions options = CallOptions());
  Task<Called<Step>> request_once(std::string method, Json params, CallOptions options = CallOptions());
  // Every question must have its answer.
  Task<Called<Step>> resume(Continuation continuation, Answers answers, CallOptions options = CallOptions());

 private:
  std::shared_ptr<struct ClientImpl> impl_;
};

}  // namespace signet
