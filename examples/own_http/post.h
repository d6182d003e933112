// One POST to the server, between the thread of the HTTP server that waits for it and the loop that serves it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <signet/protocol/service.h>

// Lives until its reply is there or its client has gone, whichever is later on either side. The Outlet and what begins with
// `on_loop` belong to the loop's thread, the rest to the HTTP server's.
class Post final : public signet::Outlet, public std::enable_shared_from_this<Post> {
 public:
  using Header = std::function<std::optional<std::string>(std::string_view name)>;

  Post(signet::Executor& executor, signet::Principal principal, Header header);

  void start(signet::Service& service, signet::Request request);
  // The client has gone: the call is stopped, unless its reply is kept for a client that comes back.
  void leave();

  // What is to be sent next. Waits for it that long.
  struct Next {
    std::string notification;            // empty: none
    std::optional<signet::Reply> reply;  // the last
    bool lost = false;                   // the client reads too slowly
  };
  Next wait(std::chrono::milliseconds most);

  void notify(signet::Notification notification) override;
  bool is_behind() const override;

 private:
  void on_loop_start(signet::Service& service, signet::Request request);
  void on_loop_leave();
  void on_loop_end();

  signet::Executor& executor_;
  std::stop_source stop_;
  signet::Exchange exchange_;
  signet::Task<signet::Reply> task_;
  std::shared_ptr<Post> self_;  // while the task uses this

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> notifications_;
  std::size_t bytes_ = 0;
  std::optional<signet::Reply> reply_;
  bool lost_ = false;
  bool left_ = false;
};
