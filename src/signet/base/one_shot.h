// A value that arrives once, from a callback, and is awaited once.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

#include <signet/base/task.h>

namespace signet {

// The bridge from callbacks to tasks. Copies share one slot. `set` must run on the executor of the task that
// awaits (post it there); a second `set` is ignored, and so is one after the awaiting task was dropped.
template <typename T>
class OneShot {
 public:
  OneShot() : slot_(std::make_shared<Slot>()) {}

  void set(T value) const {
    const std::shared_ptr<Slot> slot = slot_;  // the resumed task may drop `this`
    if (slot->value.has_value() || slot->taken) return;
    slot->value.emplace(std::move(value));
    if (slot->waiting) resume(std::exchange(slot->waiting, nullptr));
  }
  bool is_set() const { return slot_->taken || slot_->value.has_value(); }

  class Awaiter;
  Awaiter operator co_await() const { return Awaiter(slot_); }

 private:
  struct Slot {
    std::optional<T> value;
    std::coroutine_handle<> waiting;
    bool taken = false;
  };

 public:
  class Awaiter {
   public:
    explicit Awaiter(std::shared_ptr<Slot> slot) : slot_(std::move(slot)) {}
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;
    ~Awaiter() { slot_->waiting = nullptr; }
    bool await_ready() const noexcept { return slot_->value.has_value(); }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { slot_->waiting = waiting; }
    T await_resume() {
      slot_->taken = true;
      T value = std::move(*slot_->value);
      slot_->value.reset();
      return value;
    }

   private:
    std::shared_ptr<Slot> slot_;
  };

 private:
  std::shared_ptr<Slot> slot_;
};

}  // namespace signet
