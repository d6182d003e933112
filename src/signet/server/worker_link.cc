#include <signet/server/worker_link.h>

#include <signet/json/text.h>

#include <utility>

namespace signet::detail {

void WorkerLink::notify(Notification notification) {
  const std::size_t bytes = notification.method.size() + json::write(notification.params).size();
  auto shared = std::make_shared<Notification>(std::move(notification));
  Item item(bytes, [shared](Outlet& outlet) { outlet.notify(std::move(*shared)); });
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this, bytes] { return is_over() || has_room_for(bytes); });
  if (!is_over()) add(std::move(item));
}

void WorkerLink::detach(std::chrono::milliseconds retry) {
  const std::lock_guard lock(mutex_);
  if (!is_over()) add(Item(0, [retry](Outlet& outlet) { outlet.detach(retry); }));
}

void WorkerLink::end(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (is_over()) return;
  ended_ = true;
  add(Item(0, [work = std::move(work)](Outlet& /*outlet*/) { work(); }));
}

void WorkerLink::close() {
  std::deque<Item> dropped;  // what they hold is destroyed outside the lock
  {
    const std::lock_guard lock(mutex_);
    executor_ = nullptr;
    outlet_ = nullptr;
    dropped.swap(items_);
  }
  timer_.reset();
  room_.notify_all();
}

bool WorkerLink::has_room_for(std::size_t bytes) const {
  return items_.empty() || (items_.size() < notifications_max && bytes_ + bytes <= bytes_max);
}

// Under the lock.
void WorkerLink::add(Item item) {
  bytes_ += item.bytes;
  items_.push_back(std::move(item));
  if (std::exchange(under_way_, true)) return;
  executor_->post([self = shared_from_this()] { self->hand_over(); });
}

// One turn. Only the executor closes the link, so the outlet cannot go away between the lock and its use, except inside
// the use itself.
void WorkerLink::hand_over() {
  for (std::size_t handed = 0; outlet_ != nullptr; ++handed) {
    const bool is_behind = outlet_->is_behind();
    std::unique_lock lock(mutex_);
    if (items_.empty()) {
      under_way_ = false;
      return;
    }
    if (is_behind) {
      timer_ = executor_->post_after(pause, [link = weak_from_this()] {
        if (const std::shared_ptr<WorkerLink> self = link.lock()) self->hand_over();
      });
      return;
    }
    if (handed == turn_max) {
      executor_->post([self = shared_from_this()] { self->hand_over(); });
      return;
    }
    const Item item = std::move(items_.front());
    items_.pop_front();
    bytes_ -= item.bytes;
    lock.unlock();
    room_.notify_all();
    item.hand(*outlet_);
  }
}

}  // namespace signet::detail
