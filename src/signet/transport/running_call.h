// One request being served, and the requests we have put to a peer: what both servers share. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/one_shot.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/service.h>

namespace signet::transport {

// Requests of the handshake revisions that wait for the peer's response. Used on one executor.
class OutgoingRequests {
 public:
  // Files `answer` under a fresh id.
  Json add(OneShot<Reply> answer);
  void remove(const Json& id);
  // Hands the response to whoever waits for it; false if nobody does.
  bool resolve(protocol::Response response);

 private:
  std::int64_t next_ = 1;
  std::map<std::string, OneShot<Reply>> waiting_;
};

// Asks the peer and waits. `send` takes the line and says whether it could be sent. Dropping the task withdraws the
// question. All by value or shared: the task may outlive the call.
Task<Reply> ask_peer(std::shared_ptr<OutgoingRequests> table, std::function<bool(std::string line)> send,
                     std::string method, Json params);

// A call into the service from its start to its reply or cancellation. The outlet is kept alive as long as the
// task. Used on the executor; destroyed there, or after the loop has ended.
class RunningCall {
 public:
  using Header = std::function<std::optional<std::string>(std::string_view name)>;

  RunningCall(Service& service, Executor& executor, std::shared_ptr<Outlet> outlet, Principal principal,
              Session* session, Header header);
  // Fires the stop token and drops the task, at once: never from inside the task.
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  // `done` is called once with the reply, unless the call is cancelled before. It may destroy this.
  void start(Request request, std::function<void(Reply)> done);

  // Whether the service wants to go on though nobody waits for the reply (Exchange::runs_to_end).
  bool runs_to_end() const;
  void request_stop();

  // Fires the stop token and drops the task, soon: may be called from inside the task, and from `done`.
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// For Service::notify: an exchange whose outlet goes nowhere.
void pass_notification(Service& service, Executor& executor, const Principal& principal, Session* session,
                       Notification notification);

}  // namespace signet::transport
