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
using token::TaskWritten;

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

// Of one record, whose name is octets.
std::string key_of(const RedisOptions& options, std::string_view family, ByteView name) {
  std::string key = options.key_prefix;
  return key.append(family).append(as_text(name));
}

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
  std::string key(const Claim& claim) const { return key_of(options_, "claim:", claim.token); }

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
  std::string key(const token::StateId& id) const { return key_of(options_, "state:", id); }

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

// A task is a hash: v(alue), r(evision), l(ease), e(xpiry), o(wner's set). Two sorted sets, of all tasks and of each owner's,
// have the expiry as the score and count what there is; they are counted by the clock of who asks, like all times here.
// What the scripts return: the number of a TaskWritten.
//
// KEYS: the task, the set of all, the owner's set. ARGV: value, lease, expiry, milliseconds until Redis may forget it, now,
// most of all, most of the owner's.
constexpr const char* create_task_script =
    "redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[5]) "
    "redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[5]) "
    "if redis.call('EXISTS', KEYS[1]) == 1 then return 1 end "
    "if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[7]) then return 3 end "
    "if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[6]) then return 2 end "
    "redis.call('HSET', KEYS[1], 'v', ARGV[1], 'r', 1, 'l', ARGV[2], 'e', ARGV[3], 'o', KEYS[3]) "
    "redis.call('PEXPIRE', KEYS[1], ARGV[4]) "
    "for i = 2, 3 do redis.call('ZADD', KEYS[i], ARGV[3], KEYS[1]) "
    "if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[i], ARGV[4]) end end "
    "return 0";
// KEYS: the task, the set of all. ARGV: revision, now, lease, expiry, milliseconds until Redis may forget it, and, to
// change it, the value. The owner's set is named by the task: one Redis has all keys.
constexpr const char* change_task_script =
    "local task = redis.call('HMGET', KEYS[1], 'r', 'e', 'o') "
    "if task[1] ~= ARGV[1] or tonumber(task[2]) <= tonumber(ARGV[2]) then return 1 end "
    "redis.call('HSET', KEYS[1], 'l', ARGV[3], 'e', ARGV[4]) "
    "if ARGV[6] then redis.call('HSET', KEYS[1], 'v', ARGV[6]) redis.call('HINCRBY', KEYS[1], 'r', 1) end "
    "redis.call('PEXPIRE', KEYS[1], ARGV[5]) "
    "for _, set in ipairs({KEYS[2], task[3]}) do redis.call('ZADD', set, ARGV[4], KEYS[1]) "
    "if redis.call('PTTL', set) < tonumber(ARGV[5]) then redis.call('PEXPIRE', set, ARGV[5]) end end "
    "return 0";

class RedisTasks final : public token::TaskStore {
 public:
  RedisTasks(std::shared_ptr<Engine> engine, const Clock& clock, const RedisOptions& options)
      : engine_(std::move(engine)), clock_(clock), options_(options) {}

  Task<Result<TaskWritten>> create(token::TaskCreation creation, Executor& executor) override {
    if (creation.value.size() > options_.limits.task_bytes_max) return at_once(TaskWritten::too_large);
    std::vector<Command> commands;
    commands.push_back({"EVAL", create_task_script, "3", key(creation.key), all(), owner(creation.owner),
                        std::string(as_text(creation.value)), text(creation.lease_until),
                        text(creation.expires_at), left(creation.expires_at), text(clock_.now()),
                        std::to_string(creation.tasks_max), std::to_string(creation.owner_tasks_max)});
    return engine_->run<TaskWritten>(executor, std::move(commands), &read_written);
  }
  Task<Result<std::optional<token::StoredTask>>> get(token::TaskKey task, Executor& executor) override {
    std::vector<Command> commands;
    commands.push_back({"HMGET", key(task), "v", "r", "l", "e"});
    return engine_->run<std::optional<token::StoredTask>>(
        executor, std::move(commands), [now = clock_.now()](const std::vector<ReplyPtr>& replies) {
          return read_task(*replies.front(), now);
        });
  }
  Task<Result<TaskWritten>> replace(token::TaskChange change, Executor& executor) override {
    if (change.value.size() > options_.limits.task_bytes_max) return at_once(TaskWritten::too_large);
    std::vector<Command> commands;
    commands.push_back(change_of(change.key, change.revision, change.lease_until, change.expires_at));
    commands.back().emplace_back(as_text(change.value));
    return engine_->run<TaskWritten>(executor, std::move(commands), &read_written);
  }
  Task<Result<TaskWritten>> renew(token::TaskKey task, std::uint64_t revision, Timestamp lease_until,
                                  Timestamp expires_at, Executor& executor) override {
    std::vector<Command> commands;
    commands.push_back(change_of(task, revision, lease_until, expires_at));
    return engine_->run<TaskWritten>(executor, std::move(commands), &read_written);
  }

