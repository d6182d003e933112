#include <signet/transport/child_process.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <mutex>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>

#include <signet/base/one_shot.h>
#include <signet/base/task_group.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/transport_failure.h>
#include <signet/transport/child_environment.h>
#include <signet/transport/event_loop_impl.h>
#include <signet/transport/guarded.h>

namespace signet {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using protocol::TransportFailure;
using Kind = TransportFailure::Kind;
using namespace std::chrono_literals;

constexpr std::size_t read_bytes = std::size_t{64} << 10;
constexpr std::size_t server_requests_max = 64;
constexpr int junk_lines_logged_max = 20;
constexpr auto last_words_max = 500ms;  // between a child's death and the end of its output

// An owned descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure("no pipe: " + std::string(std::strerror(errno)));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string how_it_ended(int status) {
  if (WIFEXITED(status))
    return "the server process exited with status " + std::to_string(WEXITSTATUS(status));
  if (WIFSIGNALED(status))
    return "the server process was killed by signal " + std::to_string(WTERMSIG(status));
  return "the server process ended";
}

void ignore_sigpipe() {
  struct sigaction now{};
  if (::sigaction(SIGPIPE, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &now, nullptr);
}

// Three descriptors, default signals, its own process group.
Result<pid_t> spawn(std::vector<std::string> command, const ChildProcessOptions& options, int input,
                    int output, int error) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (options.standard_error == ChildProcessOptions::Stderr::discard) {
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  } else if (error >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, error, 2);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (!options.directory.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  sigset_t all;
  sigset_t none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> environment = transport::child_environment(options.environment);
  std::vector<char*> arguments = transport::pointers_to(command);
  std::vector<char*> variables = transport::pointers_to(environment);
  pid_t pid = -1;
  const int failed =
      ::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) return failure(command.front() + " cannot be started: " + std::strerror(failed));
  return pid;
}

}  // namespace

struct ChildProcess::Impl : std::enable_shared_from_this<ChildProcess::Impl> {
  Impl(EventLoop::Impl& event_loop, ChildProcessOptions wanted)
      : loop(event_loop),
        options(transport::with_guarded_log(std::move(wanted))),
        input(event_loop.context),
        output(event_loop.context),
        error(event_loop.context),
        exit(event_loop.context),
        buffer(read_bytes),
        error_buffer(4096) {}

  struct Pending {
    OneShot<Reply> reply;
    Outlet* outlet = nullptr;
    Session* session = nullptr;
    std::string progress_key;
    std::uint64_t order = 0;
  };

  void begin();
  void read_output();
  void read_error();
  void watch_exit();
  void take_bytes(std::string_view bytes);
  void take_line(std::string_view line);
  void take_response(protocol::Response response);
  void take_notification(Notification notification);
  Task<void> answer(Outlet& outlet, Request request);
  bool write_line(std::string line);
  void write_next();
  void fail_all(Kind kind, const std::string& sentence);
  void gone();
  void shut_down();
  void next_step(int step);
  void reap();
  Task<Reply> call(Request request, Exchange& exchange);
  void log(LogLevel level, std::string_view event, std::string_view name, std::string value) const {
    if (options.log) options.log(level, event, {{name, std::move(value)}});
  }

  EventLoop::Impl& loop;
  ChildProcessOptions options;
  asio::posix::stream_descriptor input;   // the child's standard input
  asio::posix::stream_descriptor output;  // its standard output
  asio::posix::stream_descriptor error;
  asio::posix::stream_descriptor exit;  // readable when it has exited
  pid_t pid = -1;
  std::vector<char> buffer;
  std::vector<char> error_buffer;
  std::string line;
  bool line_too_long = false;
  std::deque<std::string> queue;
  std::size_t queue_bytes = 0;
  bool writing = false;
  bool output_ended = false;
  bool reaped = false;
  bool ending = false;
  std::string end_sentence = "the server process closed its output";
  std::map<std::string, Pending> pending;  // by id_key
  std::uint64_t order = 0;
  Session* session = nullptr;  // of the last exchange that had one
  std::weak_ptr<void> session_alive;
  TaskGroup answers;
  std::shared_ptr<void> timer;
  int junk_lines = 0;
  std::function<void()> when_reaped;
  mutable std::mutex captured_mutex;
  std::string captured;
};

