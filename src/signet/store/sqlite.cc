#include <signet/store/sqlite.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <signet/store/worker.h>

namespace signet::store {
namespace {

using token::Claim;
using token::ClaimOutcome;
using token::StoredTask;
using token::TaskChange;
using token::TaskCreation;
using token::TaskKey;
using token::TaskWritten;

constexpr int schema_version = 1;
constexpr int forgotten_per_batch = 256;

// What is wrong, in SQLite's words; they hold no values of ours.
Error failed(sqlite3* database, const char* doing) {
  return Error(std::string("SQLite failed while ") + doing + ": " + sqlite3_errmsg(database));
}

// A prepared statement, bound and stepped once per use.
class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  bool prepare(sqlite3* database, const char* sql) {
    return sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) ==
           SQLITE_OK;
  }
  // The bytes are read until the next `run`.
  Statement& bind(int index, ByteView bytes) {
    // A null pointer would bind NULL instead of an empty blob.
    const void* data = bytes.data() == nullptr ? "" : static_cast<const void*>(bytes.data());
    sqlite3_bind_blob64(statement_, index, data, bytes.size(), SQLITE_STATIC);
    return *this;
  }
  Statement& bind(int index, std::int64_t value) {
    sqlite3_bind_int64(statement_, index, value);
    return *this;
  }
  // SQLITE_ROW or SQLITE_DONE when it worked. After a row, the columns can be read until `reset`.
  int step() { return sqlite3_step(statement_); }
  std::int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  std::string blob(int column) {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return data == nullptr
               ? std::string()
               : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  void reset() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

// Resets on the way out, whatever the way.
class Use {
 public:
  explicit Use(Statement& statement) : statement_(statement) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { statement_.reset(); }
  Statement* operator->() { return &statement_; }
  Statement& statement() { return statement_; }

 private:
  Statement& statement_;
};

// The files of a database that is open. SQLite goes on with files that were removed or replaced, and another process
// with those that came in their place: each would win the same claims.
class OpenFiles {
 public:
  void remember(const std::string& path) {
    for (std::size_t i = 0; i < files_.size(); ++i) files_[i] = identity(path + suffixes[i]);
    path_ = path;
  }
  bool are_there() const {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const std::optional<Identity> now = identity(path_ + suffixes[i]);
      if (!now || now != files_[i]) return false;
    }
    return true;
  }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  static constexpr std::array<const char*, 3> suffixes = {"", "-wal", "-shm"};

  static std::optional<Identity> identity(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return Identity(found.st_dev, found.st_ino);
  }

  std::string path_;
  std::array<std::optional<Identity>, 3> files_;
};

// The database; used by one thread at a time.
class Database {
 public:
  Database(const Clock& clock, SqliteOptions options) : clock_(clock), options_(options) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    prepared_.reset();
    sqlite3_close_v2(database_);
  }

