#include <signet/cli/terminal.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace signet::cli {
namespace {

constexpr std::size_t line_bytes_max = std::size_t{1} << 20;
constexpr int bar_width = 24;
constexpr std::size_t columns_without_terminal = 10'000;
constexpr std::array<int, 4> signals_heard{SIGINT, SIGTERM, SIGQUIT, SIGHUP};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// What the terminal was before echo was switched off, for whoever ends the process meanwhile.
std::atomic<const termios*> echo_before{nullptr};

void restore_echo() {
  const termios* before = echo_before.load();
  if (before != nullptr) ::tcsetattr(0, TCSANOW, before);
}

std::string locale_of_terminal() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

// Echo off, as long as it lives.
class NoEcho {
 public:
  explicit NoEcho(bool wanted) : active_(wanted && ::tcgetattr(0, &before_) == 0) {
    if (!active_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    quiet.c_lflag |= ECHONL;
    echo_before.store(&before_);
    ::tcsetattr(0, TCSAFLUSH, &quiet);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;
  ~NoEcho() {
    restore_echo();
    if (active_) echo_before.store(nullptr);
  }

 private:
  termios before_{};
  bool active_;
};

}  // namespace

Interrupts::Interrupts() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals_heard) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  std::array<int, 2> wake{};
  std::array<int, 2> end{};
  if (signals_ < 0 || ::pipe2(wake.data(), O_CLOEXEC) != 0 || ::pipe2(end.data(), O_CLOEXEC) != 0)
    std::abort();
  wake_read_ = wake[0];
  wake_write_ = wake[1];
  end_read_ = end[0];
  end_write_ = end[1];
  thread_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
  write_all(end_write_, "x");
  thread_.join();
  for (const int fd : {signals_, wake_read_, wake_write_, end_read_, end_write_}) ::close(fd);
}

void Interrupts::watch() {
  for (;;) {
    std::array<pollfd, 2> waited{pollfd{signals_, POLLIN, 0}, pollfd{end_read_, POLLIN, 0}};
    if (::poll(waited.data(), waited.size(), -1) < 0) continue;
    if (waited[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info) continue;
    // A second one does not wait for anybody.
    if (code_.load() != 0) {
      restore_echo();
      ::_exit(code_.load());
    }
    code_.store(128 + static_cast<int>(info.ssi_signo));
    write_all(wake_write_, "x");
    source_.request_stop();
  }
}

Terminal::Terminal(const Interrupts& interrupts)
    : interrupts_(interrupts),
      interactive_(::isatty(0) == 1 && ::isatty(2) == 1),
      shows_progress_(::isatty(2) == 1),
      colours_(::isatty(2) == 1 && std::getenv("NO_COLOR") == nullptr),
      ascii_only_(names_other_encoding(locale_of_terminal())) {
  const char* kind = std::getenv("TERM");
  if (kind == nullptr || std::string_view(kind) == "dumb") {
    colours_ = false;
    shows_progress_ = false;
  }
}

std::string Terminal::styled(std::string_view code, std::string_view text) const {
  if (!colours_) return std::string(text);
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::size_t Terminal::columns() const {
  if (::isatty(2) != 1) return columns_without_terminal;
  winsize size{};
  const bool known = ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::clamp<std::size_t>(size.ws_col, 20, 500) : 80;
}

void Terminal::write_error(std::string_view text) {
  if (ascii_only_ && ::isatty(2) == 1) {
    write_all(2, ascii_only(text));
  } else {
    write_all(2, text);
  }
}

void Terminal::say(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(progress_shown_, false)) write_all(2, "\r\033[K");
  // What comes while a prompt stands there begins its own row: behind the prompt it could end at the terminal's edge, and
  // go on in the next row without its frame.
  if (asking_ && interactive_) write_error("\n");
  write_error(text);
}

void Terminal::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(progress_shown_, false)) write_all(2, "\r\033[K");
  bool written = false;
  if (::isatty(1) != 1) {
    written = write_all(1, text);
  } else {
    const std::string harmless = printable(text);
    written = write_all(1, ascii_only_ ? ascii_only(harmless) : harmless);
  }
  if (!written) printed_all_.store(false);
}

void Terminal::set_asking(bool asking) {
  const std::lock_guard lock(mutex_);
  asking_ = asking;
}

void Terminal::show_prompt(std::string_view prompt) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(progress_shown_, false)) write_all(2, "\r\033[K");
  write_error(prompt);
}

LineEnd Terminal::ask(std::string_view prompt, bool secret, std::string& line) {
  if (interrupts_.exit_code() != 0) return LineEnd::interrupted;
  set_asking(true);
  // Before the prompt: what is typed at it must neither show nor be lost.
  const NoEcho quiet(secret && interactive_);
  show_prompt(prompt);
  const LineEnd end = read_line(line);
  set_asking(false);
  if (end != LineEnd::line || !interactive_) say("\n");
  return end;
}

void Terminal::wait_for(int descriptor, std::chrono::milliseconds most) const {
  std::array<pollfd, 2> waited{pollfd{descriptor, POLLIN, 0}, pollfd{interrupts_.descriptor(), POLLIN, 0}};
  ::poll(waited.data(), waited.size(), static_cast<int>(most.count()));
}

LineEnd Terminal::read_line(std::string& line) {
  for (;;) {
    const std::size_t end = input_.find('\n');
    if (end != std::string::npos) {
      line = input_.substr(0, end);
      input_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return LineEnd::line;
    }
    std::array<pollfd, 2> waited{pollfd{0, POLLIN, 0}, pollfd{interrupts_.descriptor(), POLLIN, 0}};
    if (::poll(waited.data(), waited.size(), -1) < 0) continue;
    if (waited[1].revents != 0) return LineEnd::interrupted;
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(0, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || input_.size() > line_bytes_max) {
      if (input_.empty() || got < 0) return LineEnd::end_of_input;
      line = std::exchange(input_, {});
      return LineEnd::line;
    }
    input_.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

void Terminal::progress(double done, std::optional<double> total, std::string_view message) {
  if (!shows_progress_) return;
  std::string line = "\r\033[K";
  if (total && *total > 0) {
    const double share = std::clamp(done / *total, 0.0, 1.0);
    const int full = static_cast<int>(share * bar_width);
    line += "[" + std::string(static_cast<std::size_t>(full), '#') +
            std::string(static_cast<std::size_t>(bar_width - full), ' ') + "] " +
            std::to_string(static_cast<int>(share * 100)) + "% ";
  } else {
    line += "... ";
  }
  // One row and no more, since one row is cleared again.
  const std::size_t room = std::min<std::size_t>(60, columns() - std::min(columns(), line.size()));
  std::string said = one_line(message, room);
  if (columns_of(said) > room) said.clear();
  const std::lock_guard lock(mutex_);
  if (asking_) return;
  write_error(line + said);
  progress_shown_ = true;
}

}  // namespace signet::cli