void ChildProcess::Impl::begin() {
  read_output();
  if (error.is_open()) read_error();
  watch_exit();
}

void ChildProcess::Impl::read_output() {
  output.async_read_some(asio::buffer(buffer),
                         [self = shared_from_this()](error_code failed, std::size_t bytes) {
                           if (failed) {
                             self->output_ended = true;
                             return self->gone();
                           }
                           self->take_bytes(std::string_view(self->buffer.data(), bytes));
                           self->read_output();
                         });
}

void ChildProcess::Impl::read_error() {
  error.async_read_some(asio::buffer(error_buffer),
                        [self = shared_from_this()](error_code failed, std::size_t bytes) {
                          if (failed) return;
                          {
                            const std::lock_guard lock(self->captured_mutex);
                            self->captured.append(self->error_buffer.data(), bytes);
                            const std::size_t most = self->options.stderr_bytes_max;
                            if (self->captured.size() > most)
                              self->captured.erase(0, self->captured.size() - most);
                          }
                          self->read_error();
                        });
}

void ChildProcess::Impl::watch_exit() {
  exit.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](error_code failed) {
    if (!failed) self->reap();
  });
}

void ChildProcess::Impl::reap() {
  if (reaped) return;
  siginfo_t exited{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &exited, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      exited.si_pid == 0) {
    return watch_exit();
  }
  // While it is a zombie its number is its own: what is left of its group must not outlive the client.
  if (ending) ::kill(-pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  reaped = true;
  end_sentence = how_it_ended(status);
  timer.reset();
  if (when_reaped) std::exchange(when_reaped, nullptr)();
  if (output_ended) return gone();
  // What it wrote last is still in the pipe; a grandchild may hold the pipe open, so not for ever.
  timer = loop.executor.post_after(last_words_max, [weak = weak_from_this()] {
    if (const std::shared_ptr<Impl> self = weak.lock()) self->gone();
  });
}

// The end of output or of the process: whoever waits is told. The reason is best known once both are there.
void ChildProcess::Impl::gone() {
  if (!reaped && !ending) {
    timer = loop.executor.post_after(last_words_max, [weak = weak_from_this()] {
      const std::shared_ptr<Impl> self = weak.lock();
      if (!self) return;
      self->fail_all(Kind::closed, self->end_sentence);
      self->shut_down();
    });
    return;
  }
  fail_all(Kind::closed, end_sentence);
}

void ChildProcess::Impl::take_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!line_too_long && line.size() + piece.size() > options.line_bytes_max) {
      line_too_long = true;
      line.clear();
      line.shrink_to_fit();
      log(LogLevel::error, "line_too_long", "limit", std::to_string(options.line_bytes_max));
      fail_all(Kind::too_large, "the server wrote a line longer than the limit of " +
                                    std::to_string(options.line_bytes_max) + " bytes");
    }
    if (!line_too_long) line.append(piece);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (!std::exchange(line_too_long, false)) {
      const std::string whole = std::exchange(line, {});
      take_line(whole);
    }
  }
}

void ChildProcess::Impl::take_line(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  if (text.find_first_not_of(" \t") == std::string_view::npos) return;
  json::Limits limits;
  limits.bytes_max = options.line_bytes_max;
  protocol::Message message = protocol::read_message(text, limits);
  if (auto* response = std::get_if<protocol::Response>(&message)) return take_response(std::move(*response));
  if (auto* notification = std::get_if<Notification>(&message))
    return take_notification(std::move(*notification));
  if (auto* request = std::get_if<Request>(&message)) {
    // Only clients say these.
    const bool opening = request->method == "server/discover" || request->method == "initialize";
    if (opening && pending.contains(protocol::id_key(request->id)))
      return fail_all(Kind::not_mcp, "the program repeats what it is sent");
    const bool open = session != nullptr && !session_alive.expired() && session->outlet != nullptr;
    if (open && answers.size() < server_requests_max) {
      return answers.start(answer(*session->outlet, std::move(*request)));
    }
    return log(LogLevel::warning, "server_request_ignored", "method", request->method);
  }
  if (++junk_lines <= junk_lines_logged_max) {
    log(LogLevel::warning, "junk_on_stdout", "bytes", std::to_string(text.size()));
  }
}

