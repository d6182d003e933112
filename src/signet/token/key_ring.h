// The keys that seal and open, and where they come from.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/log.h>
#include <signet/base/result.h>
#include <signet/base/secret.h>
#include <signet/base/task.h>

namespace signet::token {

class XaesKey;

inline constexpr std::size_t key_bytes = 32;
inline constexpr std::size_t key_id_bytes_max = 32;

// Whether `id` is 1 to 32 characters of [A-Za-z0-9_-].
bool is_key_id(std::string_view id);

// What a key of a ring may still do.
enum class KeyStage : std::uint8_t {
  accept,  // opens, and does not seal yet
  seal,    // opens and seals: exactly one key of a ring
  retire,  // opens until a date, then no more
};
std::string_view to_string(KeyStage stage);

// One key as it is put into a ring.
struct KeyEntry {
  std::string id;
  Secret secret;  // 32 bytes
  KeyStage stage = KeyStage::accept;
  std::optional<Timestamp> since;       // when it came to this stage, where that is known: for rotation
  std::optional<Timestamp> retires_at;  // with stage retire: from this moment on it opens nothing
};

// One key inside a ring. Lives as long as the ring.
class RingKey {
 public:
  explicit RingKey(KeyEntry entry);
  RingKey(RingKey&&) noexcept;
  ~RingKey();

  const std::string& id() const { return entry_.id; }
  KeyStage stage() const { return entry_.stage; }
  std::optional<Timestamp> since() const { return entry_.since; }
  std::optional<Timestamp> retires_at() const { return entry_.retires_at; }
  bool opens_at(Timestamp now) const { return !entry_.retires_at || now < *entry_.retires_at; }

  // The secret as it was put in. For formats of other systems, and for writing the ring back.
  const Secret& secret() const { return entry_.secret; }
  // A key for one purpose, by HKDF-SHA256 (info `signet/v1/<purpose>`): keys of different purposes share nothing.
  Secret derive(std::string_view purpose) const;
  // Eight hexadecimal digits derived from the secret, to see whether two machines hold the same one.
  std::string fingerprint() const;
  // The key of sealed request states (purpose `request-state`), ready for use.
  const XaesKey& request_state_key() const { return *request_state_key_; }

 private:
  KeyEntry entry_;
  std::unique_ptr<const XaesKey> request_state_key_;
};

// A set of keys of which exactly one seals. Immutable, shared, thread-safe; secrets are wiped with the last owner.
class KeyRing {
 public:
  // The ring, or one sentence that says what is wrong with it (never with a secret in it): no key, an id that is none
  // or comes twice, no or a second sealing key, a secret that is not 32 bytes or all zeros or comes twice, a date
  // where the stage has none or none where it needs one.
  static Result<std::shared_ptr<const KeyRing>> make(std::vector<KeyEntry> entries);

  KeyRing(const KeyRing&) = delete;
  KeyRing& operator=(const KeyRing&) = delete;

  const RingKey& sealing() const { return *sealing_; }
  // The key of that id, or null. Takes no longer for more keys.
  const RingKey* find(std::string_view id) const;
  // In the order in which they were given.
  const std::vector<RingKey>& keys() const { return keys_; }

 private:
  KeyRing() = default;

  std::vector<RingKey> keys_;
  std::unordered_map<std::string_view, const RingKey*> by_id_;
  const RingKey* sealing_ = nullptr;
};

// Says which ring is in force, without a secret: how many keys, which one seals, and its fingerprint, so that whoever reads
// two logs sees whether two instances hold the same keys. An empty sink keeps silent.
void log_ring(const LogSink& log, std::string_view event, const KeyRing& ring);

// A new random key.
KeyEntry generate_key(std::string id, KeyStage stage, Timestamp now, Entropy& entropy);

// Where a codec finds the ring in force. Thread-safe.
class RingSource {
 public:
  RingSource() = default;
  RingSource(const RingSource&) = delete;
  RingSource& operator=(const RingSource&) = delete;
  virtual ~RingSource() = default;

  // Whether `current` always has the ring in force, so that nobody needs to wait for `ring`.
  virtual bool immediate() const = 0;
  // The ring in force; null only where the source is not immediate and nothing has come yet.
  virtual std::shared_ptr<const KeyRing> current() const = 0;
  // The ring in force, fetched if need be.
  virtual Task<Result<std::shared_ptr<const KeyRing>>> ring(Executor& executor) = 0;

  // Whether other processes, or this one after a restart, may have these keys.
  virtual bool outlives_process() const { return true; }
};

// A ring that can be replaced at any time, from any thread: what is under way goes on with the ring it began with.
class SharedRing : public RingSource {
 public:
  explicit SharedRing(std::shared_ptr<const KeyRing> ring) : ring_(std::move(ring)) {}

  bool immediate() const override { return true; }
  std::shared_ptr<const KeyRing> current() const override;
  Task<Result<std::shared_ptr<const KeyRing>>> ring(Executor& executor) override;

  void replace(std::shared_ptr<const KeyRing> ring);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const KeyRing> ring_;
};

// One random key that lives as long as the process: the default. States sealed by it die with the process and open on
// no other instance; a server says so in its log. The id is `ephemeral-` and 12 hexadecimal digits.
std::shared_ptr<RingSource> ephemeral_ring(Entropy& entropy);

// A ring that a callback fetches, for example from a key management service that unwraps it. The ring is fetched at
// the first use and again after `refresh_after`; a fetch that fails leaves the old ring in force, says so in the log
// once, and is tried again after `retry_after`, not sooner. One caller fetches at a time. Meanwhile others go on with
// the old ring or, where there is none yet, wait for what that one gets, each on its own executor; where a first fetch
// has failed, callers are told why at once until the next is due. A fetch whose caller goes is taken over by one that waits.
class FetchedRing final : public RingSource {
 public:
  using Fetch = std::function<Task<Result<std::shared_ptr<const KeyRing>>>(Executor& executor)>;
  struct Times {
    std::chrono::milliseconds refresh_after = std::chrono::minutes(5);
    std::chrono::milliseconds retry_after = std::chrono::seconds(10);
  };

  // `fetch` is called from any thread that awaits `ring`; if it throws, it has failed. The clock outlives this.
  FetchedRing(Fetch fetch, Times times, const Clock& clock, LogSink log);

  bool immediate() const override { return false; }
  std::shared_ptr<const KeyRing> current() const override;
  Task<Result<std::shared_ptr<const KeyRing>>> ring(Executor& executor) override;

 private:
  using Fetched = Result<std::shared_ptr<const KeyRing>>;
  class Fetching;
  class Waiter;

  Task<Fetched> try_fetch(Executor& executor);
  bool is_due(Timestamp now) const;
  Fetched settle(Fetched fetched);
  void release(const std::optional<Fetched>& outcome);

  Fetch fetch_;
  Times times_;
  const Clock& clock_;
  LogSink log_;
  mutable std::mutex mutex_;
  std::shared_ptr<const KeyRing> ring_;
  std::string why_none_;                 // of the last fetch, where it failed
  Timestamp due_{};                      // when the next fetch is due
  std::chrono::milliseconds pause_{};    // from the last fetch until then
  bool fetching_ = false;                // whether a caller is at it
  std::unordered_set<Waiter*> waiters_;  // for that one, since there is no ring
};

}  // namespace signet::token
