// Calls that go on after their reply: the tasks extension (SEP-2663), seen from the client.
#include <signet/client/client_impl.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <signet/protocol/errors.h>

namespace signet {
namespace {

using namespace std::chrono_literals;
using Kind = CallError::Kind;

constexpr std::chrono::milliseconds poll_min = 50ms;
constexpr std::chrono::milliseconds poll_default = 1000ms;
constexpr std::chrono::milliseconds poll_max = 60'000ms;
constexpr std::size_t keys_max = 4096;  // of the questions of one task

Failure<CallError> invalid(std::string sentence) {
  return failure(CallError(Kind::invalid_reply, std::move(sentence)));
}

std::chrono::milliseconds poll_interval(const Json& task) {
  const Json* wanted = task.find("pollIntervalMs");
  const auto value = wanted != nullptr ? wanted->as_int64() : std::nullopt;
  return value ? std::clamp(std::chrono::milliseconds(std::min<std::int64_t>(*value, poll_max.count())),
                            poll_min, poll_max)
               : poll_default;
}

Json about(const std::string& task_id) { return Json::object({{"taskId", task_id}}); }

// The result of a task that is over.
Called<Json> outcome_of(std::string_view status, const Json& task) {
  if (status == "cancelled") return failure(CallError(Kind::cancelled, "the server cancelled the task"));
  if (status == "completed") {
    const Json* result = task.find("result");
    if (result == nullptr) return invalid("the completed task has no result");
    const Called<std::optional<client::InputNeeded>> needed = client::read_result("tasks/get", *result);
    if (!needed) return failure(needed.error());
    return *result;
  }
  const Json* error = task.find("error");
  const Json* code = error != nullptr ? error->find("code") : nullptr;
  const std::string* message = error != nullptr ? error->find_string("message") : nullptr;
  const std::optional<std::int64_t> number = code != nullptr ? code->as_int64() : std::nullopt;
  if (!number || message == nullptr || *number < INT32_MIN || *number > INT32_MAX) {
    return invalid("the failed task has no error");
  }
  const Json* data = error->find("data");
  CallError refused(Kind::refused, "the task failed: " + client::quoted(*message));
  refused.fault.emplace(static_cast<int>(*number), *message, data != nullptr ? *data : Json());
  return failure(std::move(refused));
}

}  // namespace

bool ClientImpl::follows_tasks(const CallState& call) const {
  return options.tasks && server.modern && !call.declares_without_handlers;
}

Task<Called<Json>> ClientImpl::follow_task(Json created, CallPtr call) {
  const std::string* id = created.find_string("taskId");
  if (id == nullptr || id->empty()) co_return invalid("the task has no taskId");
  const std::string task_id = *id;
  const Task<Called<Json>> polling = poll_task(std::move(created), task_id, call);
  Called<Json> result = co_await polling;
  const bool left = !result && result.error().kind != Kind::refused && result.error().kind != Kind::transport;
  if (left) {
    // Not notifications/cancelled: the request has long been answered (X12). Whether it is heard or not, the call is over.
    const CallPtr farewell =
        std::make_shared<CallState>(executor, *options.clock, CallOptions(), options.probe_timeout);
    const Task<Called<Json>> cancelling = send("tasks/cancel", about(task_id), farewell);
    const Called<Json> cancelled = co_await cancelling;
    if (!cancelled) log(LogLevel::debug, "task_not_cancelled", "reason", cancelled.error().message);
  }
  co_return result;
}

Task<Called<Json>> ClientImpl::poll_task(Json task, std::string task_id, CallPtr call) {
  std::set<std::string> answered;
  std::string last_status = "working";
  log(LogLevel::debug, "task", "status", last_status);
  for (;;) {
    const Task<Called<void>> pausing = pause(poll_interval(task), call);
    const Called<void> paused = co_await pausing;
    if (!paused) co_return failure(paused.error());
    const Task<Called<Json>> getting = send("tasks/get", about(task_id), call);
    Called<Json> got = co_await getting;
    if (!got) co_return got;
    task = std::move(*got);
    const std::string* found = task.find_string("status");
    const std::string status = found != nullptr ? *found : std::string();
    if (std::exchange(last_status, status) != status)
      log(LogLevel::debug, "task", "status", status.substr(0, 40));
    const std::string* message = task.find_string("statusMessage");
    if (message != nullptr && call->options.on_progress) {
      call->options.on_progress(Progress(0, std::nullopt, *message));
    }
    if (status == "completed" || status == "failed" || status == "cancelled")
      co_return outcome_of(status, task);
    if (status == "working") continue;
    if (status != "input_required")
      co_return invalid("the task has the unknown status " + client::quoted(status));
    const Task<Called<void>> answering = answer_task(task, task_id, answered, call);
    const Called<void> done = co_await answering;
    if (!done) co_return failure(done.error());
  }
}

// Answers what is open and was not answered before: the server may not have come to it yet (X5, X10). `answered` outlives
// the task.
Task<Called<void>> ClientImpl::answer_task(Json task, std::string task_id, std::set<std::string>& answered,
                                           CallPtr call) {
  const Json* requests = task.find("inputRequests");
  if (requests == nullptr || !requests->is_object())
    co_return invalid("the task asks for nothing in particular");
  Json open = Json::object();
  for (const auto& [key, request] : *requests->as_object()) {
    if (!answered.contains(key)) open.set(key, request);
  }
  if (open.as_object()->empty()) co_return Called<void>();
  if (answered.size() + open.as_object()->size() > keys_max) co_return invalid("the task asks too much");
  if (call->round++ > call->options.rounds_max.value_or(options.rounds_max)) {
    co_return failure(CallError(Kind::rounds_exceeded, "the task asked for input too often"));
  }
  Called<std::vector<Question>> questions = prepare_questions(open, *call, call->round - 1);
  if (!questions) co_return failure(std::move(questions.error()));
  const Task<Called<Json>> asking = ask(std::move(*questions), call);
  Called<Json> answers = co_await asking;
  if (!answers) co_return failure(std::move(answers.error()));
  for (const auto& [key, request] : *open.as_object()) answered.insert(key);
  Json params = about(task_id);
  params.set("inputResponses", std::move(*answers));
  const Task<Called<Json>> updating = send("tasks/update", std::move(params), call);
  const Called<Json> updated = co_await updating;
  if (!updated) co_return failure(updated.error());
  co_return Called<void>();
}

}  // namespace signet
