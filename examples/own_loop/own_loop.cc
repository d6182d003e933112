// Signet inside a program that has its own event loop. A server is a Service: a request goes in, a reply comes out, and it
// does no I/O itself. What the program lends is an Executor, which is two functions. Here the loop is poll(2) over
// standard input, and the messages are lines; an engine's or a toolkit's loop takes its place in the same way.
#include <sys/poll.h>
#include <unistd.h>

#include <condition_variable>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <signet/protocol/era.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/methods.h>
#include <signet/signet.h>

#include "loop.h"

namespace {

// What belongs to one request, until its reply is written.
class Call final : public signet::Outlet {
 public:
  Call(Loop& loop, signet::Request request) : id_(request.id) {
    exchange_.principal = signet::Principal::local();
    exchange_.outlet = this;
    exchange_.executor = &loop;
    exchange_.stop = stop_.get_token();
  }

  // The Outlet: progress and log messages, before the reply. Nothing waits here for the peer to read, since this loop stands
  // still while it writes; one that queues what it writes says when that is much (is_behind).
  void notify(signet::Notification notification) override {
    if (!silent_) std::cout << signet::protocol::write_notification(notification) << std::endl;
  }

  void start(signet::Service& service, signet::Request request, std::function<void()> done) {
    task_ = service.call(std::move(request), exchange_);
    task_.start([this, done = std::move(done)] {
      const signet::Reply reply = task_.take();
      if (!silent_) std::cout << signet::protocol::write_reply(id_, reply) << std::endl;
      done();
    });
  }

  // The peer does not want the reply any more. False where the task must still run to its end, because the reply is kept
  // for a peer that comes back for it.
  bool cancel() {
    silent_ = true;
    stop_.request_stop();
    return !exchange_.runs_to_end;
  }

 private:
  signet::Json id_;
  bool silent_ = false;
  std::stop_source stop_;
  signet::Exchange exchange_;
  signet::Task<signet::Reply> task_;
};

// Reads messages and starts calls; drops each call when it is done or cancelled.
class Peer {
 public:
  Peer(Loop& loop, signet::Service& service) : loop_(loop), service_(service) {}

  void take(const std::string& line) {
    signet::protocol::Message message = signet::protocol::read_message(line);
    if (auto* request = std::get_if<signet::Request>(&message)) {
      const auto era = signet::protocol::decide_stdio_request(*request, false, /*modern_only=*/true);
      if (!era.ok()) return refuse(request->id, era.error());
      serve(std::move(*request));
    } else if (const auto* notification = std::get_if<signet::Notification>(&message)) {
      hear(*notification);
    } else if (auto* invalid = std::get_if<signet::protocol::InvalidMessage>(&message)) {
      if (invalid->reply_expected) refuse(invalid->id, invalid->fault);
    }
  }

 private:
  static constexpr std::size_t calls_max = 1024;

  void refuse(const std::optional<signet::Json>& id, const signet::Fault& fault) {
    std::cout << signet::protocol::write_error(id, fault) << std::endl;
  }

  void serve(signet::Request request) {
    const std::string key = signet::protocol::id_key(request.id);
    if (calls_.size() == calls_max)
      return refuse(request.id, signet::Fault(signet::protocol::internal_error, "Too many requests"));
    const auto [place, is_new] = calls_.try_emplace(key, nullptr);
    if (!is_new)
      return refuse(request.id, signet::Fault(signet::protocol::invalid_request, "The id is in use"));
    place->second = std::make_shared<Call>(loop_, request);
    const std::shared_ptr<Call> call = place->second;
    // Not from inside the call's own last step: dropped in the next turn of the loop.
    call->start(service_, std::move(request), [this, key, weak = std::weak_ptr<Call>(call)] {
      loop_.post([this, key, weak] { forget(key, weak.lock()); });
    });
  }

  void hear(const signet::Notification& notification) {
    if (notification.method != signet::protocol::method::notifications::cancelled) return;
    const signet::Json* id = notification.params.find("requestId");
    const auto found = id == nullptr ? calls_.end() : calls_.find(signet::protocol::id_key(*id));
    if (found != calls_.end() && found->second->cancel()) calls_.erase(found);
  }

  // Unless it was cancelled meanwhile, and the id belongs to another.
  void forget(const std::string& key, const std::shared_ptr<Call>& call) {
    const auto found = calls_.find(key);
    if (found != calls_.end() && found->second == call) calls_.erase(found);
  }

  Loop& loop_;
  signet::Service& service_;
  std::map<std::string, std::shared_ptr<Call>> calls_;
};

struct Guess {
  int number;
};

signet::Task<signet::ToolResult> play(signet::Call& call) {
  signet::Elicited<Guess> guess = co_await call.elicit<Guess>("guess", "Which number am I thinking of?");
  if (!guess.accepted()) co_return signet::text("Another time, then.");
  co_return signet::text(guess->number == 7 ? "Yes!" : "No, it was 7.");
}

// Waits until it is cancelled.
std::string wait(signet::PlainCall& call) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  call.progress(1);
  stopped.wait(lock, call.stop_token(), [] { return false; });
  std::cerr << "told to stop" << std::endl;
  return "never read";
}

}  // namespace

int main() {
  Loop loop;
  signet::Server server(signet::ServerInfo("own-loop", "1.0"));
  server.tool("play", "Plays a guessing game.", play);
  server.tool("wait", "Waits until it is cancelled.", wait);
  Peer peer(loop, server);
  loop.run_lines(STDIN_FILENO, [&peer](const std::string& line) { peer.take(line); });
  return 0;
}
