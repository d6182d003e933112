// What a plain function tells, on its way from its thread to the executor.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <signet/base/executor.h>
#include <signet/protocol/service.h>

namespace signet::detail {

// In order, and never more than a window of it: the function's thread waits in `notify` until there is room, so that it
// tells no faster than the executor hands over and the peer reads. Few are handed over in one turn of the executor, which
// others share. Made by make_shared: it may outlive the request, and is closed then.
class WorkerLink final : public std::enable_shared_from_this<WorkerLink> {
 public:
  // Of what waits to be handed over: one notification may be larger than all of it, and goes alone.
  static constexpr std::size_t notifications_max = 64;
  static constexpr std::size_t bytes_max = std::size_t{256} << 10;
  static constexpr std::size_t turn_max = 16;
  // While the peer is behind nothing is handed over, and the outlet is asked again after this.
  static constexpr std::chrono::milliseconds pause{10};

  // Both are borrowed until `close`.
  WorkerLink(Executor& executor, Outlet& outlet) : executor_(&executor), outlet_(&outlet) {}
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  // From the function's thread. After `end` or `close` they do nothing.
  void notify(Notification notification);
  void detach(std::chrono::milliseconds retry);
  // The last; never waits. `work` is run on the executor behind all that was told.
  void end(std::function<void()> work);

  // On the executor. Nothing reaches the outlet any more, and whoever waits goes on.
  void close();

 private:
  struct Item {
    Item(std::size_t size, std::function<void(Outlet& outlet)> work) : bytes(size), hand(std::move(work)) {}
    std::size_t bytes;
    std::function<void(Outlet& outlet)> hand;
  };

  bool is_over() const { return executor_ == nullptr || ended_; }
  bool has_room_for(std::size_t bytes) const;
  void add(Item item);
  void hand_over();

  std::mutex mutex_;
  std::condition_variable room_;
  Executor* executor_;  // null: closed
  Outlet* outlet_;      // on the executor only
  std::deque<Item> items_;
  std::size_t bytes_ = 0;   // of them
  bool under_way_ = false;  // a turn is posted
  bool ended_ = false;
  std::shared_ptr<void> timer_;  // on the executor only
};

}  // namespace signet::detail
