// All that a task is between two runs of its handler, as one value that any instance can go on from.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/principal.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/rounds/round.h>
#include <signet/server/run.h>

namespace signet::detail {

enum class TaskStatus : std::uint8_t { working, input_required, completed, failed, cancelled };

std::string_view to_string(TaskStatus status);
inline bool has_ended(TaskStatus status) {
  return status != TaskStatus::working && status != TaskStatus::input_required;
}

// A question under the key that the client sees.
struct TaskQuestion {
  TaskQuestion(std::string wire_key, rounds::Pending question)
      : key(std::move(wire_key)), pending(std::move(question)) {}
  std::string key;
  rounds::Pending pending;  // under the handler's key
};

class TaskRecord {
 public:
  std::string id;
  std::string audience;
  Principal principal;
  TaskStatus status = TaskStatus::working;
  Timestamp created{};
  Timestamp updated{};
  std::uint32_t turns = 0;  // runs of the handler so far
  // What the handler is called with (write_request), and what it has come to; gone when the task has ended.
  std::string request;
  Bytes journal;
  std::vector<TaskQuestion> questions;         // while input is required
  Json::Object responses;                      // to questions that were asked, under the handler's keys
  std::map<std::string, std::uint32_t> asked;  // how often, under the handler's keys
  Json outcome;                                // the result, or the error

  // X10: each question, and the same one asked again, goes under a key that this task never used before.
  void ask(std::vector<rounds::Pending> pending, Timestamp now);
  // Takes what answers an open question and passes its check; what does not pass is asked again.
  enum class Answered : std::uint8_t { none, some, all };
  Answered answer(const Json& given, Timestamp now);
  // The result and its end. What the task needed to go on is dropped.
  void end(Reply reply, Timestamp now);
  void cancel(Timestamp now);

  // DetailedTask (SEP-2663). `ttl` counts from the creation.
  Json describe(std::chrono::milliseconds ttl, std::chrono::milliseconds poll_interval) const;

  // Version 1, then the parts, each behind its length: what every reader wants, and what only a run wants.
  //
  //   record = "signet task 1" LF head request journal talk outcome      each = length32 *octet, big-endian
  Bytes encode() const;
  // Strict; nothing where the bytes are no record.
  static std::optional<TaskRecord> decode(ByteView bytes);

 private:
  void finish(TaskStatus last, Timestamp now);
  std::string next_key(const std::string& key);
};

// The part of a call that the handler reads.
std::string write_request(const CallFacts& facts, const Json& input);
struct TaskRequest {
  std::shared_ptr<CallFacts> facts;
  Json input;
};
std::optional<TaskRequest> read_request(const TaskRecord& record, std::uint32_t rounds_max);

}  // namespace signet::detail
