// The tasks extension (io.modelcontextprotocol/tasks, SEP-2663): calls that go on after their reply, and that the
// client looks after by polling or by listening.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/executor.h>
#include <signet/base/principal.h>
#include <signet/base/task.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/rounds/journal.h>
#include <signet/server/flow.h>
#include <signet/server/options.h>
#include <signet/server/subscriptions.h>
#include <signet/server/task_record.h>
#include <signet/server/task_runs.h>
#include <signet/server/task_vault.h>

namespace signet::detail {

inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

// Tasks belong to the principal that made them; to others they do not exist (X18). A task that works is run by one instance,
// on a thread of its own; one that waits for input is run by nobody, and lies in the store until its answers come, to
// whichever instance. What is said of times and limits is in TaskPolicy. Thread-safe. Borrows its arguments.
class Tasks {
 public:
  // How to call the handler of a task that another instance began; nothing where this one does not have it.
  using FindHandler = std::function<std::optional<FlowRequest>(TaskRequest request)>;

  Tasks(const ServerOptions::Settings& settings, Flows& flows, std::shared_ptr<token::Codec> codec,
        std::string audience, Subscriptions& subscriptions, FindHandler find_handler)
      : settings_(settings),
        vault_(settings, std::move(codec), std::move(audience)),
        subscriptions_(subscriptions),
        find_handler_(std::move(find_handler)),
        runs_(settings, flows, vault_, [this](const std::string& id) { subscriptions_.task_changed(id); }) {}

  // Runs the handler from its first line over the journal, as a task. The reply is the CreateTaskResult; the task can
  // be looked up from then on (X7).
  Task<Reply> create(const FlowRequest& request, rounds::Journal journal, Executor& executor);

  // tasks/get, tasks/update and tasks/cancel, of a client that declared the extension. The request outlives the task.
  Task<Reply> get(const Request& request, Exchange& exchange);
  Task<Reply> update(const Request& request, Exchange& exchange);
  Task<Reply> cancel(const Request& request, Exchange& exchange);

  // For subscriptions/listen.
  TaskWatch watch(Exchange& exchange);

 private:
  using Found = Result<LoadedTask, Fault>;

  Task<Found> find(std::string id, Principal principal, Executor& executor);
  Task<bool> bury(LoadedTask task, Executor& executor);
  Task<Result<token::TaskWritten>> write_answers(LoadedTask task, bool complete, Executor& executor);
  Task<TaskNews> look(std::string id, Principal principal, Executor& executor);
  Json describe(const TaskRecord& record) const;
  Fault internal(std::string_view event, const std::string& reason) const;

  const ServerOptions::Settings& settings_;
  TaskVault vault_;
  Subscriptions& subscriptions_;
  FindHandler find_handler_;
  TaskRuns runs_;
};

}  // namespace signet::detail
