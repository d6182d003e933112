#include <signet/base/task.h>

#include <atomic>

namespace signet::detail {

// The promises that are ready to run on this thread, first in, first out.
struct ReadyQueue {
  PromiseBase* first = nullptr;
  PromiseBase* last = nullptr;
  bool running = false;

  void push(PromiseBase& promise) {
    promise.queue_ = this;
    promise.previous_ = last;
    promise.next_ = nullptr;
    (last != nullptr ? last->next_ : first) = &promise;
    last = &promise;
  }

  void remove(PromiseBase& promise) {
    (promise.previous_ != nullptr ? promise.previous_->next_ : first) = promise.next_;
    (promise.next_ != nullptr ? promise.next_->previous_ : last) = promise.previous_;
    promise.queue_ = nullptr;
  }
};

namespace {

thread_local ReadyQueue ready;
std::atomic<long> frames{0};

}  // namespace

void PromiseBase::schedule(PromiseBase& promise) {
  ready.push(promise);
  if (ready.running) return;
  ready.running = true;
  while (ready.first != nullptr) {
    PromiseBase& next = *ready.first;
    ready.remove(next);
    if (next.handle_.done()) {
      const std::function<void()> done = std::move(next.done_);
      done();
    } else {
      next.handle_.resume();
    }
  }
  ready.running = false;
}

void PromiseBase::unqueue() {
  if (queue_ != nullptr) queue_->remove(*this);
}

long frames_alive() { return frames.load(std::memory_order_relaxed); }
void count_frame(long by) { frames.fetch_add(by, std::memory_order_relaxed); }

}  // namespace signet::detail
