// Where work that outlives its request is kept: records under names, which many may read and one at a time may change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/executor.h>
#include <signet/base/result.h>
#include <signet/base/task.h>

namespace signet::token {

using TaskKey = std::array<std::uint8_t, 24>;
using TaskOwner = std::array<std::uint8_t, 24>;

// What a store has under a key.
struct StoredTask {
  Bytes value;
  std::uint64_t revision = 0;  // 1 when it was created, one more with each change
  Timestamp lease_until{};     // until when somebody works on it; the store does not read it
};

struct TaskCreation {
  TaskKey key{};
  TaskOwner owner{};  // whose it is, for the limit
  Bytes value;
  Timestamp lease_until{};
  Timestamp expires_at{};
  std::size_t tasks_max = 0;        // kept at a time, over all owners
  std::size_t owner_tasks_max = 0;  // of this owner
};

struct TaskChange {
  TaskKey key{};
  std::uint64_t revision = 0;  // the one that is changed
  Bytes value;
  Timestamp lease_until{};
  Timestamp expires_at{};
};

enum class TaskWritten : std::uint8_t {
  done,
  changed,     // another revision is there by now, or none
  full,        // the store holds as many as it may, or as many bytes
  owner_full,  // the owner has as many as it may
  too_large,   // no value of that size is kept
};

// Keeps records until they expire. Every operation is atomic across all processes that share the store, and what was
// written is there for the next who reads, whoever that is. The values are sealed by who puts them there: a store can
// lose them or bring back older ones, but neither read nor change them. Failures (the store is away) are errors, and
// whether the operation took place is then open.
// Threads and executor as of RedemptionStore.
class TaskStore {
 public:
  TaskStore() = default;
  TaskStore(const TaskStore&) = delete;
  TaskStore& operator=(const TaskStore&) = delete;
  virtual ~TaskStore() = default;

  // Precondition: the key is new; it is random. `changed` where it is not.
  virtual Task<Result<TaskWritten>> create(TaskCreation creation, Executor& executor) = 0;
  // Nothing where it is not there (any more).
  virtual Task<Result<std::optional<StoredTask>>> get(TaskKey key, Executor& executor) = 0;
  // Writes the next revision if that one is there; else `changed`.
  virtual Task<Result<TaskWritten>> replace(TaskChange change, Executor& executor) = 0;
  // Moves both times of that revision, and leaves the value alone.
  virtual Task<Result<TaskWritten>> renew(TaskKey key, std::uint64_t revision, Timestamp lease_until,
                                          Timestamp expires_at, Executor& executor) = 0;
};

// In the memory of this process, at most `bytes_max` in all and `value_bytes_max` each. Thread-safe; never blocks for long.
// Borrows the clock.
std::shared_ptr<TaskStore> memory_task_store(const Clock& clock, std::size_t bytes_max,
                                             std::size_t value_bytes_max);

}  // namespace signet::token
