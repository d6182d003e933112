#include <signet/server/task_vault.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <signet/base/digest.h>
#include <signet/token/claims_format.h>

namespace signet::detail {

using token::TaskWritten;

namespace {

// A codec may give what it sealed an end. Nothing works longer than this without a question.
constexpr std::chrono::milliseconds sealed_for = std::chrono::hours(24 * 30);

template <typename Name>
Name name_from(const Digest& digest) {
  Name name;
  std::copy_n(digest.begin(), name.size(), name.begin());
  return name;
}

}  // namespace

TaskVault::TaskVault(const ServerOptions::Settings& settings, std::shared_ptr<token::Codec> codec,
                     std::string audience)
    : settings_(settings),
      codec_(settings.task_store == nullptr ? nullptr : std::move(codec)),
      audience_(std::move(audience)),
      store_(settings.task_store) {
  if (store_ != nullptr) return;
  const std::size_t bytes_max = settings.tasks.memory_bytes_max;
  store_ = token::memory_task_store(*settings.clock, bytes_max, bytes_max);
}

Timestamp TaskVault::now() const { return token::as_stamp(settings_.clock->now()); }

// Who reads the store learns no id, and so cannot ask for the task of an anonymous caller.
token::TaskKey TaskVault::key_of(const std::string& id) const {
  return name_from<token::TaskKey>(
      sha256({as_bytes("signet task\n"), sha256(as_bytes(audience_)), as_bytes(id)}));
}

token::TaskOwner TaskVault::owner_of(const Principal& principal) const {
  const std::array<std::uint8_t, 1> kind = {static_cast<std::uint8_t>(principal.kind)};
  return name_from<token::TaskOwner>(
      sha256({as_bytes("signet task owner\n"), sha256(as_bytes(audience_)), kind, as_bytes(principal.id)}));
}

Timestamp TaskVault::expiry(const TaskRecord& record) const {
  const bool works = record.status == TaskStatus::working;
  return token::later(works ? now() : record.updated, settings_.tasks.kept);
}

Timestamp TaskVault::kept_until(const TaskRecord& record, Timestamp lease_until) const {
  const bool works = record.status == TaskStatus::working;
  return works ? token::later(lease_until, settings_.tasks.kept) : expiry(record);
}

Task<Result<std::optional<LoadedTask>>> TaskVault::load(std::string id, Executor& executor) {
  Task<Result<std::optional<token::StoredTask>>> getting = store_->get(key_of(id), executor);
  Result<std::optional<token::StoredTask>> got = co_await getting;
  if (!got.ok()) co_return failure(std::move(got).error());
  if (!got->has_value()) co_return std::optional<LoadedTask>();
  token::StoredTask& stored = **got;
  Bytes bytes = std::move(stored.value);
  if (codec_ != nullptr) {
    std::string sealed(as_text(bytes));
    Task<Result<token::Unsealed, token::Refused>> opening = codec_->open(std::move(sealed), executor);
    Result<token::Unsealed, token::Refused> opened = co_await opening;
    if (!opened.ok()) {
      const std::string reason(token::to_string(opened.error().reason));
      co_return failure("a task in the store does not open: " + reason);
    }
    bytes = std::move(opened->plaintext);
  }
  std::optional<TaskRecord> record = TaskRecord::decode(bytes);
  // What was sealed for one name or service is nothing under another.
  const bool belongs = record && record->id == id && record->audience == audience_;
  if (!belongs) co_return failure("a task in the store is none of that name");
  LoadedTask loaded;
  loaded.record = std::move(*record);
  loaded.revision = stored.revision;
  loaded.lease_until = stored.lease_until;
  co_return std::optional<LoadedTask>(std::move(loaded));
}

Task<Result<TaskWritten>> TaskVault::write(const TaskRecord& record, std::uint64_t revision,
                                           Timestamp lease_until, Executor& executor) {
  Bytes bytes = record.encode();
  const Timestamp expires_at = kept_until(record, lease_until);
  if (codec_ != nullptr) {
    const Timestamp sealed_until = std::max(expires_at, token::later(now(), sealed_for));
    Task<Result<std::string>> sealing = codec_->seal(
        std::move(bytes), record.status == TaskStatus::working ? sealed_until : expires_at, executor);
    Result<std::string> sealed = co_await sealing;
    if (!sealed.ok()) co_return failure(std::move(sealed).error());
    bytes.assign(sealed->begin(), sealed->end());
  }
  if (revision == 0) {
    token::TaskCreation creation;
    creation.key = key_of(record.id);
    creation.owner = owner_of(record.principal);
    creation.value = std::move(bytes);
    creation.lease_until = lease_until;
    creation.expires_at = expires_at;
    creation.tasks_max = settings_.tasks.tasks_max;
    creation.owner_tasks_max = settings_.tasks.principal_tasks_max;
    Task<Result<TaskWritten>> creating = store_->create(std::move(creation), executor);
    Result<TaskWritten> created = co_await creating;
    co_return created;
  }
  token::TaskChange change;
  change.key = key_of(record.id);
  change.revision = revision;
  change.value = std::move(bytes);
  change.lease_until = lease_until;
  change.expires_at = expires_at;
  Task<Result<TaskWritten>> replacing = store_->replace(std::move(change), executor);
  Result<TaskWritten> replaced = co_await replacing;
  co_return replaced;
}

Task<Result<TaskWritten>> TaskVault::renew(std::string id, std::uint64_t revision, Timestamp lease_until,
                                           Executor& executor) {
  const Timestamp expires_at = token::later(lease_until, settings_.tasks.kept);
  Task<Result<TaskWritten>> renewing = store_->renew(key_of(id), revision, lease_until, expires_at, executor);
  Result<TaskWritten> renewed = co_await renewing;
  co_return renewed;
}

}  // namespace signet::detail
