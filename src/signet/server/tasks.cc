#include <signet/server/tasks.h>

#include <array>
#include <utility>

#include <signet/base/log.h>
#include <signet/protocol/errors.h>

namespace signet::detail {

using token::TaskWritten;

namespace {

// How often a change is tried again that others were quicker than.
constexpr int attempts_max = 16;

Json acknowledged() {
  Json result;
  result.set("resultType", "complete");
  return result;
}

Fault unknown_task() { return Fault(protocol::invalid_params, "Unknown task"); }
Fault no_more_tasks() { return Fault(protocol::internal_error, "No more tasks are taken"); }
Fault too_busy() { return Fault(protocol::internal_error, "The task is changed too often"); }

// The id that a request names, or one that no task has.
std::string id_in(const Request& request) {
  const std::string* id = request.params.find_string("taskId");
  return id == nullptr ? std::string() : *id;
}

}  // namespace

Fault Tasks::internal(std::string_view event, const std::string& reason) const {
  if (settings_.log) settings_.log(LogLevel::error, event, {{"reason", reason}});
  return Fault(protocol::internal_error, "Internal error");
}

Json Tasks::describe(const TaskRecord& record) const {
  return record.describe(vault_.ttl(record), settings_.tasks.poll_interval);
}

Task<Reply> Tasks::create(const FlowRequest& request, rounds::Journal journal, Executor& executor) {
  TaskRecord record;
  std::array<std::uint8_t, 16> random{};
  settings_.entropy->fill(random);
  record.id = hex(random);
  record.audience = vault_.audience();
  record.principal = request.facts->principal;
  record.created = record.updated = vault_.now();
  record.request = write_request(*request.facts, request.input);
  Json result = describe(record);
  result.set("resultType", "task");

  auto facts = std::make_shared<CallFacts>(*request.facts);
  facts->in_task = true;
  facts->progress_token = Json();
  facts->log_rank.reset();
  FlowRequest in_task(request);
  in_task.facts = std::move(facts);
  in_task.params = nullptr;  // of a request that will be gone
  Task<Result<TaskWritten>> taking =
      runs_.take(std::move(record), 0, std::move(in_task), std::move(journal), executor);
  const Result<TaskWritten> written = co_await taking;
  if (!written.ok()) co_return failure(internal("task_store_failed", written.error().message));
  if (*written != TaskWritten::done) {
    if (settings_.log) {
      const bool of_caller = *written == TaskWritten::owner_full;
      settings_.log(LogLevel::warning, "task_refused", {{"limit", of_caller ? "caller" : "store"}});
    }
    co_return failure(no_more_tasks());
  }
  co_return result;
}

// The task as it is now, if it is this caller's. One whose instance has died is failed first.
Task<Tasks::Found> Tasks::find(std::string id, Principal principal, Executor& executor) {
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    Task<Result<std::optional<LoadedTask>>> loading = vault_.load(id, executor);
    Result<std::optional<LoadedTask>> loaded = co_await loading;
    if (!loaded.ok()) co_return failure(internal("task_store_failed", loaded.error().message));
    if (!loaded->has_value() || (*loaded)->record.principal != principal) co_return failure(unknown_task());
    LoadedTask& task = **loaded;
    const Timestamp now = vault_.now();
    const bool works = task.record.status == TaskStatus::working;
    if (!works && now >= vault_.expiry(task.record)) co_return failure(unknown_task());
    if (!works || now < task.lease_until) co_return std::move(task);
    Task<bool> burying = bury(std::move(task), executor);
    const bool is_away = co_await burying;
    if (is_away) co_return failure(internal("task_store_failed", "a task that died was not marked"));
  }
  co_return failure(too_busy());
}

// What a handler did before its instance died is not known, so it is not run again. True where the store is away.
Task<bool> Tasks::bury(LoadedTask task, Executor& executor) {
  task.record.end(failure(Fault(protocol::internal_error, "The server instance that ran the task has ended")),
                  vault_.now());
  Task<Result<TaskWritten>> writing = vault_.write(task.record, task.revision, vault_.now(), executor);
  const Result<TaskWritten> written = co_await writing;
  if (!written.ok()) co_return true;
  if (*written != TaskWritten::done) co_return false;
  if (settings_.log) settings_.log(LogLevel::warning, "task_died", {});
  subscriptions_.task_changed(task.record.id);
  co_return false;
}

