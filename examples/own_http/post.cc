#include "post.h"

#include <utility>

#include <signet/protocol/jsonrpc.h>

namespace {

// Of what a client has not read yet. Plain functions wait long before (Outlet::is_behind); a coroutine that tells more
// than this at once costs its client the connection, not the server its memory.
constexpr std::size_t waiting_bytes_max = std::size_t{1} << 20;

}  // namespace

Post::Post(signet::Executor& executor, signet::Principal principal, Header header) : executor_(executor) {
  exchange_.principal = std::move(principal);
  exchange_.outlet = this;
  exchange_.executor = &executor;
  exchange_.stop = stop_.get_token();
  exchange_.header = std::move(header);
}

void Post::start(signet::Service& service, signet::Request request) {
  auto shared = std::make_shared<signet::Request>(std::move(request));
  executor_.post(
      [self = shared_from_this(), &service, shared] { self->on_loop_start(service, std::move(*shared)); });
}

void Post::leave() {
  executor_.post([self = shared_from_this()] { self->on_loop_leave(); });
}

void Post::on_loop_start(signet::Service& service, signet::Request request) {
  self_ = shared_from_this();
  task_ = service.call(std::move(request), exchange_);
  task_.start([this] {
    {
      const std::lock_guard lock(mutex_);
      reply_.emplace(task_.take());
    }
    wake_.notify_one();
    // Not from inside the task's own last step.
    executor_.post([self = shared_from_this()] { self->on_loop_end(); });
  });
}

void Post::on_loop_leave() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
    notifications_.clear();
    bytes_ = 0;
  }
  if (exchange_.runs_to_end) return;
  stop_.request_stop();
  on_loop_end();
}

void Post::on_loop_end() {
  task_ = signet::Task<signet::Reply>();
  self_.reset();
}

void Post::notify(signet::Notification notification) {
  std::string line = signet::protocol::write_notification(notification);
  const std::lock_guard lock(mutex_);
  lost_ = lost_ || bytes_ + line.size() > waiting_bytes_max;
  if (lost_ || left_) return;
  bytes_ += line.size();
  notifications_.push_back(std::move(line));
  wake_.notify_one();
}

bool Post::is_behind() const {
  const std::lock_guard lock(mutex_);
  return bytes_ > waiting_bytes_max / 4;
}

Post::Next Post::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, most, [this] { return lost_ || !notifications_.empty() || reply_; });
  Next next;
  next.lost = lost_;
  if (lost_) return next;
  if (!notifications_.empty()) {
    next.notification = std::move(notifications_.front());
    notifications_.pop_front();
    bytes_ -= next.notification.size();
  } else if (reply_) {
    next.reply = std::move(reply_);
    reply_.reset();
  }
  return next;
}
