#include <signet/transport/pipe_reader.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace signet::transport {

PipeReader::PipeReader(int descriptor, std::size_t line_bytes_max,
                       std::function<void(std::vector<Line>)> lines, std::function<void()> ended)
    : descriptor_(descriptor), splitter_(line_bytes_max), lines_(std::move(lines)), ended_(std::move(ended)) {
  if (::pipe2(wake_, O_CLOEXEC) != 0) std::abort();  // no descriptors left at start: nothing can be served
  thread_ = std::thread([this] { run(); });
}

PipeReader::~PipeReader() {
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
}

void PipeReader::run() {
  std::vector<char> buffer(std::size_t{64} << 10);
  while (true) {
    pollfd events[2] = {{descriptor_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(events, 2, -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (events[1].revents != 0) return;
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    std::vector<Line> lines;
    splitter_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(count)), lines);
    if (!lines.empty()) lines_(std::move(lines));
  }
  std::vector<Line> rest;
  splitter_.finish(rest);
  if (!rest.empty()) lines_(std::move(rest));
  ended_();
}

}  // namespace signet::transport