void ChildProcess::Impl::take_response(protocol::Response response) {
  const auto found = pending.find(protocol::id_key(response.id));
  if (found == pending.end()) return log(LogLevel::warning, "reply_ignored", "reason", "nobody waits for it");
  const OneShot<Reply> waiting = found->second.reply;
  pending.erase(found);
  waiting.set(std::move(response.reply));
}

// To the exchange it names, else to the session, else to the exchange that is open longest: log lines of the 2026-07-28
// revision name none.
void ChildProcess::Impl::take_notification(Notification notification) {
  const Json* meta = notification.params.find(protocol::meta::member);
  const Json* subscription = meta != nullptr ? meta->find(protocol::meta::subscription_id) : nullptr;
  if (subscription != nullptr) {
    const auto found = pending.find(protocol::id_key(*subscription));
    if (found != pending.end()) return found->second.outlet->notify(std::move(notification));
    return log(LogLevel::warning, "notification_ignored", "reason", "no such subscription");
  }
  const Json* token = notification.params.find("progressToken");
  if (notification.method == "notifications/progress" && token != nullptr) {
    const std::string key = protocol::id_key(*token);
    for (auto& [id, entry] : pending) {
      if (entry.progress_key == key) return entry.outlet->notify(std::move(notification));
    }
    return;  // late: its request has ended
  }
  if (session != nullptr && !session_alive.expired() && session->outlet != nullptr) {
    return session->outlet->notify(std::move(notification));
  }
  Pending* oldest = nullptr;
  for (auto& [id, entry] : pending) {
    if (oldest == nullptr || entry.order < oldest->order) oldest = &entry;
  }
  if (oldest != nullptr) oldest->outlet->notify(std::move(notification));
}

Task<void> ChildProcess::Impl::answer(Outlet& outlet, Request request) {
  const Task<Reply> asking = outlet.request(request.method, std::move(request.params));
  const Reply reply = co_await asking;
  write_line(protocol::write_reply(request.id, reply));
}

bool ChildProcess::Impl::write_line(std::string text) {
  if (!input.is_open() || queue_bytes + text.size() > options.queue_bytes_max) return false;
  text += '\n';
  queue_bytes += text.size();
  queue.push_back(std::move(text));
  if (!writing) write_next();
  return true;
}

void ChildProcess::Impl::write_next() {
  writing = true;
  asio::async_write(input, asio::buffer(queue.front()),
                    [self = shared_from_this()](error_code failed, std::size_t) {
                      self->writing = false;
                      self->queue_bytes -= self->queue.front().size();
                      self->queue.pop_front();
                      if (failed) {
                        self->queue.clear();
                        self->queue_bytes = 0;
                        error_code ignored;
                        self->input.close(ignored);
                      } else if (!self->queue.empty()) {
                        self->write_next();
                      } else if (self->ending) {
                        error_code ignored;
                        self->input.close(ignored);
                      }
                    });
}

void ChildProcess::Impl::fail_all(Kind kind, const std::string& sentence) {
  for (auto& [id, entry] : std::exchange(pending, {})) {
    entry.reply.set(failure(protocol::to_fault(TransportFailure(kind, sentence, true))));
  }
}

void ChildProcess::Impl::shut_down() {
  if (std::exchange(ending, true)) return;
  answers.drop_all();
  if (!writing) {
    error_code ignored;
    input.close(ignored);
  }
  next_step(0);
}

void ChildProcess::Impl::next_step(int step) {
  if (reaped) return;
  if (step == 1) ::kill(-pid, SIGTERM);
  if (step >= 2) ::kill(-pid, SIGKILL);
  if (step > 2) return;
  timer = loop.executor.post_after(options.step_max, [weak = weak_from_this(), step] {
    if (const std::shared_ptr<Impl> self = weak.lock()) self->next_step(step + 1);
  });
}