  Result<void> open(const std::string& path) {
    if (auto made = make_private_file(path); !made) return made;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
      return failure(failed(database_, "opening the store"));
    }
    sqlite3_busy_timeout(database_, static_cast<int>(options_.busy_timeout.count()));
    if (!use_wal() || !run("PRAGMA synchronous=FULL")) {
      return failure(failed(database_, "setting the journal mode"));
    }
    if (auto ready = make_schema(); !ready) return ready;
    if (auto limited = limit_size(); !limited) return limited;
    files_.remember(path);
    return are_files_there();
  }

  // Asked about what was done in a transaction before anybody hears of it.
  Result<void> are_files_there() const {
    if (files_.are_there()) return {};
    return failure(
        "A file of the store was removed or replaced while it was open, so nobody knows what was claimed: "
        "start the server again with the files as they are to be.");
  }

  bool begin() { return run("BEGIN IMMEDIATE"); }
  bool commit() {
    if (run("COMMIT")) return true;
    run("ROLLBACK");
    return false;
  }
  Error error(const char* doing) { return failed(database_, doing); }

  // An error here shows at the commit, or again at the next batch.
  void forget_old() {
    for (Statement* old : {&prepared_->forget_claims, &prepared_->forget_states}) {
      Use forget(*old);
      forget->bind(1, now_ms() - options_.limits.grace.count()).bind(2, std::int64_t{forgotten_per_batch});
      forget->step();
    }
    Use forget(prepared_->forget_tasks);
    forget->bind(1, now_ms()).bind(2, std::int64_t{forgotten_per_batch});
    forget->step();
  }

  Result<ClaimOutcome> claim(const Claim& claim) {
    const std::int64_t expires = claim.expires_at.time_since_epoch().count();
    const bool expired = expires <= now_ms();
    if (!expired) {
      Use insert(prepared_->insert);
      insert->bind(1, claim.token).bind(2, claim.answers).bind(3, expires).bind(4, claim.keep_reply ? 1 : 0);
      if (insert->step() != SQLITE_DONE) return failure(failed(database_, "claiming"));
      if (sqlite3_changes(database_) == 1) return ClaimOutcome::won;
    }
    Use look(prepared_->look);
    look->bind(1, claim.token);
    const int step = look->step();
    if (step == SQLITE_DONE && expired) return ClaimOutcome::lost;
    if (step != SQLITE_ROW) return failure(failed(database_, "reading a claim"));
    const bool same = look->integer(1) == 1 && claim.keep_reply && look->blob(0) == as_text(claim.answers);
    if (!same) return ClaimOutcome::lost;
    return look->integer(2) == 1 ? ClaimOutcome::finished : ClaimOutcome::pending;
  }

  Result<void> finish(const Claim& claim, const std::string& reply) {
    const bool too_long = claim.keep_reply && reply.size() > options_.limits.reply_bytes_max;
    {
      Use mark(prepared_->finish);
      mark->bind(1, too_long ? 1 : 0).bind(2, claim.token).bind(3, claim.answers);
      if (mark->step() != SQLITE_DONE) return failure(failed(database_, "finishing a claim"));
      if (sqlite3_changes(database_) != 1) return failure("There is no such claim to finish.");
    }
    if (too_long) return failure("The reply is larger than the store may keep.");
    if (!claim.keep_reply) return {};
    Use keep(prepared_->keep);
    keep->bind(1, claim.token).bind(2, as_bytes(reply));
    if (keep->step() != SQLITE_DONE) return failure(failed(database_, "keeping a reply"));
    return {};
  }

  Result<void> abandon(const Claim& claim) {
    Use remove(prepared_->abandon);
    remove->bind(1, claim.token).bind(2, claim.answers);
    if (remove->step() != SQLITE_DONE) return failure(failed(database_, "abandoning a claim"));
    if (sqlite3_changes(database_) != 1) return failure("There is no such claim to abandon.");
    return {};
  }

  Result<std::optional<std::string>> reply(const Claim& claim) {
    Use look(prepared_->reply);
    look->bind(1, claim.token).bind(2, claim.answers);
    const int step = look->step();
    if (step == SQLITE_DONE) return std::optional<std::string>();
    if (step != SQLITE_ROW) return failure(failed(database_, "reading a reply"));
    return std::optional<std::string>(look->blob(0));
  }

  Result<void> put(const token::StateId& id, const Bytes& value, Timestamp expires_at) {
    if (value.size() > options_.limits.state_bytes_max)
      return failure("The state is larger than the store may keep.");
    Use put(prepared_->put);
    put->bind(1, id).bind(2, value).bind(3, expires_at.time_since_epoch().count());
    if (put->step() != SQLITE_DONE) return failure(failed(database_, "keeping a state"));
    return {};
  }

  Result<std::optional<Bytes>> get(const token::StateId& id) {
    Use get(prepared_->get);
    get->bind(1, id);
    const int step = get->step();
    if (step == SQLITE_DONE) return std::optional<Bytes>();
    if (step != SQLITE_ROW) return failure(failed(database_, "reading a state"));
    const std::string value = get->blob(0);
    return std::optional<Bytes>(Bytes(value.begin(), value.end()));
  }

  Result<void> erase(const token::StateId& id) {
    Use erase(prepared_->erase);
    erase->bind(1, id);
    if (erase->step() != SQLITE_DONE) return failure(failed(database_, "erasing a state"));
    return {};
  }

  Result<TaskWritten> create_task(const TaskCreation& creation) {
    if (creation.value.size() > options_.limits.task_bytes_max) return TaskWritten::too_large;
    const Result<bool> owner_full = holds(prepared_->owner_tasks, creation.owner, creation.owner_tasks_max);
    if (!owner_full.ok()) return failure(owner_full.error());
    if (*owner_full) return TaskWritten::owner_full;
    const Result<bool> full = holds(prepared_->all_tasks, ByteView(), creation.tasks_max);
    if (!full.ok()) return failure(full.error());
    if (*full) return TaskWritten::full;
    Use create(prepared_->create_task);
    create->bind(1, creation.key).bind(2, creation.owner).bind(3, ms(creation.lease_until));
    create->bind(4, ms(creation.expires_at)).bind(5, creation.value);
    return written(create.statement(), "creating a task");
  }

  Result<std::optional<StoredTask>> get_task(const TaskKey& key) {
    Use get(prepared_->get_task);
    get->bind(1, key).bind(2, now_ms());
    const int step = get->step();
    if (step == SQLITE_DONE) return std::optional<StoredTask>();
    if (step != SQLITE_ROW) return failure(failed(database_, "reading a task"));
    StoredTask task;
    const std::string value = get->blob(0);
    task.value.assign(value.begin(), value.end());
    task.revision = static_cast<std::uint64_t>(get->integer(1));
    task.lease_until = Timestamp(std::chrono::milliseconds(get->integer(2)));
    return std::optional<StoredTask>(std::move(task));
  }

  Result<TaskWritten> replace_task(const TaskChange& change) {
    if (change.value.size() > options_.limits.task_bytes_max) return TaskWritten::too_large;
    Use replace(prepared_->replace_task);
    replace->bind(1, change.key).bind(2, static_cast<std::int64_t>(change.revision)).bind(3, now_ms());
    replace->bind(4, ms(change.lease_until)).bind(5, ms(change.expires_at)).bind(6, change.value);
    return written(replace.statement(), "changing a task");
  }

  Result<TaskWritten> renew_task(const TaskKey& key, std::uint64_t revision, Timestamp lease_until,
                                 Timestamp expires_at) {
    Use renew(prepared_->renew_task);
    renew->bind(1, key).bind(2, static_cast<std::int64_t>(revision)).bind(3, now_ms());
    renew->bind(4, ms(lease_until)).bind(5, ms(expires_at));
    return written(renew.statement(), "renewing a lease");
  }

 private:
  struct Statements {
    Statement insert, look, finish, keep, abandon, reply, forget_claims;
    Statement put, get, erase, forget_states;
    Statement all_tasks, owner_tasks, create_task, get_task, replace_task, renew_task, forget_tasks;
  };

  static std::int64_t ms(Timestamp time) { return time.time_since_epoch().count(); }

  // Whether there are `most` tasks, of that owner where the statement asks for one.
  Result<bool> holds(Statement& statement, ByteView owner, std::size_t most) {
    Use count(statement);
    count->bind(1, now_ms()).bind(2, static_cast<std::int64_t>(most));
    if (!owner.empty()) count->bind(3, owner);
    if (count->step() != SQLITE_ROW) return failure(failed(database_, "counting tasks"));
    return static_cast<std::uint64_t>(count->integer(0)) >= most;
  }

  // Of a statement that changes the one row it names, if it is there.
  Result<TaskWritten> written(Statement& statement, const char* doing) {
    if (statement.step() != SQLITE_DONE) return failure(failed(database_, doing));
    return sqlite3_changes(database_) == 1 ? TaskWritten::done : TaskWritten::changed;
  }

  std::int64_t now_ms() const { return clock_.now().time_since_epoch().count(); }

  bool run(const char* sql) { return sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }

  // Who can write to the file can make what was claimed unclaimed.
  static Result<void> make_private_file(const std::string& path) {
    if (path == ":memory:") return failure("A store of SQLite is a file; memory_stores() is one in memory.");
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return failure("The file of the store cannot be opened for reading and writing.");
    struct stat found{};
    const bool known = ::fstat(file, &found) == 0;
    ::close(file);
    const bool is_ours = found.st_uid == ::geteuid() || found.st_uid == 0;
    if (!known || !is_ours || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return failure("Others may write to the file of the store: make it yours alone (mode 600).");
    return {};
  }

  // The busy time-out does not cover the change of the mode, which several processes may try at once.
  bool use_wal() {
    constexpr int pause_ms = 10;
    for (std::int64_t waited = 0; !run("PRAGMA journal_mode=WAL"); waited += pause_ms) {
      if (sqlite3_errcode(database_) != SQLITE_BUSY || waited > options_.busy_timeout.count()) return false;
      sqlite3_sleep(pause_ms);
    }
    return true;
  }

  std::optional<std::int64_t> pragma(const char* sql) {
    Statement query;
    if (!query.prepare(database_, sql) || query.step() != SQLITE_ROW) return std::nullopt;
    return query.integer(0);
  }

  Result<void> make_schema() {
    if (!begin()) return failure(failed(database_, "opening the store"));
    const auto version = pragma("PRAGMA user_version");
    bool ok = version.has_value();
    if (version == 0) {
      ok =
          run("CREATE TABLE claims (token BLOB PRIMARY KEY, answers BLOB NOT NULL, expires INTEGER NOT NULL,"
              " keep INTEGER NOT NULL, finished INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;"
              "CREATE INDEX claims_expires ON claims (expires);"
              "CREATE TABLE replies (token BLOB PRIMARY KEY, reply BLOB NOT NULL);"
              // However a claim goes, its reply goes with it.
              "CREATE TRIGGER claims_gone AFTER DELETE ON claims"
              " BEGIN DELETE FROM replies WHERE token = old.token; END;"
              "CREATE TABLE states (id BLOB PRIMARY KEY, value BLOB NOT NULL, expires INTEGER NOT NULL);"
              "CREATE INDEX states_expires ON states (expires);"
              "PRAGMA user_version = 1");
    } else if (ok && version != schema_version) {
      run("ROLLBACK");
      return failure("The database was made by another version of this program.");
    }
    // Came later; a program that does not know it can use the database all the same.
    ok = ok && run("CREATE TABLE IF NOT EXISTS tasks (key BLOB PRIMARY KEY, owner BLOB NOT NULL,"
                   " revision INTEGER NOT NULL, lease INTEGER NOT NULL, expires INTEGER NOT NULL,"
                   " value BLOB NOT NULL);"
                   "CREATE INDEX IF NOT EXISTS tasks_owner ON tasks (owner, expires);"
                   "CREATE INDEX IF NOT EXISTS tasks_expires ON tasks (expires)");
    if (!ok || !commit()) return failure(failed(database_, "making the tables"));
    return prepare();
  }

  Result<void> prepare() {
    prepared_.emplace();
    const std::array<std::pair<Statement*, const char*>, 18> all = {{
        {&prepared_->insert,
         "INSERT INTO claims (token, answers, expires, keep) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING"},
        {&prepared_->look, "SELECT answers, keep, finished FROM claims WHERE token = ?1"},
        {&prepared_->finish,
         "UPDATE claims SET finished = 1, keep = keep AND NOT ?1"
         " WHERE token = ?2 AND answers = ?3 AND finished = 0"},
        {&prepared_->keep, "INSERT INTO replies (token, reply) VALUES (?1, ?2)"},
        {&prepared_->abandon, "DELETE FROM claims WHERE token = ?1 AND answers = ?2 AND finished = 0"},
        {&prepared_->reply,
         "SELECT reply FROM claims JOIN replies USING (token)"
         " WHERE token = ?1 AND answers = ?2 AND keep = 1 AND finished = 1"},
        {&prepared_->forget_claims,
         "DELETE FROM claims WHERE token IN (SELECT token FROM claims WHERE expires <= ?1 LIMIT ?2)"},
        {&prepared_->put, "INSERT OR REPLACE INTO states (id, value, expires) VALUES (?1, ?2, ?3)"},
        {&prepared_->get, "SELECT value FROM states WHERE id = ?1"},
        {&prepared_->erase, "DELETE FROM states WHERE id = ?1"},
        {&prepared_->forget_states,
         "DELETE FROM states WHERE rowid IN (SELECT rowid FROM states WHERE expires <= ?1 LIMIT ?2)"},
        {&prepared_->all_tasks, "SELECT count(*) FROM (SELECT 1 FROM tasks WHERE expires > ?1 LIMIT ?2)"},
        {&prepared_->owner_tasks,
         "SELECT count(*) FROM (SELECT 1 FROM tasks WHERE owner = ?3 AND expires > ?1 LIMIT ?2)"},
        {&prepared_->create_task,
         "INSERT INTO tasks (key, owner, revision, lease, expires, value) VALUES (?1, ?2, 1, ?3, ?4, ?5)"
         " ON CONFLICT DO NOTHING"},
        {&prepared_->get_task, "SELECT value, revision, lease FROM tasks WHERE key = ?1 AND expires > ?2"},
        {&prepared_->replace_task,
         "UPDATE tasks SET revision = revision + 1, lease = ?4, expires = ?5, value = ?6"
         " WHERE key = ?1 AND revision = ?2 AND expires > ?3"},
        {&prepared_->renew_task,
         "UPDATE tasks SET lease = ?4, expires = ?5 WHERE key = ?1 AND revision = ?2 AND expires > ?3"},
        {&prepared_->forget_tasks,
         "DELETE FROM tasks WHERE rowid IN (SELECT rowid FROM tasks WHERE expires <= ?1 LIMIT ?2)"},
    }};
    for (const auto& [statement, sql] : all) {
      if (!statement->prepare(database_, sql)) return failure(failed(database_, "preparing"));
    }
    return {};
  }

  Result<void> limit_size() {
    const std::int64_t page = pragma("PRAGMA page_size").value_or(4096);
    const std::string limit = "PRAGMA max_page_count=" + std::to_string(options_.file_bytes_max / page);
    if (!run(limit.c_str())) return failure(failed(database_, "limiting the size"));
    return {};
  }

  const Clock& clock_;
  const SqliteOptions options_;
  sqlite3* database_ = nullptr;
  OpenFiles files_;
  std::optional<Statements> prepared_;
};

