#include <signet/server/task_runs.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <stop_token>

#include <signet/base/log.h>
#include <signet/base/one_shot.h>
#include <signet/protocol/errors.h>
#include <signet/token/claims_format.h>

namespace signet::detail {

using token::TaskWritten;

namespace {

// Between two attempts to write down what a run came to, while the store is away.
constexpr std::chrono::milliseconds write_pause{500};

// Progress and log messages have no stream to travel on in a task (X14).
class NoOutlet final : public Outlet {
 public:
  void notify(Notification /*notification*/) override {}
};

}  // namespace

// On the loop's thread only.
struct TaskRuns::Running {
  Running(TaskRecord its_record, std::uint64_t its_revision, FlowRequest its_request,
          rounds::Journal its_journal)
      : record(std::move(its_record)),
        revision(its_revision),
        request(std::move(its_request)),
        journal(std::move(its_journal)) {}

  TaskRecord record;
  std::uint64_t revision;
  FlowRequest request;
  rounds::Journal journal;
  Timestamp lease_until{};
  bool is_taken = false;  // by us, in the store
  bool is_unwanted = false;
  bool has_worked = false;  // what it came to is to be written down

  std::stop_source stop;
  Exchange exchange;
  NoOutlet outlet;
  std::shared_ptr<void> write_timer;
  std::shared_ptr<void> beat_timer;
  Task<void> driving;
  Task<void> beating;

