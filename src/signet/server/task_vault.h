// Tasks in a store, sealed on the way in and opened on the way out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <signet/base/clock.h>
#include <signet/base/executor.h>
#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/server/options.h>
#include <signet/server/task_record.h>
#include <signet/token/codec.h>
#include <signet/token/task_store.h>

namespace signet::detail {

// What was found, and what it takes to change it.
struct LoadedTask {
  TaskRecord record;
  std::uint64_t revision = 0;
  Timestamp lease_until{};
};

// A store that is given is shared: what is kept there is sealed with the codec, and names neither task nor caller but by
// digests. Without one, tasks stay in this process's memory as they are. Thread-safe. Borrows the settings.
class TaskVault {
 public:
  TaskVault(const ServerOptions::Settings& settings, std::shared_ptr<token::Codec> codec,
            std::string audience);

  bool is_shared() const { return codec_ != nullptr; }
  const std::string& audience() const { return audience_; }

  // Nothing where there is no such task, none that was sealed here for this name, or none of this service.
  Task<Result<std::optional<LoadedTask>>> load(std::string id, Executor& executor);
  // Revision 0 creates. The record outlives the task.
  Task<Result<token::TaskWritten>> write(const TaskRecord& record, std::uint64_t revision,
                                         Timestamp lease_until, Executor& executor);
  // For a task that is being worked on.
  Task<Result<token::TaskWritten>> renew(std::string id, std::uint64_t revision, Timestamp lease_until,
                                         Executor& executor);

  // Until when a record is kept that nobody touches any more.
  Timestamp expiry(const TaskRecord& record) const;
  // As it is told, from the creation.
  std::chrono::milliseconds ttl(const TaskRecord& record) const { return expiry(record) - record.created; }
  Timestamp now() const;

 private:
  token::TaskKey key_of(const std::string& id) const;
  token::TaskOwner owner_of(const Principal& principal) const;
  Timestamp kept_until(const TaskRecord& record, Timestamp lease_until) const;

  const ServerOptions::Settings& settings_;
  std::shared_ptr<token::Codec> codec_;  // null: nothing is sealed
  const std::string audience_;
  std::shared_ptr<token::TaskStore> store_;
};

}  // namespace signet::detail
