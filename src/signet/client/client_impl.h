// The parts of Client. Internal.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <signet/base/one_shot.h>
#include <signet/client/client.h>
#include <signet/client/input.h>
#include <signet/json/schema.h>

namespace signet {

enum class Ended : std::uint8_t { replied, timed_out, cancelled };

// One call with all its rounds: its options, the time it has left, and what it says to its callbacks.
class CallState : public std::enable_shared_from_this<CallState> {
 public:
  CallState(Executor& executor, const Clock& clock, CallOptions call_options,
            std::chrono::milliseconds allowed)
      : options(std::move(call_options)), executor_(executor), clock_(clock), allowed_(allowed) {}

  // Counts the time from now on, and sets `ended` when it is over. Time between asking_begins and asking_ends is not
  // counted: a person thinks.
  void start_clock(const OneShot<Ended>& ended);
  void stop_clock();
  void asking_begins();
  void asking_ends();
  bool out_of_time() const { return allowed_.count() != 0 && used_ >= allowed_; }

  CallOptions options;
  std::string method;
  std::string target;
  int round = 1;
  bool declares_without_handlers = false;  // call_once: forms and URLs are answered elsewhere
  std::string progress_key;                // id_key of the token of the request on its way
  std::shared_ptr<Session> session;        // that the last request went to; null with 2026-07-28
  std::function<void(const Notification&)> on_event;
  std::function<void()> on_session_lost;  // of a subscription on a session

 private:
  void arm();

  Executor& executor_;
  const Clock& clock_;
  std::chrono::milliseconds allowed_;
  std::chrono::milliseconds used_{0};
  Timestamp since_;
  int asking_ = 0;
  bool running_ = false;
  OneShot<Ended> ended_;
  std::shared_ptr<void> timer_;
};
using CallPtr = std::shared_ptr<CallState>;

struct ClientImpl : std::enable_shared_from_this<ClientImpl> {
  ClientImpl(Service& to, Executor& on, ClientOptions wanted)
      : service(to), executor(on), options(std::move(wanted)) {}

  CallPtr begin(std::string_view method, const Json& params, CallOptions call_options);

  // driver.cc: one call
  Task<Called<Json>> run(std::string method, Json params, CallOptions call_options);
  Task<Called<Json>> drive(std::string method, Json params, CallPtr call);
  Task<Called<Step>> step(Continuation from, Json responses, CallPtr call);
  Task<Called<Json>> ask(std::vector<Question> questions, CallPtr call);
  Task<Called<Json>> send(std::string method, Json params, CallPtr call);
  Task<Called<Json>> send_now(std::string method, Json params, CallPtr call);
  Task<Called<Json>> exchange(std::string method, Json params, CallPtr call);
  Task<Called<void>> pause(std::chrono::milliseconds delay, CallPtr call);
  Called<std::vector<Question>> prepare_questions(const Json& requests, const CallState& call,
                                                  int round) const;
  std::optional<CallError> cannot_answer(const Question& question, const CallState& call) const;
  const QuestionHandler& handler_of(Question::Kind kind) const;
  Task<Reply> answer_request(std::string method, Json params, CallPtr call);
  Task<Called<Json>> answer_of(Question question);
  void take_notification(Notification notification, CallState* call);
  Json capabilities(bool modern, bool without_handlers) const;
  Json enveloped(Json params, const CallState& call) const;

  // follow_task.cc: calls that go on after their reply
  bool follows_tasks(const CallState& call) const;
  Task<Called<Json>> follow_task(Json created, CallPtr call);
  Task<Called<Json>> poll_task(Json task, std::string task_id, CallPtr call);
  Task<Called<void>> answer_task(Json task, std::string task_id, std::set<std::string>& answered,
                                 CallPtr call);

  // discovery.cc: which revision
  // `stop` ends an attempt of this caller's own; who waits for it then makes another.
  Task<Called<void>> ensure_connected(std::stop_token stop);
  Task<Called<void>> discover(std::stop_token stop);
  // True: modern; false: try initialize.
  Task<Called<bool>> probe(std::string version, std::stop_token stop);
  Task<Called<void>> initialize(std::stop_token stop);
  CallPtr connecting_call(std::stop_token stop, std::chrono::milliseconds allowed) const;
  Task<void> set_log_level();
  void forget_session(const std::shared_ptr<Session>& gone);

  // client.cc: methods
  Task<Called<Json>> listen(ListenFilter filter, CallPtr call);
  Task<Called<Json>> listen_on_session(ListenFilter filter, CallPtr call);
  Task<Called<std::vector<Json>>> list(std::string method, std::string member, CallOptions call_options);
  void learn_tools(const std::vector<Json>& tools);
  Called<void> check_output(std::string_view tool, const Json& result) const;
  void log_connected() const;
  void log_round(const Continuation& at) const;
  void log(LogLevel level, std::string_view event, std::string_view name, std::string value) const {
    if (options.log) options.log(level, event, {{name, std::move(value)}});
  }

  // A run of discovery that others wait for.
  struct Attempt {
    bool finished = false;
    std::optional<CallError> error;
    std::vector<OneShot<int>> waiting;
  };

  Service& service;
  Executor& executor;
  ClientOptions options;
  bool connected = false;
  ServerDescription server;
  std::shared_ptr<Attempt> attempt;
  std::unique_ptr<Outlet> session_outlet;
  std::shared_ptr<Session> session;  // of a handshake revision
  bool session_lost = false;         // the next attempt to connect begins with `initialize`
  std::int64_t next_id = 1;
  std::map<std::string, Result<json::Schema>, std::less<>> output_schemas;  // or why they cannot be used
  std::vector<CallState*> active;                                           // calls whose time runs
  std::vector<CallState*> listeners;                                        // of a session's notifications
};

}  // namespace signet
