#include <signet/transport/pipe_writer.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

namespace signet::transport {

PipeWriter::PipeWriter(int descriptor, std::function<void()> broken)
    : descriptor_(descriptor), broken_(std::move(broken)) {
  if (::pipe2(wake_, O_CLOEXEC) != 0) std::abort();  // no descriptors left at start: nothing can be served
  thread_ = std::thread([this] { run(); });
}

PipeWriter::~PipeWriter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
}

bool PipeWriter::write_line(std::string_view line, std::size_t queue_bytes_max) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (gone_ || queue_.size() + writing_ > queue_bytes_max) return false;
    queue_ += line;
    queue_ += '\n';
  }
  changed_.notify_all();
  return true;
}

std::size_t PipeWriter::waiting() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queue_.size() + writing_;
}

void PipeWriter::wait_below(std::size_t bytes) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return interrupted_ || gone_ || stop_ || queue_.size() + writing_ <= bytes; });
}

void PipeWriter::interrupt() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    interrupted_ = true;
  }
  changed_.notify_all();
}

void PipeWriter::flush(std::chrono::milliseconds at_most) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return gone_ || queue_.size() + writing_ == 0; });
}

void PipeWriter::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    const std::string bytes = std::exchange(queue_, std::string());
    writing_ = bytes.size();
    lock.unlock();
    const bool written = write_all(bytes);
    lock.lock();
    writing_ = 0;
    if (!written) {
      gone_ = true;
      queue_.clear();
      changed_.notify_all();
      if (!stop_) broken_();
      return;
    }
    changed_.notify_all();
  }
}

// poll() promises room for PIPE_BUF bytes, so that pieces of that size do not block and the thread stays stoppable.
bool PipeWriter::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd events[2] = {{descriptor_, POLLOUT, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(events, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (events[1].revents != 0) return false;
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace signet::transport
