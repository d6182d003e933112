#include <signet/server/task_record.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>

#include <signet/base/octets.h>
#include <signet/json/text.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/methods.h>
#include <signet/server/flow.h>
#include <signet/server/own_json.h>
#include <signet/server/question_params.h>

namespace signet::detail {

namespace {

constexpr std::string_view magic = "signet task 1\n";
constexpr std::array<std::string_view, 5> status_names = {"working", "input_required", "completed", "failed",
                                                          "cancelled"};

// A key of the handler's that looks like one of a question asked again.
bool has_number(std::string_view key) {
  const std::size_t mark = key.rfind('~');
  if (mark == std::string_view::npos || mark + 1 == key.size()) return false;
  return key.find_first_not_of("0123456789", mark + 1) == std::string_view::npos;
}

constexpr int length_octets = 4;

void append_part(Bytes& out, std::string_view part) { put_text(out, part, length_octets); }

const Json& member(const Json& object, std::string_view name) {
  static const Json null;
  const Json* found = object.find(name);
  return found == nullptr ? null : *found;
}

std::string text_in(const Json& object, std::string_view name) {
  const std::string* found = object.find_string(name);
  return found == nullptr ? std::string() : *found;
}

std::int64_t number_in(const Json& object, std::string_view name) {
  return member(object, name).as_int64().value_or(0);
}

Json head_of(const TaskRecord& record) {
  Json head;
  head.set("id", record.id);
  head.set("audience", record.audience);
  head.set("caller", static_cast<int>(record.principal.kind));
  head.set("status", static_cast<int>(record.status));
  head.set("created", record.created.time_since_epoch().count());
  head.set("updated", record.updated.time_since_epoch().count());
  head.set("turns", record.turns);
  return head;
}

bool read_head(const Json& head, std::string caller_id, TaskRecord& record) {
  const std::int64_t caller = number_in(head, "caller");
  const std::int64_t status = number_in(head, "status");
  if (status < 0 || status >= static_cast<std::int64_t>(status_names.size())) return false;
  record.id = text_in(head, "id");
  record.audience = text_in(head, "audience");
  switch (static_cast<Principal::Kind>(caller)) {
    case Principal::Kind::anonymous:
      record.principal = Principal::anonymous();
      break;
    case Principal::Kind::local:
      record.principal = Principal::local();
      break;
    case Principal::Kind::authenticated:
      record.principal = Principal::authenticated(std::move(caller_id));
      break;
    default:
      return false;
  }
  record.status = static_cast<TaskStatus>(status);
  record.created = Timestamp(std::chrono::milliseconds(number_in(head, "created")));
  record.updated = Timestamp(std::chrono::milliseconds(number_in(head, "updated")));
  record.turns = static_cast<std::uint32_t>(number_in(head, "turns"));
  return !record.id.empty();
}

Json talk_of(const TaskRecord& record) {
  Json questions = Json::array();
  for (const TaskQuestion& question : record.questions) {
    Json entry;
    entry.set("key", question.key);
    entry.set("of", question.pending.key);
    entry.set("question", question.pending.question);
    entry.set("reason", question.pending.reason);
    questions.push_back(std::move(entry));
  }
  Json asked = Json::array();
  for (const auto& [key, times] : record.asked) {
    Json entry;
    entry.set("key", key);
    entry.set("times", times);
    asked.push_back(std::move(entry));
  }
  Json talk;
  talk.set("questions", std::move(questions));
  talk.set("responses", record.responses);
  talk.set("asked", std::move(asked));
  return talk;
}

bool read_talk(const Json& talk, TaskRecord& record) {
  const JsonArray* questions = member(talk, "questions").as_array();
  const Json::Object* responses = member(talk, "responses").as_object();
  const JsonArray* asked = member(talk, "asked").as_array();
  if (questions == nullptr || responses == nullptr || asked == nullptr) return false;
  for (const Json& entry : *questions) {
    rounds::Pending pending(text_in(entry, "of"), member(entry, "question"));
    pending.reason = text_in(entry, "reason");
    record.questions.emplace_back(text_in(entry, "key"), std::move(pending));
  }
  record.responses = *responses;
  for (const Json& entry : *asked) {
    record.asked[text_in(entry, "key")] = static_cast<std::uint32_t>(number_in(entry, "times"));
  }
  return true;
}

}  // namespace

std::string_view to_string(TaskStatus status) { return status_names[static_cast<std::size_t>(status)]; }

// The first is asked under the handler's own key, the others under it and a number; so no two are the same.
std::string TaskRecord::next_key(const std::string& key) {
  const std::uint32_t times = ++asked[key];
  if (times == 1 && !has_number(key)) return key;
  return key + "~" + std::to_string(times);
}

void TaskRecord::ask(std::vector<rounds::Pending> pending, Timestamp now) {
  questions.clear();
  for (rounds::Pending& question : pending) {
    std::string key = next_key(question.key);
    questions.emplace_back(std::move(key), std::move(question));
  }
  status = TaskStatus::input_required;
  updated = now;
}

TaskRecord::Answered TaskRecord::answer(const Json& given, Timestamp now) {
  std::vector<TaskQuestion> open;
  bool moved = false;
  for (TaskQuestion& question : questions) {
    const Json* answer = given.find(question.key);
    if (answer == nullptr) {
      open.push_back(std::move(question));
      continue;
    }
    moved = true;
    std::optional<std::string> objection = check_against(question.pending.question, *answer);
    if (objection) {
      question.pending.reason = std::move(*objection);
      question.key = next_key(question.pending.key);
      open.push_back(std::move(question));
    } else {
      responses.set(question.pending.key, *answer);
    }
  }
  questions = std::move(open);
  if (!moved) return Answered::none;
  updated = now;
  if (!questions.empty()) return Answered::some;
  status = TaskStatus::working;
  return Answered::all;
}

void TaskRecord::finish(TaskStatus last, Timestamp now) {
  status = last;
  updated = now;
  request.clear();
  journal.clear();
  questions.clear();
  responses = Json::Object();
  asked.clear();
}

void TaskRecord::end(Reply reply, Timestamp now) {
  finish(reply.ok() ? TaskStatus::completed : TaskStatus::failed, now);
  outcome = reply.ok() ? std::move(*reply) : protocol::to_json(reply.error());
  if (status == TaskStatus::completed) outcome.set("resultType", "complete");
}

void TaskRecord::cancel(Timestamp now) { finish(TaskStatus::cancelled, now); }

Json TaskRecord::describe(std::chrono::milliseconds ttl, std::chrono::milliseconds poll_interval) const {
  Json json;
  json.set("taskId", id);
  json.set("status", to_string(status));
  json.set("createdAt", iso_8601(created));
  json.set("lastUpdatedAt", iso_8601(updated));
  json.set("ttlMs", ttl.count());
  json.set("pollIntervalMs", poll_interval.count());
  if (status == TaskStatus::input_required) {
    std::vector<rounds::Pending> listed;
    for (const TaskQuestion& question : questions) {
      listed.push_back(question.pending);
      listed.back().key = question.key;
    }
    json.set("inputRequests", input_requests(listed));
  }
  if (status == TaskStatus::completed) json.set("result", outcome);
  if (status == TaskStatus::failed) json.set("error", outcome);
  return json;
}

Bytes TaskRecord::encode() const {
  Bytes bytes(magic.begin(), magic.end());
  append_part(bytes, json::write(head_of(*this)));
  append_part(bytes, principal.id);  // any octets, which JSON would not keep apart
  append_part(bytes, request);
  append_part(bytes, as_text(journal));
  append_part(bytes, json::write_with_kinds(talk_of(*this)));
  append_part(bytes, json::write_with_kinds(outcome));
  return bytes;
}

std::optional<TaskRecord> TaskRecord::decode(ByteView bytes) {
  if (!as_text(bytes).starts_with(magic)) return std::nullopt;
  OctetReader reader(bytes.subspan(magic.size()));
  std::array<std::string_view, 6> parts;
  for (std::string_view& part : parts) {
    const std::optional<std::string_view> taken = reader.text(length_octets);
    if (!taken) return std::nullopt;
    part = *taken;
  }
  if (!reader.empty()) return std::nullopt;
  const std::optional<Json> head = read_own_json(parts[0]);
  const std::optional<Json> talk = read_own_json(parts[4]);
  std::optional<Json> outcome = read_own_json(parts[5]);
  if (!head || !talk || !outcome) return std::nullopt;
  TaskRecord record;
  if (!read_head(*head, std::string(parts[1]), record)) return std::nullopt;
  if (!read_talk(*talk, record)) return std::nullopt;
  record.request = parts[2];
  record.journal.assign(parts[3].begin(), parts[3].end());
  record.outcome = std::move(*outcome);
  return record;
}

std::string write_request(const CallFacts& facts, const Json& input) {
  Json request;
  request.set("target", facts.target);
  request.set("version", facts.protocol_version);
  request.set("flow", facts.flow_id);
  request.set("round", facts.round);
  request.set("client", facts.client_info);
  request.set("capabilities", facts.client_capabilities);
  request.set("meta", facts.meta);
  request.set("input", input);
  return json::write_with_kinds(request);
}

std::optional<TaskRequest> read_request(const TaskRecord& record, std::uint32_t rounds_max) {
  std::optional<Json> given = read_own_json(record.request);
  if (!given) return std::nullopt;
  TaskRequest request;
  request.facts = std::make_shared<CallFacts>();
  request.facts->principal = record.principal;
  request.facts->method = protocol::method::tools_call;
  request.facts->target = text_in(*given, "target");
  request.facts->protocol_version = text_in(*given, "version");
  request.facts->flow_id = text_in(*given, "flow");
  request.facts->round = static_cast<std::uint32_t>(number_in(*given, "round"));
  request.facts->client_info = member(*given, "client");
  request.facts->client_capabilities = member(*given, "capabilities");
  request.facts->meta = member(*given, "meta");
  request.facts->rounds_max = rounds_max;
  request.facts->in_task = true;
  request.input = member(*given, "input");
  return request;
}

}  // namespace signet::detail
