#include <signet/server/tasks.h>

#include <signet/base/one_shot.h>
#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/server/question_params.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <future>
#include <optional>
#include <utility>
#include <vector>

namespace signet::detail {

namespace {

constexpr std::size_t tasks_max = 4096;
// Of what clients sent, over all tasks.
constexpr std::size_t bytes_max = std::size_t{64} << 20;
// After the end of a task, and while it waits for answers.
constexpr std::chrono::milliseconds kept_after_end = std::chrono::hours(1);
constexpr std::chrono::milliseconds poll_interval{1000};

// Progress and log messages have no stream to travel on in a task (X14).
class NoOutlet final : public Outlet {
 public:
  void notify(Notification /*notification*/) override {}
};

std::string iso_8601(Timestamp time) {
  const auto since = time.time_since_epoch().count();
  const std::time_t seconds = static_cast<std::time_t>(since / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::string milliseconds = std::to_string(since % 1000);
  milliseconds.insert(0, 3 - milliseconds.size(), '0');
  return std::string(text.data(), length) + "." + milliseconds + "Z";
}

Json acknowledged() {
  Json result;
  result.set("resultType", "complete");
  return result;
}

std::size_t size_of(const Json& json) { return json.is_null() ? 0 : json::write(json).size(); }

// Of what a request leaves with its task.
std::size_t size_of(const FlowRequest& request) {
  const CallFacts& facts = *request.facts;
  return size_of(request.input) + size_of(facts.meta) + size_of(facts.client_info) +
         size_of(facts.client_capabilities);
}

Reply no_more_tasks() { return failure(Fault(protocol::internal_error, "No more tasks are taken")); }

bool has_ended(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

}  // namespace

struct Tasks::Record {
  explicit Record(FlowRequest its_request) : request(std::move(its_request)) {}

  std::string id;
  Principal principal;
  FlowRequest request;
  Timestamp created{};

  std::mutex mutex;  // guards what follows
  std::string status = "working";
  std::size_t bytes = 0;  // that count against bytes_max
  Timestamp updated{};
  std::vector<rounds::Pending> pending;  // with status input_required
  Json::Object responses;                // to what was pending
  std::optional<Reply> outcome;
  OneShot<bool> answered;

  // On the loop's thread only.
  rounds::Journal journal;
  std::stop_source stop;
  Exchange exchange;
  NoOutlet outlet;
  Task<void> task;

  void move_to(std::string_view new_status, Timestamp now) {
    status = new_status;
    updated = now;
  }

  Json describe_locked() const {
    Json json;
    json.set("taskId", id);
    json.set("status", status);
    json.set("createdAt", iso_8601(created));
    json.set("lastUpdatedAt", iso_8601(updated));
    json.set("ttlMs", kept_after_end.count());
    json.set("pollIntervalMs", poll_interval.count());
    return json;
  }
};

Tasks::~Tasks() {
  std::unordered_map<std::string, std::shared_ptr<Record>> records;
  {
    const std::lock_guard lock(mutex_);
    records.swap(records_);
  }
  if (records.empty()) return;
  // Frames end on the thread on which they ran.
  std::promise<void> dropped;
  loop_.post([&records, &dropped] {
    for (auto& [id, record] : records) record->task = Task<void>();
    dropped.set_value();
  });
  dropped.get_future().wait();
  loop_.stop();
}

// Tasks that have ended, and those whose questions nobody answers: otherwise a client could begin tasks until no more are
// taken, and leave.
void Tasks::forget_expired_locked(Timestamp now) {
  std::erase_if(records_, [this, now](const auto& entry) {
    const std::shared_ptr<Record>& record = entry.second;
    const std::lock_guard lock(record->mutex);
    const bool waits = record->status == "input_required";
    if (!waits && !has_ended(record->status)) return false;
    if (now - record->updated < kept_after_end) return false;
    bytes_ -= record->bytes;
    if (waits) {
      record->move_to("cancelled", now);
      loop_.post([record] {
        record->stop.request_stop();
        record->task = Task<void>();
      });
    }
    return true;
  });
}

Reply Tasks::create(const FlowRequest& request, rounds::Journal journal) {
  auto record = std::make_shared<Record>(request);
  auto facts = std::make_shared<CallFacts>(*request.facts);
  facts->in_task = true;
  facts->progress_token = Json();
  facts->log_rank.reset();
  record->request.facts = std::move(facts);
  record->request.params = nullptr;  // of a request that will be gone
  record->principal = request.facts->principal;
  std::array<std::uint8_t, 16> random{};
  settings_.entropy->fill(random);
  record->id = hex(random);
  record->bytes = size_of(request);
  record->created = record->updated = settings_.clock->now();
  record->journal = std::move(journal);
  record->exchange.principal = record->principal;
  record->exchange.outlet = &record->outlet;
  record->exchange.executor = &loop_;
  record->exchange.stop = record->stop.get_token();
  Json result = record->describe_locked();
  result.set("resultType", "task");
  {
    const std::lock_guard lock(mutex_);
    forget_expired_locked(record->created);
    if (records_.size() >= tasks_max || bytes_ + record->bytes > bytes_max) return no_more_tasks();
    bytes_ += record->bytes;
    records_.emplace(record->id, record);
  }
  loop_.post([this, record] {
    record->task = drive(record);
    record->task.start([] {});
  });
  return result;
}

// The rounds of a task: run, wait for the answers, run again.
Task<void> Tasks::drive(std::shared_ptr<Record> owner) {
  Record& record = *owner;
  owner.reset();  // the record owns this frame
  for (std::uint32_t turn = 1;; ++turn) {
    rounds::Round round(std::move(record.journal), take_responses(record));
    Task<Flows::Turn> turning = flows_.turn(record.request, record.exchange, std::move(round));
    Flows::Turn ended = co_await turning;
    const std::optional<OneShot<bool>> answered = settle(record, std::move(ended), turn);
    if (!answered) co_return;
    const OneShot<bool> event = *answered;
    co_await event;
  }
}

Json::Object Tasks::take_responses(Record& record) {
  const std::lock_guard lock(record.mutex);
  return std::exchange(record.responses, Json::Object());
}

// What a run came to. Nothing where the task has ended; else the event that its questions have been answered.
std::optional<OneShot<bool>> Tasks::settle(Record& record, Flows::Turn turn, std::uint32_t count) {
  const Timestamp now = settings_.clock->now();
  const std::lock_guard lock(record.mutex);
  if (has_ended(record.status)) return std::nullopt;  // cancelled in between
  if (!turn.reply && count >= record.request.facts->rounds_max) {
    turn.reply.emplace(failure(Fault(protocol::internal_error, "Too many rounds")));
  }
  if (turn.reply) {
    record.move_to(turn.reply->ok() ? "completed" : "failed", now);
    record.outcome = std::move(turn.reply);
    return std::nullopt;
  }
  record.journal = std::move(turn.journal);
  record.pending = std::move(turn.pending);
  record.answered = OneShot<bool>();
  if (record.pending.empty()) {
    record.answered.set(true);  // only state, in the explicit style: at once again
  } else {
    record.move_to("input_required", now);
  }
  return record.answered;
}

std::shared_ptr<Tasks::Record> Tasks::find(const Request& request, const Principal& principal) {
  const std::string* id = request.params.find_string("taskId");
  if (id == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  forget_expired_locked(settings_.clock->now());
  const auto found = records_.find(*id);
  if (found == records_.end() || found->second->principal != principal) return nullptr;
  return found->second;
}

namespace {

Reply unknown_task() { return failure(Fault(protocol::invalid_params, "Unknown task")); }

}  // namespace

Reply Tasks::get(const Request& request, const Principal& principal) {
  const std::shared_ptr<Record> record = find(request, principal);
  if (record == nullptr) return unknown_task();
  const std::lock_guard lock(record->mutex);
  Json result = record->describe_locked();
  result.set("resultType", "complete");
  if (record->status == "input_required") result.set("inputRequests", input_requests(record->pending));
  if (!record->outcome) return result;
  if (record->outcome->ok()) {
    Json inlined = **record->outcome;
    inlined.set("resultType", "complete");
    result.set("result", std::move(inlined));
    return result;
  }
  const Fault& fault = record->outcome->error();
  Json error;
  error.set("code", fault.code);
  error.set("message", fault.message);
  if (!fault.data.is_null()) error.set("data", fault.data);
  result.set("error", std::move(error));
  return result;
}

Reply Tasks::update(const Request& request, const Principal& principal) {
  const std::shared_ptr<Record> record = find(request, principal);
  if (record == nullptr) return unknown_task();
  const Json* responses = request.params.find("inputResponses");
  if (responses == nullptr || !responses->is_object()) {
    return failure(Fault(protocol::invalid_params, "inputResponses must be an object"));
  }
  const std::lock_guard lock(record->mutex);
  if (record->status != "input_required") return acknowledged();
  if (bytes_ + size_of(*responses) > bytes_max) return no_more_tasks();
  std::vector<rounds::Pending> unanswered;
  for (rounds::Pending& question : record->pending) {
    const Json* answer = responses->find(question.key);
    std::optional<std::string> objection;
    if (answer != nullptr) objection = check_against(question.question, *answer);
    if (answer != nullptr && !objection) {
      const std::size_t size = size_of(*answer);
      record->bytes += size;
      bytes_ += size;
      record->responses.set(question.key, *answer);
    } else {
      if (objection) question.reason = std::move(*objection);
      unanswered.push_back(std::move(question));
    }
  }
  record->pending = std::move(unanswered);
  if (record->pending.empty()) {
    record->move_to("working", settings_.clock->now());
    loop_.post([answered = record->answered] { answered.set(true); });
  }
  return acknowledged();
}

Reply Tasks::cancel(const Request& request, const Principal& principal) {
  const std::shared_ptr<Record> record = find(request, principal);
  if (record == nullptr) return unknown_task();
  const std::lock_guard lock(record->mutex);
  if (has_ended(record->status)) return acknowledged();
  record->move_to("cancelled", settings_.clock->now());
  record->pending.clear();
  loop_.post([record] {
    record->stop.request_stop();
    record->task = Task<void>();
  });
  return acknowledged();
}

}  // namespace signet::detail
