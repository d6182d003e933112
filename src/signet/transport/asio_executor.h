// The Executor over an Asio event loop. Internal to the transports: public headers show no Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <signet/base/executor.h>

namespace signet::transport {

// Runs everything on the thread that runs `context`; precondition: at most one thread runs it. The context
// outlives the executor and the handles of its timers.
class AsioExecutor final : public Executor {
 public:
  explicit AsioExecutor(boost::asio::io_context& context) : context_(context) {}

  void post(std::function<void()> work) override { boost::asio::post(context_, std::move(work)); }

  std::shared_ptr<void> post_after(std::chrono::milliseconds delay, std::function<void()> work) override {
    auto timed = std::make_shared<Timed>(context_, std::move(work));
    timed->timer.expires_after(delay);
    // The handler may be queued when the handle is dropped: only the handle keeps the work alive.
    timed->timer.async_wait([weak = std::weak_ptr<Timed>(timed)](boost::system::error_code error) {
      const std::shared_ptr<Timed> alive = weak.lock();
      if (alive && !error) alive->work();
    });
    return timed;
  }

 private:
  struct Timed {
    Timed(boost::asio::io_context& context, std::function<void()> function)
        : timer(context), work(std::move(function)) {}
    boost::asio::steady_timer timer;
    std::function<void()> work;
  };

  boost::asio::io_context& context_;
};

}  // namespace signet::transport
