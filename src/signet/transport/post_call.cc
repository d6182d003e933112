#include <signet/transport/post_call.h>

#include <utility>

#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>

namespace signet::transport {
namespace {

// What a call costs besides its body, roughly: its frames, what it asked, its place in the tables.
constexpr std::size_t call_bytes = std::size_t{16} << 10;

}  // namespace

// While it lives, the call is among those of its session that wait for the client.
class PostCall::Asking {
 public:
  explicit Asking(PostCall& call) : call_(call) {
    if (call_.questions_++ == 0 && !call_.ended_) ++call_.setup_.session->calls_asking;
  }
  ~Asking() {
    if (--call_.questions_ == 0 && !call_.ended_) --call_.setup_.session->calls_asking;
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  PostCall& call_;
};

void PostCall::start(Service& service, Executor& executor, Request request, Over over) {
  id_ = request.id;
  key_ = protocol::id_key(request.id);
  over_ = std::move(over);
  answering_ = setup_.session != nullptr;
  if (answering_) ++setup_.session->calls_answering;
  const std::shared_ptr<PostCall> self = shared_from_this();
  setup_.responder->gone = [weak = weak_from_this()] {
    if (const auto call = weak.lock()) call->lose();
  };
  RunningCall::Header header = [from = setup_.request](std::string_view name) {
    const std::optional<std::string_view> value = from->header(name);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  };
  running_ = std::make_unique<RunningCall>(service, executor, self, setup_.principal,
                                           setup_.session != nullptr ? &setup_.session->state() : nullptr,
                                           std::move(header));
  running_->start(std::move(request), [this](const Reply& reply) { finish(reply); });
}

bool PostCall::begin_stream() {
  if (streaming_) return true;
  if (ended_ || unattended_ || !setup_.accepts.events) return false;
  setup_.responder->open_stream(setup_.fields);
  streaming_ = true;
  if (setup_.session == nullptr) return true;
  stream_ = setup_.session->open(setup_.responder, [weak = weak_from_this()](bool connected) {
    if (const auto call = weak.lock()) call->watch(connected);
  });
  leave_connection();
  return true;
}

bool PostCall::lags() const {
  if (!streaming_ || unattended_) return false;
  return setup_.session != nullptr ? setup_.session->is_behind(stream_) : setup_.responder->is_behind();
}

void PostCall::tick(std::uint64_t lag_max) {
  if (lags()) ++lag_;
  impatient_ = lag_ > lag_max;
}

// From now on the session knows whether the client is there, or nobody is.
void PostCall::leave_connection() {
  if (std::exchange(answering_, false)) --setup_.session->calls_answering;
}

void PostCall::watch(bool connected) {
  if (ended_ || connected == !resumed_.has_value()) return;
  if (connected) return setup_.resumable->leave(*std::exchange(resumed_, std::nullopt));
  resumed_ = setup_.resumable->enter(*this, call_bytes + setup_.request->body().size());
}

void PostCall::send(std::string_view line) {
  if (setup_.session != nullptr) {
    setup_.session->send(stream_, line);
    return;
  }
  std::string event = "data: ";
  event += line;
  event += "\n\n";
  setup_.responder->write(event);
}

void PostCall::notify(Notification notification) {
  if (ended_ || !begin_stream()) return;
  send(protocol::write_notification(notification));
}

Task<Reply> PostCall::request(std::string method, Json params) {
  if (setup_.session == nullptr) return Outlet::request(std::move(method), std::move(params));
  // A client that reads no events here may be listening with GET.
  const std::uint64_t stream = begin_stream() ? stream_ : 0;
  return ask(setup_.session->ask(stream, std::move(method), std::move(params)));
}

// The task of the call ends before the call does.
Task<Reply> PostCall::ask(Task<Reply> question) {
  const Asking asking(*this);
  Reply reply = co_await question;
  co_return reply;
}

void PostCall::detach(std::chrono::milliseconds retry) {
  if (setup_.session == nullptr || ended_ || !begin_stream()) return;
  setup_.session->detach(stream_, retry);
}

void PostCall::finish(const Reply& reply) {
  if (ended_) return;
  if (!setup_.accepts.json && reply.ok()) begin_stream();
  if (ended_) return;  // the stream could not begin, since the client does not read
  end(&reply);
  if (unattended_) return;
  const std::string text = protocol::write_reply(id_, reply);
  if (!streaming_) {
    setup_.responder->gone = nullptr;
    const int status = reply.ok() || setup_.session != nullptr ? 200 : protocol::http_status(reply.error());
    setup_.responder->respond(status, "application/json", text, setup_.fields);
    return;
  }
  send(text);
  if (setup_.session != nullptr) return setup_.session->finish(stream_);
  setup_.responder->gone = nullptr;
  setup_.responder->end_stream();
}

void PostCall::cancel() {
  if (ended_) return;
  begin_stream();
  end(nullptr);
  running_->cancel();
  if (unattended_) return;
  if (setup_.session != nullptr && streaming_) return setup_.session->finish(stream_);
  setup_.responder->gone = nullptr;
  if (streaming_) return setup_.responder->end_stream();
  setup_.responder->respond(204, "", "", setup_.fields);
}

// The connection has gone: that is how 2026-07-28 cancels (S31). Streams of sessions go on without it, and so does what
// makes a reply that the client may come back for.
void PostCall::lose() {
  if (ended_ || unattended_) return;
  unattended_ = running_->runs_to_end() && setup_.unattended->enter();
  if (unattended_) return leave_connection();
  end(nullptr);
  running_->cancel();
}

void PostCall::end(const Reply* reply) {
  if (questions_ != 0) --setup_.session->calls_asking;
  ended_ = true;
  if (unattended_) setup_.unattended->leave();
  leave_connection();
  if (resumed_) setup_.resumable->leave(*std::exchange(resumed_, std::nullopt));
  const Over over = std::exchange(over_, nullptr);
  over(reply, setup_.fields);
}

}  // namespace signet::transport
