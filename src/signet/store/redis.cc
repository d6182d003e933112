#include <signet/store/redis.h>

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <signet/store/worker.h>

namespace signet::store {
namespace {

using token::Claim;
using token::ClaimOutcome;

// What a key holds: `p` (pending) or `f` (finished), `k` (keeps the reply) or `-`, the digest of the answers, and,
// where it is finished and kept, the reply.
constexpr std::size_t header_bytes = 2 + std::tuple_size_v<Digest>;

std::string header(char stage, bool keep, const Digest& answers) {
  std::string text = {stage, keep ? 'k' : '-'};
  text.append(as_text(answers));
  return text;
}

// KEYS: the claim. ARGV: what a claim that is still open begins with, and what it becomes.
constexpr const char* finish_script =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') return 1";
constexpr const char* abandon_script =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
    "return redis.call('DEL', KEYS[1])";

timeval seconds_of(std::chrono::milliseconds time) {
  return {static_cast<time_t>(time.count() / 1000), static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using ReplyPtr = std::unique_ptr<redisReply, FreeReply>;

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
using ContextPtr = std::unique_ptr<redisContext, FreeContext>;

std::string_view text_of(const redisReply& reply) { return {reply.str, reply.len}; }
bool is_status(const redisReply& reply, std::string_view text) {
  return reply.type == REDIS_REPLY_STATUS && text_of(reply) == text;
}
Failure<Error> unexpected() { return failure("Redis refused a command of the store."); }

using Command = std::vector<std::string>;

bool append(redisContext& context, const Command& command) {
  std::vector<const char*> words;
  std::vector<std::size_t> sizes;
  for (const std::string& word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  return redisAppendCommandArgv(&context, static_cast<int>(command.size()), words.data(), sizes.data()) ==
         REDIS_OK;
}

ReplyPtr next_reply(redisContext& context) {
  void* reply = nullptr;
  if (redisGetReply(&context, &reply) != REDIS_OK) return nullptr;
  return ReplyPtr(static_cast<redisReply*>(reply));
}

// Commands to send, and who is told what came back.
class Job {
 public:
  virtual ~Job() = default;
  virtual const std::vector<Command>& commands() const = 0;
  virtual void deliver(const std::vector<ReplyPtr>& replies) = 0;  // one for each command, none null
  virtual void fail(const Error& error) = 0;
};

template <typename T>
class Operation final : public Job {
 public:
  using Read = std::function<Result<T>(const std::vector<ReplyPtr>&)>;
  Operation(std::shared_ptr<Crossing<T>> crossing, std::vector<Command> commands, Read read)
      : crossing_(std::move(crossing)), commands_(std::move(commands)), read_(std::move(read)) {}

  const std::vector<Command>& commands() const override { return commands_; }
  void deliver(const std::vector<ReplyPtr>& replies) override { crossing_->deliver(read_(replies)); }
  void fail(const Error& error) override { crossing_->deliver(failure(error)); }

 private:
  std::shared_ptr<Crossing<T>> crossing_;
  std::vector<Command> commands_;
  Read read_;
};

// The connection, used on the worker's thread: made when needed, thrown away at the first sign of trouble.
class Connection {
 public:
  Connection(RedisAddress address, Entropy& entropy, RedisOptions options)
      : address_(std::move(address)), entropy_(entropy), options_(std::move(options)) {}

  void process(std::vector<std::unique_ptr<Job>>& jobs) {
    if (!connect()) return fail(jobs, 0, Error("Redis cannot be reached."));
    for (const auto& job : jobs) {
      for (const Command& command : job->commands()) append(*context_, command);
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      std::vector<ReplyPtr> replies;
      for (std::size_t n = jobs[i]->commands().size(); n > 0; --n) {
        ReplyPtr reply = next_reply(*context_);
        if (reply == nullptr) {
          context_.reset();
          return fail(jobs, i, Error("Redis did not answer."));
        }
        replies.push_back(std::move(reply));
      }
      jobs[i]->deliver(replies);
    }
  }

 private:
  using Steady = std::chrono::steady_clock;

  static void fail(std::vector<std::unique_ptr<Job>>& jobs, std::size_t from, const Error& error) {
    for (std::size_t i = from; i < jobs.size(); ++i) jobs[i]->fail(error);
  }

  // Redis closes connections that are idle, and all when it restarts. Nothing is awaited between two batches, so what
  // can be read there is the end.
  bool has_ended() const {
    pollfd wanted{context_->fd, POLLIN, 0};
    return ::poll(&wanted, 1, 0) != 0;
  }

  bool connect() {
    if (context_ != nullptr && has_ended()) context_.reset();
    if (context_ != nullptr) return true;
    if (Steady::now() < next_attempt_) return false;
    const timeval timeout = seconds_of(options_.connect_timeout);
    context_.reset(address_.socket.empty()
                       ? redisConnectWithTimeout(address_.host.c_str(), address_.port, timeout)
                       : redisConnectUnixWithTimeout(address_.socket.c_str(), timeout));
    if (context_ == nullptr || context_->err != 0 || !enter()) {
      context_.reset();
      wait_before_next();
      return false;
    }
    failures_ = 0;
    return true;
  }

  bool enter() {
    if (redisSetTimeout(context_.get(), seconds_of(options_.command_timeout)) != REDIS_OK) return false;
    // A Unix socket has no keep-alive, and asking for it would spoil the connection.
    if (address_.socket.empty() && redisEnableKeepAlive(context_.get()) != REDIS_OK) return false;
    ::fcntl(context_->fd, F_SETFD, FD_CLOEXEC);
    if (!address_.password.empty() && !authenticate()) return false;
    if (address_.database == 0) return true;
    return ask({"SELECT", std::to_string(address_.database)});
  }

  // The password goes from the Secret to the connection's buffer, and to no string of ours.
  bool authenticate() {
    const ByteView password = address_.password.expose();
    std::vector<const char*> words = {"AUTH"};
    std::vector<std::size_t> sizes = {4};
    if (!address_.user.empty()) {
      words.push_back(address_.user.data());
      sizes.push_back(address_.user.size());
    }
    words.push_back(reinterpret_cast<const char*>(password.data()));
    sizes.push_back(password.size());
    if (redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), words.data(), sizes.data()) !=
        REDIS_OK) {
      return false;
    }
    const ReplyPtr reply = next_reply(*context_);
    return reply != nullptr && is_status(*reply, "OK");
  }

  bool ask(const Command& command) {
    if (!append(*context_, command)) return false;
    const ReplyPtr reply = next_reply(*context_);
    return reply != nullptr && is_status(*reply, "OK");
  }

  // Twice as long after each failure, and of random length, so that a fleet does not come back all at once.
  void wait_before_next() {
    constexpr std::int64_t first_ms = 50;
    failures_ = std::min(failures_ + 1, 16);
    const std::int64_t longest =
        std::min<std::int64_t>(first_ms << failures_, options_.reconnect_pause_max.count());
    std::uint32_t random = 0;
    entropy_.fill({reinterpret_cast<std::uint8_t*>(&random), sizeof random});
    next_attempt_ = Steady::now() + std::chrono::milliseconds(longest / 2 + random % (longest / 2 + 1));
  }

  const RedisAddress address_;
  Entropy& entropy_;
  const RedisOptions options_;
  ContextPtr context_;
  int failures_ = 0;
  Steady::time_point next_attempt_;
};

// The connection and its thread; what the stores share.
class Engine {
 public:
  Engine(RedisAddress address, Entropy& entropy, const RedisOptions& options)
      : connection_(std::move(address), entropy, options),
        worker_(options.queue_max, 128, [this](std::vector<std::unique_ptr<Job>>& jobs) { process(jobs); }) {}

  template <typename T>
  Task<Result<T>> run(Executor& executor, std::vector<Command> commands, typename Operation<T>::Read read) {
    const auto crossing = std::make_shared<Crossing<T>>(executor);
    const Waiting<T> waiting(crossing);
    const bool queued =
        worker_.post(std::make_unique<Operation<T>>(crossing, std::move(commands), std::move(read)));
    if (!queued) co_return failure("Too many operations wait for the store.");
    Result<T> result = co_await crossing->done();
    co_return std::move(result);
  }

 private:
  void process(std::vector<std::unique_ptr<Job>>& jobs) {
    // hiredis writes to a connection that may have ended; the answer to that is EPIPE, not the end of the program.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    connection_.process(jobs);
  }

  Connection connection_;
  Worker<std::unique_ptr<Job>> worker_;  // last: it uses the connection
};

class RedisRedemption final : public token::RedemptionStore {
 public:
  RedisRedemption(std::shared_ptr<Engine> engine, const Clock& clock, const RedisOptions& options)
      : engine_(std::move(engine)), clock_(clock), options_(options) {}

  // Two commands, so that the first is the plain SET of the fast path. Between them a claim can only go on from
  // pending to finished, or vanish when it is abandoned, which then reads as lost.
  Task<Result<ClaimOutcome>> claim(Claim claim, Executor& executor) override {
    const std::chrono::milliseconds left = claim.expires_at - clock_.now();
    std::vector<Command> commands;
    if (left.count() > 0) {
      commands.push_back({"SET", key(claim), header('p', claim.keep_reply, claim.answers), "NX", "PX",
                          std::to_string((left + options_.limits.grace).count())});
    }
    commands.push_back({"GETRANGE", key(claim), "0", std::to_string(header_bytes - 1)});
    return engine_->run<ClaimOutcome>(
        executor, std::move(commands),
        [claim](const std::vector<ReplyPtr>& replies) { return read_claim(claim, replies); });
  }

  Task<Result<void>> finish(Claim claim, std::string reply, Executor& executor) override {
    const bool too_long = claim.keep_reply && reply.size() > options_.limits.reply_bytes_max;
    const bool keeps = claim.keep_reply && !too_long;
    std::string finished = header('f', keeps, claim.answers);
    if (keeps) finished += reply;
    std::vector<Command> commands;
    commands.push_back({"EVAL", finish_script, "1", key(claim), header('p', claim.keep_reply, claim.answers),
                        std::move(finished)});
    return engine_->run<void>(
        executor, std::move(commands), [too_long](const std::vector<ReplyPtr>& replies) {
          Result<void> done = read_count(*replies.front(), "There is no such claim to finish.");
          if (done.ok() && too_long)
            return Result<void>(failure("The reply is larger than the store may keep."));
          return done;
        });
  }

  Task<Result<void>> abandon(Claim claim, Executor& executor) override {
    std::vector<Command> commands;
    commands.push_back(
        {"EVAL", abandon_script, "1", key(claim), header('p', claim.keep_reply, claim.answers)});
    return engine_->run<void>(executor, std::move(commands), [](const std::vector<ReplyPtr>& replies) {
      return read_count(*replies.front(), "There is no such claim to abandon.");
    });
  }

  Task<Result<std::optional<std::string>>> reply(Claim claim, Executor& executor) override {
    std::vector<Command> commands;
    commands.push_back({"GET", key(claim)});
    return engine_->run<std::optional<std::string>>(
        executor, std::move(commands),
        [claim](const std::vector<ReplyPtr>& replies) { return read_reply(claim, *replies.front()); });
  }

 private:
  std::string key(const Claim& claim) const {
    std::string name = options_.key_prefix + "claim:";
    name.append(as_text(claim.token));
    return name;
  }

  static Result<ClaimOutcome> read_claim(const Claim& claim, const std::vector<ReplyPtr>& replies) {
    const redisReply& first = *replies.front();
    const redisReply& found = *replies.back();
    const bool tried = replies.size() == 2;
    if (tried && is_status(first, "OK")) return ClaimOutcome::won;
    const bool understood = (!tried || first.type == REDIS_REPLY_NIL) && found.type == REDIS_REPLY_STRING;
    if (!understood) return unexpected();
    if (!claim.keep_reply) return ClaimOutcome::lost;
    if (text_of(found) == header('p', true, claim.answers)) return ClaimOutcome::pending;
    if (text_of(found) == header('f', true, claim.answers)) return ClaimOutcome::finished;
    return ClaimOutcome::lost;
  }

  static Result<void> read_count(const redisReply& reply, const char* none) {
    if (reply.type != REDIS_REPLY_INTEGER) return unexpected();
    if (reply.integer != 1) return failure(none);
    return {};
  }

  static Result<std::optional<std::string>> read_reply(const Claim& claim, const redisReply& reply) {
    if (reply.type == REDIS_REPLY_NIL) return std::optional<std::string>();
    if (reply.type != REDIS_REPLY_STRING) return unexpected();
    std::string_view text = text_of(reply);
    if (!text.starts_with(header('f', true, claim.answers))) return std::optional<std::string>();
    text.remove_prefix(header_bytes);
    return std::optional<std::string>(std::string(text));
  }

  std::shared_ptr<Engine> engine_;
  const Clock& clock_;
  const RedisOptions options_;
};

class RedisStates final : public token::StateStore {
 public:
  RedisStates(std::shared_ptr<Engine> engine, const Clock& clock, const RedisOptions& options)
      : engine_(std::move(engine)), clock_(clock), options_(options) {}

  Task<Result<void>> put(token::StateId id, Bytes value, Timestamp expires_at, Executor& executor) override {
    const std::chrono::milliseconds left = expires_at - clock_.now() + options_.limits.grace;
    if (value.size() > options_.limits.state_bytes_max)
      co_return failure("The state is larger than the store may keep.");
    if (left.count() <= 0) co_return failure("The state has expired.");
    std::vector<Command> commands;
    commands.push_back({"SET", key(id), std::string(as_text(value)), "PX", std::to_string(left.count())});
    typename Operation<void>::Read read = [](const std::vector<ReplyPtr>& replies) {
      return is_status(*replies.front(), "OK") ? Result<void>() : Result<void>(unexpected());
    };
    Task<Result<void>> asked = engine_->run<void>(executor, std::move(commands), std::move(read));
    Result<void> result = co_await asked;
    co_return std::move(result);
  }
  Task<Result<std::optional<Bytes>>> get(token::StateId id, Executor& executor) override {
    std::vector<Command> commands;
    commands.push_back({"GET", key(id)});
    return engine_->run<std::optional<Bytes>>(
        executor, std::move(commands),
        [](const std::vector<ReplyPtr>& replies) { return read_value(*replies.front()); });
  }
  Task<Result<void>> erase(token::StateId id, Executor& executor) override {
    std::vector<Command> commands;
    commands.push_back({"DEL", key(id)});
    return engine_->run<void>(executor, std::move(commands), [](const std::vector<ReplyPtr>& replies) {
      return replies.front()->type == REDIS_REPLY_INTEGER ? Result<void>() : Result<void>(unexpected());
    });
  }

 private:
  std::string key(const token::StateId& id) const {
    std::string name = options_.key_prefix + "state:";
    name.append(as_text(id));
    return name;
  }

  static Result<std::optional<Bytes>> read_value(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_NIL) return std::optional<Bytes>();
    if (reply.type != REDIS_REPLY_STRING) return unexpected();
    const ByteView value = as_bytes(text_of(reply));
    return std::optional<Bytes>(Bytes(value.begin(), value.end()));
  }

  std::shared_ptr<Engine> engine_;
  const Clock& clock_;
  const RedisOptions options_;
};

bool read_number(std::string_view text, int most, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number <= most;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const char* begin = text.data() + i + 1;
    if (text.size() - i < 3 || std::from_chars(begin, begin + 2, value, 16).ptr != begin + 2)
      return std::nullopt;
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

// Cuts `[user]:password@` off the front.
bool take_credentials(std::string_view& rest, RedisAddress& address) {
  const std::size_t at = rest.rfind('@');
  if (at == std::string_view::npos) return true;
  const std::string_view both = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  const std::size_t colon = both.find(':');
  if (colon == std::string_view::npos) return false;
  const auto user = percent_decoded(both.substr(0, colon));
  auto password = percent_decoded(both.substr(colon + 1));
  if (!user || !password || password->empty()) return false;
  address.user = *user;
  address.password = Secret::copy_of(as_bytes(*password));
  wipe({reinterpret_cast<std::uint8_t*>(password->data()), password->size()});
  return true;
}

bool read_tcp(std::string_view rest, RedisAddress& address) {
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view database = rest.substr(slash + 1);
    if (!database.empty() && !read_number(database, 1'000'000, address.database)) return false;
    rest = rest.substr(0, slash);
  }
  std::size_t host_end = rest.find(':');
  if (rest.starts_with('[')) {  // IPv6
    host_end = rest.find(']');
    if (host_end == std::string_view::npos) return false;
    address.host = rest.substr(1, host_end - 1);
    ++host_end;
  } else {
    address.host = rest.substr(0, host_end);
  }
  if (host_end < rest.size()) {
    if (rest[host_end] != ':' || !read_number(rest.substr(host_end + 1), 65535, address.port)) return false;
  }
  return !address.host.empty() && address.port != 0;
}

bool read_socket(std::string_view rest, RedisAddress& address) {
  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    std::string_view query = rest.substr(question + 1);
    if (!query.starts_with("db=") || !read_number(query.substr(3), 1'000'000, address.database)) return false;
    rest = rest.substr(0, question);
  }
  const auto path = percent_decoded(rest);
  if (!path || !path->starts_with('/')) return false;
  address.socket = *path;
  return true;
}

}  // namespace

Result<RedisAddress> parse_redis_url(std::string_view url) {
  constexpr std::string_view tcp = "redis://";
  constexpr std::string_view local = "unix://";
  RedisAddress address;
  bool ok = false;
  if (url.starts_with(tcp)) {
    url.remove_prefix(tcp.size());
    ok = take_credentials(url, address) && read_tcp(url, address);
  } else if (url.starts_with(local)) {
    url.remove_prefix(local.size());
    ok = take_credentials(url, address) && read_socket(url, address);
  }
  if (!ok)
    return failure("A Redis URL is redis://[[user]:password@]host[:port][/database] or unix:///path[?db=N].");
  return address;
}

Stores redis_stores(RedisAddress address, const Clock& clock, Entropy& entropy, RedisOptions options) {
  const auto engine = std::make_shared<Engine>(std::move(address), entropy, options);
  Stores stores;
  stores.redemption = std::make_shared<RedisRedemption>(engine, clock, options);
  stores.states = std::make_shared<RedisStates>(engine, clock, options);
  return stores;
}

}  // namespace signet::store
