// A request that came by POST, until it is answered. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <signet/protocol/era.h>
#include <signet/transport/endpoint_session.h>
#include <signet/transport/running_call.h>
#include <signet/transport/server_gate.h>
#include <signet/transport/server_request.h>

namespace signet::transport {

// The calls that run to their end though their clients are gone.
class Unattended {
 public:
  explicit Unattended(std::size_t calls_max) : calls_max_(calls_max) {}
  // False where there are as many as there may be.
  bool enter() {
    if (calls_ >= calls_max_) return false;
    ++calls_;
    return true;
  }
  void leave() { --calls_; }
  bool empty() const { return calls_ == 0; }

 private:
  const std::size_t calls_max_;
  std::size_t calls_ = 0;
};

class PostCall;

// The calls that go on though their connections are gone, since their clients may come back for the streams. In the order in
// which they lost them.
class Resumable {
 public:
  using Place = std::list<std::pair<PostCall*, std::size_t>>::iterator;

  Place enter(PostCall& call, std::size_t bytes) {
    bytes_ += bytes;
    return calls_.emplace(calls_.end(), &call, bytes);
  }
  void leave(Place place) {
    bytes_ -= place->second;
    calls_.erase(place);
  }
  std::size_t bytes() const { return bytes_; }
  // Precondition: bytes() is not 0.
  PostCall& longest() const { return *calls_.front().first; }

 private:
  std::list<std::pair<PostCall*, std::size_t>> calls_;
  std::size_t bytes_ = 0;
};

// One JSON answer, or a stream of events if a notification comes before the reply or the reply takes long, and the client
// accepts events. On the loop's thread.
class PostCall final : public Outlet, public std::enable_shared_from_this<PostCall> {
 public:
  struct Setup {
    Setup(std::shared_ptr<const ServerRequest> from, std::shared_ptr<Responder> to,
          std::shared_ptr<Unattended> those_unattended, std::shared_ptr<Resumable> those_resumable)
        : request(std::move(from)),
          responder(std::move(to)),
          unattended(std::move(those_unattended)),
          resumable(std::move(those_resumable)) {}
    std::shared_ptr<const ServerRequest> request;
    std::shared_ptr<Responder> responder;
    std::shared_ptr<Unattended> unattended;
    std::shared_ptr<Resumable> resumable;
    std::shared_ptr<EndpointSession> session;  // null with the modern era
    Principal principal;
    Accepts accepts;
    Fields fields;
    std::uint64_t started = 0;  // tick
  };

  // `over` is called once when nothing more will come, with the reply unless there is none. It adds to the fields of an
  // answer that has not begun.
  using Over = std::function<void(const Reply* reply, Fields& fields)>;

  explicit PostCall(Setup setup) : setup_(std::move(setup)) {}

  void start(Service& service, Executor& executor, Request request, Over over);

  void notify(Notification notification) override;
  bool is_behind() const override { return !impatient_ && lags(); }
  Task<Reply> request(std::string method, Json params) override;
  void detach(std::chrono::milliseconds retry) override;

  // Begins the stream of events if it has not begun and the client accepts one.
  bool begin_stream();
  // The client has said that it does not want the answer: ends it without one.
  void cancel();

  // Once for every tick. A client that is behind for more than `lag_max` of them in all is not waited for any more: it loses
  // its connection where it lets too much wait, and nobody a thread.
  void tick(std::uint64_t lag_max);

  std::uint64_t started() const { return setup_.started; }
  bool streaming() const { return streaming_; }
  const EndpointSession* session() const { return setup_.session.get(); }
  const std::string& key() const { return key_; }

 private:
  class Asking;

  Task<Reply> ask(Task<Reply> question);
  void finish(const Reply& reply);
  bool lags() const;
  void lose();
  void watch(bool connected);
  void leave_connection();
  void send(std::string_view line);
  void end(const Reply* reply);

  Setup setup_;
  Json id_;
  std::string key_;
  Over over_;
  bool streaming_ = false;
  bool ended_ = false;
  bool unattended_ = false;
  bool impatient_ = false;
  std::uint64_t lag_ = 0;                    // ticks
  bool answering_ = false;                   // counted in the session
  std::size_t questions_ = 0;                // that wait for an answer
  std::optional<Resumable::Place> resumed_;  // while the stream has no connection
  std::uint64_t stream_ = 0;                 // in the session
  std::unique_ptr<RunningCall> running_;
};

}  // namespace signet::transport
