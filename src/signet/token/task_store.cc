#include <signet/token/task_store.h>

#include <map>
#include <mutex>
#include <set>

namespace signet::token {
namespace {

class MemoryTasks final : public TaskStore {
 public:
  MemoryTasks(const Clock& clock, std::size_t bytes_max, std::size_t value_bytes_max)
      : clock_(clock), bytes_max_(bytes_max), value_bytes_max_(value_bytes_max) {}

  Task<Result<TaskWritten>> create(TaskCreation creation, Executor&) override {
    co_return create_now(std::move(creation));
  }
  Task<Result<std::optional<StoredTask>>> get(TaskKey key, Executor&) override { co_return get_now(key); }
  Task<Result<TaskWritten>> replace(TaskChange change, Executor&) override {
    co_return replace_now(std::move(change));
  }
  Task<Result<TaskWritten>> renew(TaskKey key, std::uint64_t revision, Timestamp lease_until,
                                  Timestamp expires_at, Executor&) override {
    co_return renew_now(key, revision, lease_until, expires_at);
  }

 private:
  struct Kept {
    StoredTask task;
    TaskOwner owner{};
    Timestamp expires_at{};
  };
  using Records = std::map<TaskKey, Kept>;

  Result<TaskWritten> create_now(TaskCreation creation) {
    const std::lock_guard lock(mutex_);
    forget_old();
    if (records_.contains(creation.key)) return TaskWritten::changed;
    if (creation.value.size() > value_bytes_max_) return TaskWritten::too_large;
    const auto of_owner = of_owner_.find(creation.owner);
    if (of_owner != of_owner_.end() && of_owner->second >= creation.owner_tasks_max)
      return TaskWritten::owner_full;
    if (records_.size() >= creation.tasks_max || creation.value.size() > bytes_max_ - bytes_)
      return TaskWritten::full;
    bytes_ += creation.value.size();
    ++of_owner_[creation.owner];
    by_time_.emplace(creation.expires_at, creation.key);
    Kept& kept = records_[creation.key];
    kept.task.value = std::move(creation.value);
    kept.task.revision = 1;
    kept.task.lease_until = creation.lease_until;
    kept.owner = creation.owner;
    kept.expires_at = creation.expires_at;
    return TaskWritten::done;
  }

  Result<std::optional<StoredTask>> get_now(const TaskKey& key) {
    const std::lock_guard lock(mutex_);
    forget_old();
    const auto found = records_.find(key);
    return found == records_.end() ? std::optional<StoredTask>() : std::optional(found->second.task);
  }

  Result<TaskWritten> replace_now(TaskChange change) {
    const std::lock_guard lock(mutex_);
    Kept* kept = find(change.key, change.revision);
    if (kept == nullptr) return TaskWritten::changed;
    if (change.value.size() > value_bytes_max_) return TaskWritten::too_large;
    const std::size_t others = bytes_ - kept->task.value.size();
    if (change.value.size() > bytes_max_ - others) return TaskWritten::full;
    bytes_ = others + change.value.size();
    kept->task.value = std::move(change.value);
    ++kept->task.revision;
    move(change.key, *kept, change.lease_until, change.expires_at);
    return TaskWritten::done;
  }

  Result<TaskWritten> renew_now(const TaskKey& key, std::uint64_t revision, Timestamp lease_until,
                                Timestamp expires_at) {
    const std::lock_guard lock(mutex_);
    Kept* kept = find(key, revision);
    if (kept == nullptr) return TaskWritten::changed;
    move(key, *kept, lease_until, expires_at);
    return TaskWritten::done;
  }

  Kept* find(const TaskKey& key, std::uint64_t revision) {
    forget_old();
    const auto found = records_.find(key);
    return found == records_.end() || found->second.task.revision != revision ? nullptr : &found->second;
  }

  void move(const TaskKey& key, Kept& kept, Timestamp lease_until, Timestamp expires_at) {
    by_time_.erase({kept.expires_at, key});
    by_time_.emplace(expires_at, key);
    kept.expires_at = expires_at;
    kept.task.lease_until = lease_until;
  }

  void forget_old() {
    const Timestamp now = clock_.now();
    while (!by_time_.empty() && by_time_.begin()->first <= now) {
      const auto found = records_.find(by_time_.begin()->second);
      by_time_.erase(by_time_.begin());
      bytes_ -= found->second.task.value.size();
      const auto of_owner = of_owner_.find(found->second.owner);
      if (--of_owner->second == 0) of_owner_.erase(of_owner);
      records_.erase(found);
    }
  }

  const Clock& clock_;
  const std::size_t bytes_max_;
  const std::size_t value_bytes_max_;
  std::mutex mutex_;
  Records records_;
  std::set<std::pair<Timestamp, TaskKey>> by_time_;  // when to forget which
  std::map<TaskOwner, std::size_t> of_owner_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::shared_ptr<TaskStore> memory_task_store(const Clock& clock, std::size_t bytes_max,
                                             std::size_t value_bytes_max) {
  return std::make_shared<MemoryTasks>(clock, bytes_max, value_bytes_max);
}

}  // namespace signet::token