// One operation on its way through the worker: first done inside a transaction, then told, with the fate of the
// transaction, to who waits.
class Job {
 public:
  virtual ~Job() = default;
  virtual void execute(Database& database) = 0;
  virtual void deliver() = 0;
  virtual void fail(const Error& error) = 0;
};

template <typename T>
class Operation final : public Job {
 public:
  using Work = std::function<Result<T>(Database&)>;
  Operation(std::shared_ptr<Crossing<T>> crossing, Work work)
      : crossing_(std::move(crossing)), work_(std::move(work)) {}

  void execute(Database& database) override { result_.emplace(work_(database)); }
  void deliver() override { crossing_->deliver(std::move(*result_)); }
  void fail(const Error& error) override { crossing_->deliver(failure(error)); }

 private:
  std::shared_ptr<Crossing<T>> crossing_;
  Work work_;
  std::optional<Result<T>> result_;
};

// The database and its thread; what the stores share.
class Engine {
 public:
  Engine(std::unique_ptr<Database> database, const SqliteOptions& options)
      : database_(std::move(database)),
        worker_(options.queue_max, 64, [this](std::vector<std::unique_ptr<Job>>& jobs) { process(jobs); }) {}

  template <typename T>
  Task<Result<T>> run(Executor& executor, typename Operation<T>::Work work) {
    const auto crossing = std::make_shared<Crossing<T>>(executor);
    const Waiting<T> waiting(crossing);
    const bool queued = worker_.post(std::make_unique<Operation<T>>(crossing, std::move(work)));
    if (!queued) co_return failure("Too many operations wait for the store.");
    Result<T> result = co_await crossing->done();
    co_return std::move(result);
  }