Task<Reply> ChildProcess::Impl::call(Request request, Exchange& exchange) {
  const std::string key = protocol::id_key(request.id);
  const auto refuse = [](Kind kind, std::string sentence) {
    return Reply(failure(protocol::to_fault(TransportFailure(kind, std::move(sentence), false))));
  };
  if (ending || reaped || output_ended) co_return refuse(Kind::closed, end_sentence);
  if (pending.contains(key)) co_return refuse(Kind::local, "a request with this id is outstanding");
  if (exchange.session != nullptr) {
    session = exchange.session;
    if (!session->server_state) session->server_state = std::make_shared<int>(0);
    session_alive = session->server_state;
  }
  if (!write_line(protocol::write_request(request.id, request.method, request.params))) {
    co_return refuse(Kind::closed, "the server process does not read its input");
  }

  // Sends the cancellation where the task is dropped; `initialize` is never cancelled.
  struct Guard {
    Guard(std::shared_ptr<Impl> child, std::string id_text, Json request_id, bool cancel)
        : owner(std::move(child)), id_key(std::move(id_text)), id(std::move(request_id)), cancels(cancel) {}
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() {
      if (owner->pending.erase(id_key) == 0 || !cancels || owner->ending) return;
      owner->write_line(protocol::write_notification(
          Notification("notifications/cancelled", Json::object({{"requestId", id}}))));
    }
    std::shared_ptr<Impl> owner;
    std::string id_key;
    Json id;
    bool cancels;
  };
  const OneShot<Reply> arrived;
  Pending entry;
  entry.reply = arrived;
  entry.outlet = exchange.outlet;
  entry.order = ++order;
  const Json* token = protocol::progress_token(request.params);
  if (token != nullptr) entry.progress_key = protocol::id_key(*token);
  pending.emplace(key, std::move(entry));
  const Guard guard(shared_from_this(), key, request.id, request.method != "initialize");
  Reply reply = co_await arrived;
  co_return reply;
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(EventLoop& loop, std::vector<std::string> command,
                                                          ChildProcessOptions options) {
  if (command.empty() || command.front().empty()) return failure("no command to start");
  ignore_sigpipe();
  Result<Pipe> in = make_pipe();
  Result<Pipe> out = make_pipe();
  Result<Pipe> err = make_pipe();
  if (!in || !out || !err) return failure("no pipe for the server process");
  const bool captures = options.standard_error == ChildProcessOptions::Stderr::capture;
  const Result<pid_t> pid =
      spawn(std::move(command), options, in->read.get(), out->write.get(), captures ? err->write.get() : -1);
  if (!pid) return failure(pid.error());
  auto impl = std::make_shared<Impl>(loop.impl(), std::move(options));
  impl->pid = *pid;
  impl->input.assign(in->write.release());
  impl->output.assign(out->read.release());
  if (captures) impl->error.assign(err->read.release());
  const int exit = static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0));
  if (exit < 0) {
    ::kill(-*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
    return failure("this system cannot watch processes (pidfd_open)");
  }
  ::fcntl(exit, F_SETFD, FD_CLOEXEC);
  impl->exit.assign(exit);
  loop.executor().post([impl] { impl->begin(); });
  return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(impl)));
}

Task<Reply> ChildProcess::call(Request request, Exchange& exchange) {
  return impl_->call(std::move(request), exchange);
}

void ChildProcess::notify(Notification notification, Exchange&) {
  if (!impl_->write_line(protocol::write_notification(notification))) {
    impl_->log(LogLevel::warning, "notification_not_delivered", "reason", "the server process does not read");
  }
}

void ChildProcess::shut_down() { impl_->shut_down(); }

std::string ChildProcess::standard_error() const {
  const std::lock_guard lock(impl_->captured_mutex);
  return impl_->captured;
}

int ChildProcess::process_id() const { return impl_->pid; }

ChildProcess::~ChildProcess() {
  auto gone = std::make_shared<std::promise<void>>();
  std::future<void> wait = gone->get_future();
  impl_->loop.executor.post([impl = impl_, gone] {
    const auto end = [impl, gone] {
      error_code ignored;
      impl->input.close(ignored);
      impl->output.close(ignored);
      impl->error.close(ignored);
      impl->exit.close(ignored);
      gone->set_value();
    };
    if (impl->reaped) return end();
    impl->when_reaped = end;
    impl->shut_down();
  });
  impl_.reset();
  wait.wait();
}

}  // namespace signet
