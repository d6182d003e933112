// One call: sending it, answering what the server asks, sending it again.
#include <signet/client/client_impl.h>

#include <algorithm>

#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/versions.h>

namespace signet {
namespace {

using namespace std::chrono_literals;
using client::InputNeeded;

constexpr auto back_off_first = 50ms;
constexpr auto back_off_max = 250ms;

CallError error(CallError::Kind kind, std::string sentence) { return CallError(kind, std::move(sentence)); }

CallError error_of(Fault fault) {
  std::optional<protocol::TransportFailure> transport = protocol::transport_failure(fault);
  CallError out(transport ? CallError::Kind::transport : CallError::Kind::refused,
                transport ? fault.message : "the server refused: " + client::quoted(fault.message));
  out.transport = std::move(transport);
  if (!out.transport) out.fault = std::move(fault);
  return out;
}

// What comes back while a request is on its way.
class CallOutlet final : public Outlet {
 public:
  CallOutlet(ClientImpl& client, CallPtr call) : client_(client), call_(std::move(call)) {}
  void notify(Notification notification) override {
    client_.take_notification(std::move(notification), call_.get());
  }
  Task<Reply> request(std::string method, Json params) override {
    return client_.answer_request(std::move(method), std::move(params), call_);
  }

 private:
  ClientImpl& client_;
  CallPtr call_;
};

// Time in which a person is asked.
class Asking {
 public:
  explicit Asking(std::vector<CallPtr> calls) : calls_(std::move(calls)) {
    for (const CallPtr& call : calls_) call->asking_begins();
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() {
    for (const CallPtr& call : calls_) call->asking_ends();
  }

 private:
  std::vector<CallPtr> calls_;
};

// Time that counts.
class Running {
 public:
  Running(ClientImpl& client, CallPtr call, const OneShot<Ended>& ended)
      : client_(client), call_(std::move(call)) {
    call_->start_clock(ended);
    client_.active.push_back(call_.get());
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    call_->stop_clock();
    std::erase(client_.active, call_.get());
  }