 private:
  void process(std::vector<std::unique_ptr<Job>>& jobs) {
    if (!database_->begin()) return fail(jobs, database_->error("beginning"));
    for (const auto& job : jobs) job->execute(*database_);
    database_->forget_old();
    if (!database_->commit()) return fail(jobs, database_->error("committing"));
    if (const Result<void> there = database_->are_files_there(); !there) return fail(jobs, there.error());
    for (const auto& job : jobs) job->deliver();
  }
  static void fail(std::vector<std::unique_ptr<Job>>& jobs, const Error& error) {
    for (const auto& job : jobs) job->fail(error);
  }

  std::unique_ptr<Database> database_;
  Worker<std::unique_ptr<Job>> worker_;  // last: it uses the database
};

class SqliteRedemption final : public token::RedemptionStore {
 public:
  explicit SqliteRedemption(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Task<Result<ClaimOutcome>> claim(Claim claim, Executor& executor) override {
    return engine_->run<ClaimOutcome>(executor,
                                      [claim](Database& database) { return database.claim(claim); });
  }
  Task<Result<void>> finish(Claim claim, std::string reply, Executor& executor) override {
    return engine_->run<void>(executor, [claim, reply = std::move(reply)](Database& database) {
      return database.finish(claim, reply);
    });
  }
  Task<Result<void>> abandon(Claim claim, Executor& executor) override {
    return engine_->run<void>(executor, [claim](Database& database) { return database.abandon(claim); });
  }
  Task<Result<std::optional<std::string>>> reply(Claim claim, Executor& executor) override {
    return engine_->run<std::optional<std::string>>(
        executor, [claim](Database& database) { return database.reply(claim); });
  }

 private:
  std::shared_ptr<Engine> engine_;
};

class SqliteStates final : public token::StateStore {
 public:
  explicit SqliteStates(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Task<Result<void>> put(token::StateId id, Bytes value, Timestamp expires_at, Executor& executor) override {
    return engine_->run<void>(executor, [id, value = std::move(value), expires_at](Database& database) {
      return database.put(id, value, expires_at);
    });
  }
  Task<Result<std::optional<Bytes>>> get(token::StateId id, Executor& executor) override {
    return engine_->run<std::optional<Bytes>>(executor,
                                              [id](Database& database) { return database.get(id); });
  }
  Task<Result<void>> erase(token::StateId id, Executor& executor) override {
    return engine_->run<void>(executor, [id](Database& database) { return database.erase(id); });
  }

 private:
  std::shared_ptr<Engine> engine_;
};

class SqliteTasks final : public token::TaskStore {
 public:
  explicit SqliteTasks(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Task<Result<TaskWritten>> create(TaskCreation creation, Executor& executor) override {
    return engine_->run<TaskWritten>(executor, [creation = std::move(creation)](Database& database) {
      return database.create_task(creation);
    });
  }
  Task<Result<std::optional<StoredTask>>> get(TaskKey key, Executor& executor) override {
    return engine_->run<std::optional<StoredTask>>(
        executor, [key](Database& database) { return database.get_task(key); });
  }
  Task<Result<TaskWritten>> replace(TaskChange change, Executor& executor) override {
    return engine_->run<TaskWritten>(
        executor, [change = std::move(change)](Database& database) { return database.replace_task(change); });
  }
  Task<Result<TaskWritten>> renew(TaskKey key, std::uint64_t revision, Timestamp lease_until,
                                  Timestamp expires_at, Executor& executor) override {
    return engine_->run<TaskWritten>(executor, [=](Database& database) {
      return database.renew_task(key, revision, lease_until, expires_at);
    });
  }

 private:
  std::shared_ptr<Engine> engine_;
};

}  // namespace

Result<Stores> sqlite_stores(const std::string& path, const Clock& clock, SqliteOptions options) {
  auto database = std::make_unique<Database>(clock, options);
  if (auto opened = database->open(path); !opened) return failure(std::move(opened.error()));
  const auto engine = std::make_shared<Engine>(std::move(database), options);
  Stores stores;
  stores.redemption = std::make_shared<SqliteRedemption>(engine);
  stores.states = std::make_shared<SqliteStates>(engine);
  stores.tasks = std::make_shared<SqliteTasks>(engine);
  return stores;
}

}  // namespace signet::store
