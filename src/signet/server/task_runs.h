// The tasks that this process works on, on a thread of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <signet/base/crossing.h>
#include <signet/base/executor.h>
#include <signet/base/task.h>
#include <signet/rounds/journal.h>
#include <signet/server/flow.h>
#include <signet/server/options.h>
#include <signet/server/task_loop.h>
#include <signet/server/task_record.h>
#include <signet/server/task_vault.h>

namespace signet::detail {

// Takes a task by writing it down as its own, so that of all instances one runs it; runs the handler; writes down what it
// came to. While it runs, its lease is renewed at each heartbeat; where the record has changed meanwhile (the
// task was cancelled, or taken for dead) or the lease has ended without a renewal, the run is dropped and nothing of it is
// written. What runs when this ends is let go of, and so has failed. Thread-safe. Borrows its arguments.
class TaskRuns {
 public:
  TaskRuns(const ServerOptions::Settings& settings, Flows& flows, TaskVault& vault,
           std::function<void(const std::string& id)> on_change)
      : settings_(settings), flows_(flows), vault_(vault), on_change_(std::move(on_change)) {}
  ~TaskRuns();
  TaskRuns(const TaskRuns&) = delete;
  TaskRuns& operator=(const TaskRuns&) = delete;

  // Writes the record after `revision` (0: creates it), and if that is `done`, runs. Whether the client that asked for it
  // stays to hear of that makes no difference. The request is without `params`.
  Task<Result<token::TaskWritten>> take(TaskRecord record, std::uint64_t revision, FlowRequest request,
                                        rounds::Journal journal, Executor& executor);
  // Ends the run of that task if there is one here.
  void stop(const std::string& id);

 private:
  struct Running;
  using Taken = Crossing<token::TaskWritten>;

  Task<void> drive(std::shared_ptr<Running> owner, std::shared_ptr<Taken> taken);
  Task<bool> write_taken(Running& run, std::shared_ptr<Taken> taken);
  Task<void> work(Running& run);
  Task<void> write_down(Running& run);
  Task<void> beat(std::shared_ptr<Running> owner);
  OneShot<bool> after(std::shared_ptr<void>& timer, std::chrono::milliseconds delay);
  void drop(const std::shared_ptr<Running>& run);
  void let_go(Running& run);
  void log_failure(const char* event, const std::string& reason) const;
  Timestamp next_lease() const;

  const ServerOptions::Settings& settings_;
  Flows& flows_;
  TaskVault& vault_;
  const std::function<void(const std::string& id)> on_change_;
  std::mutex mutex_;
  std::unordered_multimap<std::string, std::shared_ptr<Running>>
      runs_;  // a run may end while the next one begins
  TaskLoop loop_;
};

}  // namespace signet::detail