 private:
  ClientImpl& client_;
  CallPtr call_;
};

CallError ended_error(Ended why) {
  return why == Ended::timed_out ? error(CallError::Kind::timed_out, "the server took too long")
                                 : error(CallError::Kind::cancelled, "the call was cancelled");
}

// A revision that both speak, from the refusal of another one.
std::optional<std::string> version_offered(const CallError& refused) {
  if (!refused.fault || refused.fault->code != protocol::unsupported_version) return std::nullopt;
  const Json* supported = refused.fault->data.find("supported");
  if (supported == nullptr || !supported->is_array()) return std::nullopt;
  for (const std::string_view ours : protocol::modern_versions) {
    for (const Json& theirs : *supported->as_array()) {
      if (theirs == Json(ours)) return std::string(ours);
    }
  }
  return std::nullopt;
}

}  // namespace

CallPtr ClientImpl::begin(std::string_view method, const Json& params, CallOptions call_options) {
  const std::chrono::milliseconds allowed =
      call_options.timeout.count() != 0 ? call_options.timeout : options.call_timeout;
  auto call = std::make_shared<CallState>(executor, *options.clock, std::move(call_options), allowed);
  call->method = method;
  const std::string* name = params.find_string("name");
  const std::string* uri = params.find_string("uri");
  if (name != nullptr) call->target = *name;
  if (uri != nullptr) call->target = *uri;
  return call;
}

Task<Called<Json>> ClientImpl::run(std::string method, Json params, CallOptions call_options) {
  const CallPtr call = begin(method, params, std::move(call_options));
  const Task<Called<Json>> driving = drive(std::move(method), std::move(params), call);
  Called<Json> result = co_await driving;
  co_return result;
}

Task<Called<Json>> ClientImpl::drive(std::string method, Json params, CallPtr call) {
  Continuation at;
  at.method_ = std::move(method);
  at.params_ = std::move(params);
  Json responses;
  for (;;) {
    const Task<Called<Step>> stepping = step(std::move(at), std::move(responses), call);
    Called<Step> reached = co_await stepping;
    if (!reached) co_return failure(std::move(reached.error()));
    if (reached->finished) co_return std::move(reached->result);
    const Task<Called<Json>> asking = ask(std::move(reached->questions), call);
    Called<Json> answers = co_await asking;
    if (!answers) co_return answers;
    responses = std::move(*answers);
    at = std::move(reached->continuation);
  }
}

void ClientImpl::log_round(const Continuation& at) const {
  if (!options.log) return;
  const std::size_t asked = at.requests_.is_object() ? at.requests_.as_object()->size() : 0;
  options.log(LogLevel::debug, "input_required",
              {{"round", std::to_string(at.rounds_)},
               {"questions", std::to_string(asked)},
               {"state_bytes", std::to_string(at.state_ ? at.state_->size() : 0)}});
}

// Sends the request with these answers, until it is complete or there is something to ask.
Task<Called<Step>> ClientImpl::step(Continuation from, Json responses, CallPtr call) {
  const int rounds_max = call->options.rounds_max.value_or(options.rounds_max);
  std::chrono::milliseconds back_off = back_off_first;
  for (;;) {
    Json params = from.params_;
    if (!responses.is_null()) params.set("inputResponses", std::move(responses));
    if (from.state_) params.set("requestState", *from.state_);
    responses = Json();
    const Task<Called<Json>> sending = send(from.method_, std::move(params), call);
    Called<Json> result = co_await sending;
    if (!result) co_return failure(std::move(result.error()));
    Step reached;
    reached.finished = true;
    if (!server.modern) {
      reached.result = std::move(*result);
      co_return reached;
    }
    const std::string* type = result->find_string("resultType");
    if (type != nullptr && *type == "task" && from.method_ == "tools/call" && follows_tasks(*call)) {
      const Task<Called<Json>> following = follow_task(std::move(*result), call);
      Called<Json> outcome = co_await following;
      if (!outcome) co_return failure(std::move(outcome.error()));
      reached.result = std::move(*outcome);
      co_return reached;
    }
    Called<std::optional<InputNeeded>> needed = client::read_result(from.method_, *result);
    if (!needed) co_return failure(std::move(needed.error()));
    if (!needed->has_value()) {
      reached.result = std::move(*result);
      co_return reached;
    }
    if (++from.rounds_ > rounds_max) {
      co_return failure(error(CallError::Kind::rounds_exceeded, "the server asked for input more than " +
                                                                    std::to_string(rounds_max) + " times"));
    }
    from.state_ = std::move((*needed)->state);
    from.requests_ = std::move((*needed)->requests);
    log_round(from);
    if (from.requests_.is_null()) {
      const Task<Called<void>> pausing = pause(back_off, call);
      const Called<void> paused = co_await pausing;
      if (!paused) co_return failure(paused.error());
      back_off = std::min<std::chrono::milliseconds>(2 * back_off, back_off_max);
      continue;
    }
    Called<std::vector<Question>> questions = prepare_questions(from.requests_, *call, from.rounds_);
    if (!questions) co_return failure(std::move(questions.error()));
    reached.finished = false;
    reached.questions = std::move(*questions);
    reached.continuation = std::move(from);
    co_return reached;
  }
}

// The questions with what the person who decides must know; an error if one of them cannot be answered here.
Called<std::vector<Question>> ClientImpl::prepare_questions(const Json& requests, const CallState& call,
                                                            int round) const {
  Called<std::vector<Question>> questions = client::read_questions(requests);
  if (!questions) return questions;
  for (Question& question : *questions) {
    std::optional<CallError> refusal = cannot_answer(question, call);
    if (refusal) return failure(std::move(*refusal));
    question.server_name = server.name;
    question.method = call.method;
    question.target = call.target;
    question.round = round;
  }
  return questions;
}

std::optional<CallError> ClientImpl::cannot_answer(const Question& question, const CallState& call) const {
  const bool is_elicitation = question.kind == Question::Kind::form || question.kind == Question::Kind::url;
  if (!(call.declares_without_handlers && is_elicitation) && !handler_of(question.kind)) {
    return error(CallError::Kind::unsupported_input,
                 "the server asks for input that this client did not offer: " + client::quoted(question.key));
  }
  const bool wants_tools = question.params.contains("tools") || question.params.contains("toolChoice");
  if (question.kind == Question::Kind::sampling && wants_tools && !options.sampling_tools) {
    return error(CallError::Kind::unsupported_input,
                 "the server asks for sampling with tools, which was not offered");
  }
  return std::nullopt;
}

const QuestionHandler& ClientImpl::handler_of(Question::Kind kind) const {
  switch (kind) {
    case Question::Kind::form:
      return options.on_form;
    case Question::Kind::url:
      return options.on_url;
    case Question::Kind::sampling:
      return options.on_sampling;
    case Question::Kind::roots:
      break;
  }
  return options.on_roots;
}

// The answer of the handler as it travels.
Task<Called<Json>> ClientImpl::answer_of(Question question) {
  const QuestionHandler& handler = handler_of(question.kind);
  const Task<Answer> answering = handler(question);
  const Answer answer = co_await answering;
  if (answer.abandoned()) co_return failure(error(CallError::Kind::cancelled, "the question was abandoned"));
  if (question.kind == Question::Kind::roots && !client::are_roots(answer.json())) {
    co_return failure(
        error(CallError::Kind::invalid_call, "the roots to send are no plain file:// addresses"));
  }
  co_return with_defaults(question, answer);
}

Task<Called<Json>> ClientImpl::ask(std::vector<Question> questions, CallPtr call) {
  Json responses = Json::object();
  std::vector<CallPtr> paused(1, call);
  const Asking asking(std::move(paused));
  for (Question& question : questions) {
    std::string key = question.key;
    const Task<Called<Json>> answering = answer_of(std::move(question));
    Called<Json> answer = co_await answering;
    if (!answer) co_return answer;
    if (call->options.stop.stop_requested()) co_return failure(ended_error(Ended::cancelled));
    responses.set(std::move(key), std::move(*answer));
  }
  co_return responses;
}

// A request of a server on a session.
Task<Reply> ClientImpl::answer_request(std::string method, Json params, CallPtr call) {
  if (method == "ping") co_return Json::object();
  Called<Question> question = client::read_question(method, method, params);
  if (!question) {
    const bool unknown = question.error().kind == CallError::Kind::unsupported_input;
    co_return failure(Fault(unknown ? protocol::method_not_found : protocol::invalid_params,
                            unknown ? "Not supported by this client" : "Malformed request"));
  }
  question->server_name = server.name;
  log(LogLevel::debug, "question", "method", method);
  std::vector<CallPtr> paused;
  if (call) {
    question->method = call->method;
    question->target = call->target;
    paused.push_back(call);
  } else {
    for (CallState* running : active) paused.push_back(running->shared_from_this());
  }
  const CallPtr none = std::make_shared<CallState>(executor, *options.clock, CallOptions(), 0ms);
  const std::optional<CallError> refusal = cannot_answer(*question, *none);
  if (refusal) co_return failure(Fault(protocol::method_not_found, "Not supported by this client"));
  const Asking asking(std::move(paused));
  const Task<Called<Json>> answering = answer_of(std::move(*question));
  Called<Json> answer = co_await answering;
  if (!answer) {
    Json cancelled = Json::object({{"action", "cancel"}});
    co_return cancelled;
  }
  co_return std::move(*answer);
}

void ClientImpl::take_notification(Notification notification, CallState* call) {
  if (notification.method == "notifications/progress") {
    const Json* token = notification.params.find("progressToken");
    const Json* progress = notification.params.find("progress");
    if (call == nullptr || token == nullptr || progress == nullptr || !call->options.on_progress) return;
    if (protocol::id_key(*token) != call->progress_key || !progress->as_double()) return;
    const Json* total = notification.params.find("total");
    const std::string* message = notification.params.find_string("message");
    call->options.on_progress(Progress(*progress->as_double(),
                                       total != nullptr ? total->as_double() : std::nullopt,
                                       message != nullptr ? *message : std::string()));
  } else if (notification.method == "notifications/message") {
    if (options.on_log) options.on_log(notification.params);
  } else if (call != nullptr && call->on_event) {
    call->on_event(notification);
  } else {
    for (CallState* listener : listeners) listener->on_event(notification);
    if (options.on_notification) options.on_notification(notification);
  }
}

// Sends, and sends again where that cannot do harm: a session forgotten by the server, a revision refused, a header
// missing, a stream broken.
Task<Called<Json>> ClientImpl::send(std::string method, Json params, CallPtr call) {
  bool version_tried = false;
  bool tools_refreshed = false;
  bool resent = false;
  bool session_renewed = false;
  for (;;) {
    const Task<Called<Json>> sending = send_now(method, params, call);
    Called<Json> result = co_await sending;
    if (result) co_return result;
    const CallError& failed = result.error();
    const std::optional<std::string> version = server.modern ? version_offered(failed) : std::nullopt;
    const bool header_refused = failed.fault && failed.fault->code == protocol::header_mismatch &&
                                method == "tools/call" && server.modern;
    const bool lost = failed.transport && failed.transport->kind == protocol::TransportFailure::Kind::closed;
    const bool session_ended =
        failed.transport && failed.transport->kind == protocol::TransportFailure::Kind::session_ended;
    if (session_ended) forget_session(call->session);
    if (session_ended && !std::exchange(session_renewed, true)) {
      log(LogLevel::warning, "session_renewed", "method", method);
    } else if (version && !std::exchange(version_tried, true)) {
      server.protocol_version = *version;
      log(LogLevel::debug, "revision_refused", "instead", *version);
    } else if (header_refused && !std::exchange(tools_refreshed, true)) {
      const Task<Called<std::vector<Json>>> listing = list("tools/list", "tools", CallOptions());
      const Called<std::vector<Json>> listed =
          co_await listing;  // the transport learns from it what to mirror
      if (!listed) co_return result;
      log(LogLevel::debug, "request_sent_again_with_headers", "method", method);
    } else if (lost && (method != "tools/call" || call->options.resend) && !std::exchange(resent, true)) {
      log(LogLevel::info, "request_sent_again", "method", method);
    } else {
      co_return result;
    }
  }
}

Task<Called<Json>> ClientImpl::send_now(std::string method, Json params, CallPtr call) {
  if (!params.is_null() && !params.is_object()) {
    co_return failure(error(CallError::Kind::invalid_call, "the parameters are no object"));
  }
  const Task<Called<void>> connecting = ensure_connected(call->options.stop);
  const Called<void> ready = co_await connecting;
  if (!ready) co_return failure(ready.error());
  const Task<Called<Json>> exchanging =
      exchange(std::move(method), enveloped(std::move(params), *call), call);
  Called<Json> result = co_await exchanging;
  co_return result;
}

Json ClientImpl::enveloped(Json params, const CallState& call) const {
  if (!server.modern) return params.is_null() ? Json::object() : params;
  protocol::Envelope envelope;
  envelope.protocol_version = server.protocol_version;
  envelope.client_info = Json::object({{"name", options.name}, {"version", options.version}});
  envelope.client_capabilities = capabilities(true, call.declares_without_handlers);
  envelope.log_level = options.log_level;
  return protocol::with_envelope(std::move(params), envelope);
}

Json ClientImpl::capabilities(bool modern, bool without_handlers) const {
  Json all = Json::object();
  const bool form = static_cast<bool>(options.on_form) || without_handlers;
  const bool url = static_cast<bool>(options.on_url) || without_handlers;
  if (form || url) {
    Json modes = Json::object();
    if (form && (modern || url)) modes.set("form", Json::object());
    if (url) modes.set("url", Json::object());
    all.set("elicitation", std::move(modes));
  }
  if (options.on_sampling) {
    Json sampling = Json::object();
    if (options.sampling_tools) sampling.set("tools", Json::object());
    all.set("sampling", std::move(sampling));
  }
  if (options.on_roots) all.set("roots", Json::object());
  if (options.tasks && modern && !without_handlers) {
    all.set("extensions", Json::object({{"io.modelcontextprotocol/tasks", Json::object()}}));
  }
  return all;
}

// One request and its reply, within the time the call has left.
Task<Called<Json>> ClientImpl::exchange(std::string method, Json params, CallPtr call) {
  if (call->options.stop.stop_requested()) co_return failure(ended_error(Ended::cancelled));
  if (call->out_of_time()) co_return failure(ended_error(Ended::timed_out));
  const Json id(next_id++);
  call->progress_key = protocol::id_key(id);
  if (call->options.on_progress) {
    if (!params.contains("_meta")) params.set("_meta", Json::object());
    params.find("_meta")->set(std::string(protocol::meta::progress_token), id);
  }
  CallOutlet outlet(*this, call);
  Exchange around;
  around.principal = Principal::local();
  around.outlet = &outlet;
  around.executor = &executor;
  log(LogLevel::debug, "request", "method", method);
  const std::shared_ptr<Session> held = session;
  call->session = held;
  around.session = held.get();
  around.stop = call->options.stop;
  const OneShot<Ended> ended;
  const Running running(*this, call, ended);
  Task<Reply> calling = service.call(Request(id, std::move(method), std::move(params)), around);
  const std::stop_callback<std::function<void()>> on_stop(
      call->options.stop, [on = &executor, ended] { on->post([ended] { ended.set(Ended::cancelled); }); });
  calling.start([ended] { ended.set(Ended::replied); });
  const Ended why = co_await ended;
  if (why != Ended::replied) co_return failure(ended_error(why));
  Reply reply = calling.take();
  if (!reply) co_return failure(error_of(std::move(reply.error())));
  co_return std::move(*reply);
}

Task<Called<void>> ClientImpl::pause(std::chrono::milliseconds delay, CallPtr call) {
  const OneShot<Ended> ended;
  const Running running(*this, call, ended);
  const std::shared_ptr<void> timer = executor.post_after(delay, [ended] { ended.set(Ended::replied); });
  const std::stop_callback<std::function<void()>> on_stop(
      call->options.stop, [on = &executor, ended] { on->post([ended] { ended.set(Ended::cancelled); }); });
  const Ended why = co_await ended;
  if (why != Ended::replied) co_return failure(ended_error(why));
  co_return Called<void>();
}

}  // namespace signet
