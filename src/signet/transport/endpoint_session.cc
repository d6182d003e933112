#include <signet/transport/endpoint_session.h>

#include <charconv>
#include <utility>

#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/versions.h>

namespace signet::transport {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

void append_event(std::string& out, EventId id, std::string_view line) {
  out += "id: ";
  out += id.text();
  out += "\ndata: ";
  out += line;
  out += "\n\n";
}

}  // namespace

std::string EventId::text() const { return std::to_string(stream) + "-" + std::to_string(event); }

std::optional<EventId> EventId::parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> stream = parse_number(text.substr(0, dash));
  const std::optional<std::uint64_t> event = parse_number(text.substr(dash + 1));
  if (!stream || !event) return std::nullopt;
  EventId id;
  id.stream = *stream;
  id.event = *event;
  return id;
}

EventId ReplayLog::append(std::uint64_t stream, std::string_view line) {
  Event event;
  event.id.stream = stream;
  event.id.event = ++last_;
  event.line = line;
  const EventId id = event.id;
  event.place = budget_->order_.insert(budget_->order_.end(), this);
  bytes_ += line.size();
  budget_->bytes_ += cost_of(event);
  events_.push_back(std::move(event));
  while (!events_.empty() && (events_.size() > events_max_ || bytes_ > bytes_max_)) drop_oldest();
  while (budget_->bytes_ > budget_->bytes_max_) budget_->order_.front()->drop_oldest();
  return id;
}

void ReplayLog::drop_oldest() {
  const Event& oldest = events_.front();
  bytes_ -= oldest.line.size();
  budget_->bytes_ -= cost_of(oldest);
  budget_->order_.erase(oldest.place);
  events_.pop_front();
}

ReplayLog::~ReplayLog() {
  while (!events_.empty()) drop_oldest();
}

std::string ReplayLog::since(EventId after) const {
  std::string out;
  for (const Event& event : events_) {
    if (event.id.stream == after.stream && event.id.event > after.event)
      append_event(out, event.id, event.line);
  }
  return out;
}

// What the service sends outside any request.
class EndpointSession::Standalone final : public Outlet {
 public:
  explicit Standalone(EndpointSession& session) : session_(session) {}
  void notify(Notification notification) override {
    session_.send(0, protocol::write_notification(notification));
  }
  Task<Reply> request(std::string method, Json params) override {
    return session_.ask(0, std::move(method), std::move(params));
  }

 private:
  EndpointSession& session_;
};

EndpointSession::EndpointSession(std::string session_id, Principal owner, std::size_t events_max,
                                 std::size_t bytes_max, std::shared_ptr<ReplayBudget> budget)
    : id_(std::move(session_id)),
      principal_(std::move(owner)),
      outgoing_(std::make_shared<OutgoingRequests>()),
      standalone_(std::make_shared<Standalone>(*this)),
      log_(events_max, bytes_max, std::move(budget)),
      streams_max_(events_max) {}

void EndpointSession::attach(std::uint64_t number, const std::shared_ptr<Responder>& responder) {
  Stream& stream = streams_[number];
  if (stream.responder != nullptr && stream.responder != responder) {
    stream.responder->gone = nullptr;
    stream.responder->end_stream();
  }
  stream.responder = responder;
  responder->gone = [weak = weak_from_this(), number, raw = responder.get()] {
    if (const auto self = weak.lock()) self->lose(number, raw);
  };
  if (number == 0) state_.outlet = standalone_.get();
}

void EndpointSession::lose(std::uint64_t number, const Responder* responder) {
  const auto found = streams_.find(number);
  if (found == streams_.end() || found->second.responder.get() != responder) return;
  // What is sent from now on is kept for the client that comes back: the stream goes on without its connection.
  found->second.responder.reset();
  if (const Watcher watcher = found->second.watcher) watcher(false);
}

void EndpointSession::prime(std::uint64_t number) {
  // Revisions before 2025-11-25 have no events without data, and their clients trip over them.
  if (state_.protocol_version != protocol::version_2025_11_25) return;
  const EventId id = log_.append(number, "");
  std::string event;
  append_event(event, id, "");
  streams_[number].responder->write(event);
}

std::uint64_t EndpointSession::open(std::shared_ptr<Responder> responder, Watcher watcher) {
  forget_old_streams();
  const std::uint64_t number = next_stream_++;
  attach(number, responder);
  streams_[number].watcher = std::move(watcher);
  prime(number);
  return number;
}

void EndpointSession::open_standalone(std::shared_ptr<Responder> responder) {
  attach(0, responder);
  prime(0);
}

bool EndpointSession::resume(EventId last, const std::shared_ptr<Responder>& responder,
                             const Fields& fields) {
  const auto found = streams_.find(last.stream);
  if (found == streams_.end()) return false;
  responder->open_stream(fields);
  const std::string missed = log_.since(last);
  const bool finished = found->second.finished;
  if (!finished) {
    // Before anything is written, which may cost the connection.
    attach(last.stream, responder);
    if (const Watcher watcher = found->second.watcher) watcher(true);
  }
  if (!missed.empty()) responder->write(missed);
  if (finished) responder->end_stream();
  return true;
}

bool EndpointSession::send(std::uint64_t stream, std::string_view line) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.finished) return false;
  const EventId id = log_.append(stream, line);
  const std::shared_ptr<Responder> responder = found->second.responder;
  if (responder == nullptr) return true;
  std::string event;
  append_event(event, id, line);
  responder->write(event);
  return true;
}

void EndpointSession::detach(std::uint64_t stream, std::chrono::milliseconds retry) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  const std::shared_ptr<Responder> responder = std::exchange(found->second.responder, nullptr);
  if (responder == nullptr) return;
  responder->gone = nullptr;
  responder->write("retry: " + std::to_string(retry.count()) + "\n\n");
  responder->end_stream();
  if (const Watcher watcher = found->second.watcher) watcher(false);
}

void EndpointSession::finish(std::uint64_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.finished = true;
  found->second.watcher = nullptr;
  const std::shared_ptr<Responder> responder = std::exchange(found->second.responder, nullptr);
  if (stream == 0) state_.outlet = nullptr;
  if (responder == nullptr) return;
  responder->gone = nullptr;
  responder->end_stream();
}

void EndpointSession::finish_all() {
  while (!streams_.empty()) {
    finish(streams_.begin()->first);
    streams_.erase(streams_.begin());
  }
}

Task<Reply> EndpointSession::ask(std::uint64_t stream, std::string method, Json params) {
  return ask_peer(
      outgoing_,
      [weak = weak_from_this(), stream](const std::string& line) {
        const auto self = weak.lock();
        return self != nullptr && self->send(stream, line);
      },
      std::move(method), std::move(params));
}

bool EndpointSession::is_behind(std::uint64_t stream) const {
  const auto found = streams_.find(stream);
  return found != streams_.end() && found->second.responder != nullptr &&
         found->second.responder->is_behind();
}

bool EndpointSession::is_attended() const {
  if (calls_answering != 0) return true;
  for (const auto& [number, stream] : streams_) {
    if (stream.responder != nullptr) return true;
  }
  return false;
}

// A finished stream is worth keeping while its client may come back for the end of it.
void EndpointSession::forget_old_streams() {
  for (auto stream = streams_.begin(); stream != streams_.end() && streams_.size() >= streams_max_;) {
    stream = stream->second.finished ? streams_.erase(stream) : std::next(stream);
  }
}

}  // namespace signet::transport
