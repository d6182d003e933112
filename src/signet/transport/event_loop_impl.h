// What the transports see of an EventLoop. Internal.
#pragma once

#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <signet/transport/asio_executor.h>
#include <signet/transport/event_loop.h>

namespace signet {

struct EventLoop::Impl {
  Impl() : context(1), executor(context), busy(context.get_executor()) {
    thread = std::thread([this] { context.run(); });
  }

  boost::asio::io_context context;
  transport::AsioExecutor executor;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy;
  std::thread thread;
};

}  // namespace signet