Task<Reply> Tasks::get(const Request& request, Exchange& exchange) {
  Task<Found> finding = find(id_in(request), exchange.principal, *exchange.executor);
  Found found = co_await finding;
  if (!found.ok()) co_return failure(std::move(found).error());
  Json result = describe(found->record);
  result.set("resultType", "complete");
  co_return result;
}

Task<Reply> Tasks::update(const Request& request, Exchange& exchange) {
  const Json* responses = request.params.find("inputResponses");
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    Task<Found> finding = find(id_in(request), exchange.principal, *exchange.executor);
    Found found = co_await finding;
    if (!found.ok()) co_return failure(std::move(found).error());
    if (responses == nullptr || !responses->is_object()) {
      co_return failure(Fault(protocol::invalid_params, "inputResponses must be an object"));
    }
    if (found->record.status != TaskStatus::input_required) co_return acknowledged();
    const TaskRecord::Answered answered = found->record.answer(*responses, vault_.now());
    if (answered == TaskRecord::Answered::none) co_return acknowledged();
    Task<Result<TaskWritten>> writing =
        write_answers(std::move(*found), answered == TaskRecord::Answered::all, *exchange.executor);
    const Result<TaskWritten> written = co_await writing;
    if (!written.ok()) co_return failure(internal("task_not_updated", written.error().message));
    if (*written == TaskWritten::done) co_return acknowledged();
    if (*written != TaskWritten::changed) co_return failure(no_more_tasks());
  }
  co_return failure(too_busy());
}

// With all answers the task is this instance's to run.
Task<Result<TaskWritten>> Tasks::write_answers(LoadedTask task, bool complete, Executor& executor) {
  if (!complete) {
    Task<Result<TaskWritten>> writing = vault_.write(task.record, task.revision, vault_.now(), executor);
    Result<TaskWritten> written = co_await writing;
    if (written.ok() && *written == TaskWritten::done) subscriptions_.task_changed(task.record.id);
    co_return written;
  }
  std::optional<TaskRequest> request = read_request(task.record, settings_.policy.rounds_max);
  Result<rounds::Journal, rounds::Malformed> journal = rounds::Journal::decode(task.record.journal);
  if (!request || !journal.ok()) co_return failure("what the task needs to go on cannot be read");
  std::optional<FlowRequest> flow = find_handler_(std::move(*request));
  if (!flow) co_return failure("this instance does not have the tool of the task");
  Task<Result<TaskWritten>> taking =
      runs_.take(std::move(task.record), task.revision, std::move(*flow), std::move(*journal), executor);
  Result<TaskWritten> written = co_await taking;
  co_return written;
}

Task<Reply> Tasks::cancel(const Request& request, Exchange& exchange) {
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    Task<Found> finding = find(id_in(request), exchange.principal, *exchange.executor);
    Found found = co_await finding;
    if (!found.ok()) co_return failure(std::move(found).error());
    TaskRecord& record = found->record;
    if (has_ended(record.status)) co_return acknowledged();
    record.cancel(vault_.now());
    Task<Result<TaskWritten>> writing =
        vault_.write(record, found->revision, vault_.now(), *exchange.executor);
    const Result<TaskWritten> written = co_await writing;
    if (!written.ok()) co_return failure(internal("task_store_failed", written.error().message));
    if (*written == TaskWritten::changed) continue;
    runs_.stop(record.id);  // on another instance, at its next heartbeat
    subscriptions_.task_changed(record.id);
    co_return acknowledged();
  }
  co_return failure(too_busy());
}

Task<TaskNews> Tasks::look(std::string id, Principal principal, Executor& executor) {
  Task<Found> finding = find(std::move(id), std::move(principal), executor);
  Found found = co_await finding;
  TaskNews news;
  if (!found.ok()) {
    const bool is_unknown = found.error().code == protocol::invalid_params;
    news.state = is_unknown ? TaskNews::State::unknown : TaskNews::State::away;
    co_return news;
  }
  news.state = has_ended(found->record.status) ? TaskNews::State::ended : TaskNews::State::going_on;
  news.revision = found->revision;
  news.task = describe(found->record);
  co_return news;
}

TaskWatch Tasks::watch(Exchange& exchange) {
  TaskWatch watch;
  if (vault_.is_shared()) watch.interval = settings_.tasks.poll_interval;
  watch.look = [this, principal = exchange.principal, executor = exchange.executor](const std::string& id) {
    return look(id, principal, *executor);
  };
  return watch;
}

}  // namespace signet::detail
