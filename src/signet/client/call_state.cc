#include <signet/client/client_impl.h>

namespace signet {

void CallState::start_clock(const OneShot<Ended>& ended) {
  ended_ = ended;
  running_ = true;
  since_ = clock_.now();
  arm();
}

void CallState::stop_clock() {
  if (running_ && asking_ == 0)
    used_ += std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - since_);
  running_ = false;
  timer_.reset();
}

void CallState::asking_begins() {
  if (asking_++ != 0 || !running_) return;
  used_ += std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - since_);
  timer_.reset();
}

void CallState::asking_ends() {
  if (--asking_ != 0 || !running_) return;
  since_ = clock_.now();
  arm();
}

void CallState::arm() {
  if (allowed_.count() == 0) return;
  const std::chrono::milliseconds left = used_ < allowed_ ? allowed_ - used_ : std::chrono::milliseconds(0);
  timer_ = executor_.post_after(left, [weak = weak_from_this()] {
    const std::shared_ptr<CallState> self = weak.lock();
    if (!self || !self->running_) return;
    self->used_ = self->allowed_;
    self->ended_.set(Ended::timed_out);
  });
}

}  // namespace signet
