// A thread that does the I/O of clients.
#pragma once

#include <memory>

#include <signet/base/executor.h>

namespace signet {

// One event loop on one thread of its own, from construction to destruction. Whatever uses it (HttpClient,
// ChildProcess, Client, tasks started on it) goes first. Destruction waits for the function that is running,
// drops what is queued, and must not happen on the loop's own thread.
class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Lives as long as the loop. Thread-safe.
  Executor& executor();

  // For the transports alone.
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace signet
