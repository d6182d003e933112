// Lines from a pipe, read by a thread of its own. Internal.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include <signet/transport/line_splitter.h>

namespace signet::transport {

// The descriptor is borrowed: pipes, sockets, files and terminals alike.
class PipeReader {
 public:
  // Both are called on the reader's thread. The next bytes are read when `lines` has returned, so that it can hold the
  // peer back. `ended` is called once, at the end of input or on an error, not after stop().
  PipeReader(int descriptor, std::size_t line_bytes_max, std::function<void(std::vector<Line>)> lines,
             std::function<void()> ended);
  // Stops reading, and waits for the callback that is running.
  ~PipeReader();
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

 private:
  void run();

  const int descriptor_;
  int wake_[2];
  LineSplitter splitter_;
  std::function<void(std::vector<Line>)> lines_;
  std::function<void()> ended_;
  std::thread thread_;
};

}  // namespace signet::transport
