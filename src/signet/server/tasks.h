// The tasks extension (io.modelcontextprotocol/tasks, SEP-2663): calls that go on after their reply, and that the
// client looks after by polling.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/one_shot.h>
#include <signet/base/principal.h>
#include <signet/base/task.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/rounds/journal.h>
#include <signet/server/flow.h>
#include <signet/server/task_loop.h>

namespace signet::detail {

inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

// Tasks live in this process's memory, at most 4096 with 64 MiB of arguments and answers at a time, and are forgotten an
// hour after they have ended. A task whose questions nobody answers for an hour is cancelled and forgotten.
// A task belongs to the principal that made it; to others it does not exist (X18). Its handler runs on a thread of the
// server's own. Thread-safe.
class Tasks {
 public:
  Tasks(const ServerOptions::Settings& settings, Flows& flows) : settings_(settings), flows_(flows) {}
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // Runs the handler from its first line over the journal, as a task. The reply is the CreateTaskResult; the task can
  // be looked up from then on (X7).
  Reply create(const FlowRequest& request, rounds::Journal journal);

  // tasks/get, tasks/update and tasks/cancel, of a client that declared the extension.
  Reply get(const Request& request, const Principal& principal);
  Reply update(const Request& request, const Principal& principal);
  Reply cancel(const Request& request, const Principal& principal);

 private:
  struct Record;

  std::shared_ptr<Record> find(const Request& request, const Principal& principal);
  Task<void> drive(std::shared_ptr<Record> owner);
  static Json::Object take_responses(Record& record);
  std::optional<OneShot<bool>> settle(Record& record, Flows::Turn turn, std::uint32_t count);
  void forget_expired_locked(Timestamp now);

  const ServerOptions::Settings& settings_;
  Flows& flows_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Record>> records_;
  std::atomic<std::size_t> bytes_{0};  // of what clients sent
  TaskLoop loop_;
};

}  // namespace signet::detail
