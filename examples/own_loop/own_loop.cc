// Signet inside a program that has its own event loop. A server is a Service: a request goes in, a reply comes out, and it
// does no I/O itself. What the program lends is an Executor, which is two functions. Here the loop is poll(2) over
// standard input, and the messages are lines; an engine's or a toolkit's loop takes its place in the same way.
#include <sys/poll.h>
#include <unistd.h>

#include <iostream>
#include <list>
#include <memory>
#include <string>

#include <signet/protocol/era.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/signet.h>

#include "loop.h"

namespace {

// What belongs to one request, until its reply is written.
class Call final : public signet::Outlet {
 public:
  Call(Loop& loop, signet::Request request) : id_(request.id), method_(request.method) {
    exchange_.principal = signet::Principal::local();
    exchange_.outlet = this;
    exchange_.executor = &loop;
    exchange_.stop = stop_.get_token();
  }

  // The Outlet: progress and log messages, before the reply.
  void notify(signet::Notification notification) override {
    std::cout << signet::protocol::write_notification(notification) << std::endl;
  }

  void start(signet::Service& service, signet::Request request, std::function<void()> done) {
    task_ = service.call(std::move(request), exchange_);
    task_.start([this, done = std::move(done)] {
      std::cout << signet::protocol::write_reply(id_, task_.take()) << std::endl;
      done();
    });
  }

 private:
  signet::Json id_;
  std::string method_;
  std::stop_source stop_;
  signet::Exchange exchange_;
  signet::Task<signet::Reply> task_;
};

// Reads messages and starts calls; drops each call when it is done.
class Peer {
 public:
  Peer(Loop& loop, signet::Service& service) : loop_(loop), service_(service) {}

  void take(const std::string& line) {
    signet::protocol::Message message = signet::protocol::read_message(line);
    if (auto* request = std::get_if<signet::Request>(&message)) {
      const auto era = signet::protocol::decide_stdio_request(*request, false, /*modern_only=*/true);
      if (!era.ok()) return refuse(request->id, era.error());
      serve(std::move(*request));
    } else if (auto* invalid = std::get_if<signet::protocol::InvalidMessage>(&message)) {
      if (invalid->reply_expected) refuse(invalid->id, invalid->fault);
    }
  }

 private:
  void refuse(const std::optional<signet::Json>& id, const signet::Fault& fault) {
    std::cout << signet::protocol::write_error(id, fault) << std::endl;
  }

  void serve(signet::Request request) {
    calls_.push_back(std::make_unique<Call>(loop_, request));
    const auto place = std::prev(calls_.end());
    // Not from inside the call's own last step: dropped in the next turn of the loop.
    (*place)->start(service_, std::move(request),
                    [this, place] { loop_.post([this, place] { calls_.erase(place); }); });
  }

  Loop& loop_;
  signet::Service& service_;
  std::list<std::unique_ptr<Call>> calls_;
};

struct Guess {
  int number;
};

signet::Task<signet::ToolResult> play(signet::Call& call) {
  signet::Elicited<Guess> guess = co_await call.elicit<Guess>("guess", "Which number am I thinking of?");
  if (!guess.accepted()) co_return signet::text("Another time, then.");
  co_return signet::text(guess->number == 7 ? "Yes!" : "No, it was 7.");
}

}  // namespace

int main() {
  Loop loop;
  signet::Server server(signet::ServerInfo("own-loop", "1.0"));
  server.tool("play", "Plays a guessing game.", play);
  Peer peer(loop, server);
  loop.run_lines(STDIN_FILENO, [&peer](const std::string& line) { peer.take(line); });
  return 0;
}
