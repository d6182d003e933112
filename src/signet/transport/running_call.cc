#include <signet/transport/running_call.h>

#include <utility>

#include <signet/protocol/errors.h>

namespace signet::transport {

Json OutgoingRequests::add(OneShot<Reply> answer) {
  Json id(next_++);
  waiting_.emplace(protocol::id_key(id), std::move(answer));
  return id;
}

void OutgoingRequests::remove(const Json& id) { waiting_.erase(protocol::id_key(id)); }

bool OutgoingRequests::resolve(protocol::Response response) {
  const auto found = waiting_.find(protocol::id_key(response.id));
  if (found == waiting_.end()) return false;
  const OneShot<Reply> answer = found->second;
  waiting_.erase(found);
  answer.set(std::move(response.reply));
  return true;
}

namespace {

// Takes the question back when the task that asks it goes.
class Question {
 public:
  Question(std::shared_ptr<OutgoingRequests> table, const OneShot<Reply>& answer)
      : table_(std::move(table)), id_(table_->add(answer)) {}
  ~Question() { table_->remove(id_); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  const Json& id() const { return id_; }

 private:
  std::shared_ptr<OutgoingRequests> table_;
  Json id_;
};

class NoOutlet final : public Outlet {
 public:
  void notify(Notification) override {}
};

}  // namespace

Task<Reply> ask_peer(std::shared_ptr<OutgoingRequests> table, std::function<bool(std::string line)> send,
                     std::string method, Json params) {
  OneShot<Reply> answer;
  const Question question(std::move(table), answer);
  if (!send(protocol::write_request(question.id(), method, params)))
    co_return failure(Fault(protocol::internal_error, "There is no way to ask the client"));
  Reply reply = co_await answer;
  co_return reply;
}

struct RunningCall::State {
  State(Executor& loop, std::shared_ptr<Outlet> way_back) : executor(loop), outlet(std::move(way_back)) {}

  Executor& executor;
  std::shared_ptr<Outlet> outlet;
  std::stop_source stop;
  Exchange exchange;
  Task<Reply> task;
  std::function<void(Reply)> done;
  bool cancelled = false;
  Service* service = nullptr;

  void drop() {
    stop.request_stop();
    task = Task<Reply>();
    done = nullptr;
    outlet.reset();
  }
};

RunningCall::RunningCall(Service& service, Executor& executor, std::shared_ptr<Outlet> outlet,
                         Principal principal, Session* session, Header header)
    : state_(std::make_shared<State>(executor, std::move(outlet))) {
  Exchange& exchange = state_->exchange;
  exchange.principal = std::move(principal);
  exchange.outlet = state_->outlet.get();
  exchange.executor = &executor;
  exchange.stop = state_->stop.get_token();
  exchange.session = session;
  exchange.header = std::move(header);
  state_->service = &service;
}

RunningCall::~RunningCall() {
  state_->cancelled = true;
  state_->drop();
}

void RunningCall::start(Request request, std::function<void(Reply)> done) {
  // The frame keeps the state alive through `done`, and the state the frame: whichever of finish and drop
  // comes first breaks the circle.
  const std::shared_ptr<State> state = state_;
  state->done = std::move(done);
  state->task = state->service->call(std::move(request), state->exchange);
  state->task.start([state] {
    if (state->cancelled) return;
    Reply reply = state->task.take();
    state->task = Task<Reply>();
    const std::function<void(Reply)> finished = std::exchange(state->done, nullptr);
    finished(std::move(reply));
    state->outlet.reset();
  });
}

bool RunningCall::runs_to_end() const { return state_->exchange.runs_to_end; }

void RunningCall::request_stop() { state_->stop.request_stop(); }

void RunningCall::cancel() {
  if (state_->cancelled) return;
  state_->cancelled = true;
  state_->executor.post([state = state_] { state->drop(); });
}

void pass_notification(Service& service, Executor& executor, const Principal& principal, Session* session,
                       Notification notification) {
  NoOutlet nowhere;
  Exchange exchange;
  exchange.principal = principal;
  exchange.outlet = &nowhere;
  exchange.executor = &executor;
  exchange.session = session;
  service.notify(std::move(notification), exchange);
}

}  // namespace signet::transport
