#include <signet/transport/event_loop.h>

#include <signet/transport/event_loop_impl.h>

namespace signet {

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}

EventLoop::~EventLoop() {
  impl_->context.stop();
  impl_->thread.join();
}

Executor& EventLoop::executor() { return impl_->executor; }

}  // namespace signet