  void drop_frames() {
    driving = Task<void>();
    beating = Task<void>();
  }
};

TaskRuns::~TaskRuns() {
  std::unordered_multimap<std::string, std::shared_ptr<Running>> runs;
  {
    const std::lock_guard lock(mutex_);
    runs.swap(runs_);
  }
  if (!runs.empty()) {
    // Frames end on the thread on which they ran.
    std::promise<void> dropped;
    loop_.post([this, &runs, &dropped] {
      for (auto& [id, run] : runs) let_go(*run);
      dropped.set_value();
    });
    dropped.get_future().wait();
  }
  loop_.stop();
}

// So that the others need not wait for the end of the lease. Nobody waits for the store here: if it does not hear of it, the
// lease ends by itself.
void TaskRuns::let_go(Running& run) {
  run.stop.request_stop();
  run.drop_frames();
  if (!vault_.is_shared() || !run.is_taken || run.has_worked) return;
  Task<Result<TaskWritten>> renewing = vault_.renew(run.record.id, run.revision, vault_.now(), loop_);
  renewing.start([] {});
}

void TaskRuns::log_failure(const char* event, const std::string& reason) const {
  if (settings_.log) settings_.log(LogLevel::error, event, {{"reason", reason}});
}

// Nobody else can work on a task of this process's memory.
Timestamp TaskRuns::next_lease() const {
  return vault_.is_shared() ? token::later(vault_.now(), settings_.tasks.lease) : token::latest_stamp;
}

OneShot<bool> TaskRuns::after(std::shared_ptr<void>& timer, std::chrono::milliseconds delay) {
  OneShot<bool> elapsed;
  timer = loop_.post_after(delay, [elapsed] { elapsed.set(true); });
  return elapsed;
}

Task<Result<TaskWritten>> TaskRuns::take(TaskRecord record, std::uint64_t revision, FlowRequest request,
                                         rounds::Journal journal, Executor& executor) {
  auto run = std::make_shared<Running>(std::move(record), revision, std::move(request), std::move(journal));
  run->exchange.principal = run->record.principal;
  run->exchange.outlet = &run->outlet;
  run->exchange.executor = &loop_;
  run->exchange.stop = run->stop.get_token();
  const auto taken = std::make_shared<Taken>(executor);
  const Waiting<TaskWritten> waiting(taken);
  {
    const std::lock_guard lock(mutex_);
    runs_.emplace(run->record.id, run);
  }
  loop_.post([this, run = std::move(run), taken] {
    run->driving = drive(run, taken);
    run->driving.start([this, run] { drop(run); });
  });
  Result<TaskWritten> written = co_await taken->done();
  co_return written;
}

void TaskRuns::stop(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = runs_.equal_range(id);
  for (auto run = first; run != last; ++run) {
    loop_.post([this, stopped = run->second] {
      stopped->is_unwanted = true;
      if (stopped->is_taken) drop(stopped);  // else somebody waits to hear whether it will be
    });
  }
}

// Not from within its frames.
void TaskRuns::drop(const std::shared_ptr<Running>& run) {
  {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = runs_.equal_range(run->record.id);
    const auto found = std::find_if(first, last, [&run](const auto& entry) { return entry.second == run; });
    if (found != last) runs_.erase(found);
  }
  run->stop.request_stop();
  run->drop_frames();
}

Task<void> TaskRuns::drive(std::shared_ptr<Running> owner, std::shared_ptr<Taken> taken) {
  Running& run = *owner;
  Task<bool> taking = write_taken(run, std::move(taken));
  const bool is_ours = co_await taking;
  if (!is_ours || run.is_unwanted) co_return;
  if (vault_.is_shared()) {
    run.beating = beat(owner);
    run.beating.start([] {});
  }
  owner.reset();  // the run owns this frame
  Task<void> working = work(run);
  co_await working;
  Task<void> writing = write_down(run);
  co_await writing;
}

Task<bool> TaskRuns::write_taken(Running& run, std::shared_ptr<Taken> taken) {
  run.lease_until = next_lease();
  Task<Result<TaskWritten>> writing = vault_.write(run.record, run.revision, run.lease_until, loop_);
  Result<TaskWritten> written = co_await writing;
  const bool is_ours = written.ok() && *written == TaskWritten::done;
  run.is_taken = is_ours;
  if (is_ours) {
    ++run.revision;
    on_change_(run.record.id);
  }
  taken->deliver(std::move(written));
  co_return is_ours;
}

// The rounds of a task that need nobody: until it has a result, or asks.
Task<void> TaskRuns::work(Running& run) {
  while (true) {
    rounds::Round round(std::move(run.journal), std::exchange(run.record.responses, Json::Object()));
    Task<Flows::Turn> turning = flows_.turn(run.request, run.exchange, std::move(round));
    Flows::Turn turn = co_await turning;
    const Timestamp now = vault_.now();
    ++run.record.turns;
    run.has_worked = true;
    if (!turn.reply && run.record.turns >= run.request.facts->rounds_max) {
      turn.reply.emplace(failure(Fault(protocol::internal_error, "Too many rounds")));
    }
    if (turn.reply) {
      run.record.end(std::move(*turn.reply), now);
      co_return;
    }
    if (!turn.pending.empty()) {
      Result<Bytes, rounds::Oversize> journal = turn.journal.encode(SIZE_MAX);
      run.record.journal = std::move(*journal);
      run.record.ask(std::move(turn.pending), now);
      co_return;
    }
    run.journal = std::move(turn.journal);  // only state, in the explicit style: at once again
    run.has_worked = false;
  }
}

Task<void> TaskRuns::write_down(Running& run) {
  bool is_cut = false;
  while (true) {
    Task<Result<TaskWritten>> writing = vault_.write(run.record, run.revision, vault_.now(), loop_);
    Result<TaskWritten> written = co_await writing;
    if (written.ok() && *written == TaskWritten::done) {
      on_change_(run.record.id);
      co_return;
    }
    if (written.ok() && *written == TaskWritten::changed) co_return;  // cancelled, or taken for dead
    if (written.ok() && !is_cut) {
      log_failure("task_too_large", "what the task came to is larger than the store may keep");
      run.record.end(failure(Fault(protocol::internal_error, "The result is too large to be kept")),
                     vault_.now());
      is_cut = true;
      continue;
    }
    log_failure("task_store_failed", written.ok() ? "the store is full" : written.error().message);
    // By then the others have taken it for dead, or forgotten it.
    if (vault_.now() >= token::later(run.lease_until, settings_.tasks.kept)) co_return;
    const OneShot<bool> elapsed = after(run.write_timer, write_pause);
    co_await elapsed;
  }
}

Task<void> TaskRuns::beat(std::shared_ptr<Running> owner) {
  Running& run = *owner;
  const std::weak_ptr<Running> itself = owner;
  owner.reset();  // the run owns this frame
  while (true) {
    const OneShot<bool> elapsed = after(run.beat_timer, settings_.tasks.heartbeat);
    co_await elapsed;
    const Timestamp lease_until = next_lease();
    Task<Result<TaskWritten>> renewing = vault_.renew(run.record.id, run.revision, lease_until, loop_);
    Result<TaskWritten> renewed = co_await renewing;
    if (renewed.ok() && *renewed == TaskWritten::done) {
      run.lease_until = lease_until;
      continue;
    }
    if (!renewed.ok()) log_failure("task_store_failed", renewed.error().message);
    const bool is_lost = renewed.ok() || vault_.now() >= run.lease_until;
    if (is_lost && !run.has_worked) {
      loop_.post([this, itself] {
        if (const std::shared_ptr<Running> lost = itself.lock()) drop(lost);
      });
      co_return;
    }
  }
}

}  // namespace signet::detail