 private:
  static Task<Result<TaskWritten>> at_once(TaskWritten outcome) { co_return outcome; }

  std::string key(const token::TaskKey& task) const { return key_of(options_, "task:", task); }
  std::string owner(const token::TaskOwner& owner) const { return key_of(options_, "tasks_of:", owner); }
  std::string all() const { return options_.key_prefix + "tasks"; }

  static std::string text(Timestamp time) { return std::to_string(time.time_since_epoch().count()); }
  // At least what is left; Redis counts by its own clock.
  std::string left(Timestamp expires_at) const {
    const std::chrono::milliseconds left = expires_at - clock_.now() + options_.limits.grace;
    return std::to_string(std::max<std::int64_t>(left.count(), 1));
  }

  Command change_of(const token::TaskKey& task, std::uint64_t revision, Timestamp lease_until,
                    Timestamp expires_at) const {
    return {"EVAL",
            change_task_script,
            "2",
            key(task),
            all(),
            std::to_string(revision),
            text(clock_.now()),
            text(lease_until),
            text(expires_at),
            left(expires_at)};
  }

  static Result<TaskWritten> read_written(const std::vector<ReplyPtr>& replies) {
    const redisReply& reply = *replies.front();
    const bool known = reply.type == REDIS_REPLY_INTEGER && reply.integer >= 0 &&
                       reply.integer <= static_cast<long long>(TaskWritten::owner_full);
    if (!known) return unexpected();
    return static_cast<TaskWritten>(reply.integer);
  }

  static std::optional<std::int64_t> number_of(const redisReply& reply) {
    std::int64_t number = 0;
    const std::string_view digits = reply.type == REDIS_REPLY_STRING ? text_of(reply) : std::string_view();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return number;
  }

  static Result<std::optional<token::StoredTask>> read_task(const redisReply& reply, Timestamp now) {
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 4) return unexpected();
    if (reply.element[0]->type == REDIS_REPLY_NIL) return std::optional<token::StoredTask>();
    const std::optional<std::int64_t> revision = number_of(*reply.element[1]);
    const std::optional<std::int64_t> lease = number_of(*reply.element[2]);
    const std::optional<std::int64_t> expiry = number_of(*reply.element[3]);
    if (reply.element[0]->type != REDIS_REPLY_STRING || !revision || !lease || !expiry) return unexpected();
    if (*expiry <= now.time_since_epoch().count()) return std::optional<token::StoredTask>();
    token::StoredTask task;
    const ByteView value = as_bytes(text_of(*reply.element[0]));
    task.value.assign(value.begin(), value.end());
    task.revision = static_cast<std::uint64_t>(*revision);
    task.lease_until = Timestamp(std::chrono::milliseconds(*lease));
    return std::optional<token::StoredTask>(std::move(task));
  }

  std::shared_ptr<Engine> engine_;
  const Clock& clock_;
  const RedisOptions options_;
};

}  // namespace

Stores redis_stores(RedisAddress address, const Clock& clock, Entropy& entropy, RedisOptions options) {
  const auto engine = std::make_shared<Engine>(std::move(address), entropy, options);
  Stores stores;
  stores.redemption = std::make_shared<RedisRedemption>(engine, clock, options);
  stores.states = std::make_shared<RedisStates>(engine, clock, options);
  stores.tasks = std::make_shared<RedisTasks>(engine, clock, options);
  return stores;
}

}  // namespace signet::store
