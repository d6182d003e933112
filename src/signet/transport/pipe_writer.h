// Lines to a pipe that may be blocked: written by a thread of its own. Internal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace signet::transport {

// Writes in the order given. Never blocks the caller, never makes the descriptor non-blocking (it may be shared with other
// processes). The descriptor is borrowed. Thread-safe.
class PipeWriter {
 public:
  // `broken` is called once, on the writer's thread, when the reader has gone.
  PipeWriter(int descriptor, std::function<void()> broken);
  // Stops without writing what still waits.
  ~PipeWriter();
  PipeWriter(const PipeWriter&) = delete;
  PipeWriter& operator=(const PipeWriter&) = delete;

  // Queues the line and a line end; false if more than `queue_bytes_max` waited already, or the reader has gone.
  bool write_line(std::string_view line, std::size_t queue_bytes_max);
  // How many bytes wait for the reader.
  std::size_t waiting();
  // Waits until at most `bytes` wait, the reader has gone, or `interrupt`.
  void wait_below(std::size_t bytes);
  void interrupt();
  // Waits until all is written, at most so long.
  void flush(std::chrono::milliseconds at_most);

 private:
  void run();
  bool write_all(std::string_view bytes);

  const int descriptor_;
  int wake_[2];
  std::function<void()> broken_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string queue_;
  std::size_t writing_ = 0;  // bytes taken from the queue and not yet written
  bool stop_ = false;
  bool gone_ = false;
  bool interrupted_ = false;
  std::thread thread_;
};

}  // namespace signet::transport
