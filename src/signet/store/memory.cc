#include <signet/store/memory.h>

#include <array>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace signet::store {
namespace {

using token::Claim;
using token::ClaimOutcome;
using token::TokenId;

// Token ids are random, so their first bytes are hash enough.
struct TokenHash {
  std::size_t operator()(const TokenId& id) const {
    std::size_t word = 0;
    std::memcpy(&word, id.data(), sizeof word);
    return word;
  }
};

// Entries that are forgotten at their time, in shards so that threads seldom meet. Bounded in entries and in bytes.
template <typename Entry>
class ExpiringMap {
  struct Slot {
    Timestamp forget_at{};
    std::size_t bytes = 0;
    Entry entry;
  };
  static constexpr std::size_t shards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_map<TokenId, Slot, TokenHash> slots;
    std::set<std::pair<Timestamp, TokenId>> by_time;  // when to forget which
    std::size_t bytes = 0;
  };

 public:
  ExpiringMap(std::size_t entries_max, std::size_t bytes_max)
      : entries_max_(entries_max / shards + 1), bytes_max_(bytes_max / shards) {}

  // One shard, locked; everything that happens to one id happens through one of these.
  class Locked {
   public:
    Locked(ExpiringMap& map, const TokenId& id, Timestamp now)
        : map_(map), shard_(map.shard_of(id)), lock_(shard_.mutex), id_(id) {
      forget_old(now);
    }

    Entry* find() {
      const auto found = shard_.slots.find(id_);
      return found == shard_.slots.end() ? nullptr : &found->second.entry;
    }
    // Null where the map is full. Precondition: not there.
    Entry* insert(Entry entry, Timestamp forget_at) {
      if (shard_.slots.size() >= map_.entries_max_) return nullptr;
      shard_.by_time.emplace(forget_at, id_);
      return &shard_.slots.emplace(id_, Slot{forget_at, 0, std::move(entry)}).first->second.entry;
    }
    // Books that the entry now holds that many bytes; false where there is no room. Precondition: there.
    bool hold(std::size_t bytes) {
      Slot& slot = shard_.slots.find(id_)->second;
      if (shard_.bytes - slot.bytes + bytes > map_.bytes_max_) return false;
      shard_.bytes += bytes - slot.bytes;
      slot.bytes = bytes;
      return true;
    }
    void erase() {
      const auto found = shard_.slots.find(id_);
      if (found == shard_.slots.end()) return;
      shard_.by_time.erase({found->second.forget_at, id_});
      shard_.bytes -= found->second.bytes;
      shard_.slots.erase(found);
    }

   private:
    // A few each time: more than come in, so the map shrinks while it is used.
    void forget_old(Timestamp now) {
      for (int i = 0; i < 4 && !shard_.by_time.empty(); ++i) {
        const auto oldest = shard_.by_time.begin();
        if (oldest->first > now) return;
        const auto found = shard_.slots.find(oldest->second);
        shard_.bytes -= found->second.bytes;
        shard_.slots.erase(found);
        shard_.by_time.erase(oldest);
      }
    }

    ExpiringMap& map_;
    Shard& shard_;
    std::lock_guard<std::mutex> lock_;
    const TokenId& id_;
  };

 private:
  // The last byte: the hash within a shard uses the first ones.
  Shard& shard_of(const TokenId& id) { return shards_[id.back() % shards]; }

  const std::size_t entries_max_;  // of each shard
  const std::size_t bytes_max_;    // of each shard
  std::array<Shard, shards> shards_;
};

struct ClaimEntry {
  Digest answers{};
  bool keep_reply = false;
  bool finished = false;
  std::string reply;
};

class MemoryRedemption final : public token::RedemptionStore {
 public:
  MemoryRedemption(const Clock& clock, const MemoryOptions& options)
      : clock_(clock), limits_(options.limits), claims_(options.claims_max, options.replies_bytes_max) {}

  Task<Result<ClaimOutcome>> claim(Claim claim, Executor&) override { co_return claim_now(claim); }
  Task<Result<void>> finish(Claim claim, std::string reply, Executor&) override {
    co_return finish_now(claim, std::move(reply));
  }
  Task<Result<void>> abandon(Claim claim, Executor&) override { co_return abandon_now(claim); }
  Task<Result<std::optional<std::string>>> reply(Claim claim, Executor&) override {
    co_return reply_now(claim);
  }
  bool outlives_process() const override { return false; }

 private:
  using Locked = ExpiringMap<ClaimEntry>::Locked;

  Result<ClaimOutcome> claim_now(const Claim& claim) {
    const Timestamp now = clock_.now();
    Locked locked(claims_, claim.token, now);
    if (const ClaimEntry* entry = locked.find()) return outcome_of(*entry, claim);
    if (claim.expires_at <= now) return ClaimOutcome::lost;
    ClaimEntry entry;
    entry.answers = claim.answers;
    entry.keep_reply = claim.keep_reply;
    if (locked.insert(std::move(entry), claim.expires_at + limits_.grace) == nullptr) {
      return failure("The store holds as many claims as it may.");
    }
    return ClaimOutcome::won;
  }

  static ClaimOutcome outcome_of(const ClaimEntry& entry, const Claim& claim) {
    if (!entry.keep_reply || !claim.keep_reply || entry.answers != claim.answers) return ClaimOutcome::lost;
    return entry.finished ? ClaimOutcome::finished : ClaimOutcome::pending;
  }

  Result<void> finish_now(const Claim& claim, std::string reply) {
    Locked locked(claims_, claim.token, clock_.now());
    ClaimEntry* entry = locked.find();
    if (!is_open(entry, claim)) return failure("There is no such claim to finish.");
    entry->finished = true;
    if (!entry->keep_reply) return {};
    entry->keep_reply = reply.size() <= limits_.reply_bytes_max && locked.hold(reply.size());
    if (!entry->keep_reply) return failure("The reply is larger than the store may keep.");
    entry->reply = std::move(reply);
    return {};
  }

  Result<void> abandon_now(const Claim& claim) {
    Locked locked(claims_, claim.token, clock_.now());
    if (!is_open(locked.find(), claim)) return failure("There is no such claim to abandon.");
    locked.erase();
    return {};
  }

  Result<std::optional<std::string>> reply_now(const Claim& claim) {
    Locked locked(claims_, claim.token, clock_.now());
    const ClaimEntry* entry = locked.find();
    const bool kept =
        entry != nullptr && entry->finished && entry->keep_reply && entry->answers == claim.answers;
    return kept ? std::optional<std::string>(entry->reply) : std::optional<std::string>();
  }

  static bool is_open(const ClaimEntry* entry, const Claim& claim) {
    return entry != nullptr && !entry->finished && entry->answers == claim.answers;
  }

  const Clock& clock_;
  const Limits limits_;
  ExpiringMap<ClaimEntry> claims_;
};

class MemoryStates final : public token::StateStore {
 public:
  MemoryStates(const Clock& clock, const MemoryOptions& options)
      : clock_(clock), limits_(options.limits), states_(options.states_max, options.states_bytes_max) {}

  Task<Result<void>> put(token::StateId id, Bytes value, Timestamp expires_at, Executor&) override {
    co_return put_now(id, std::move(value), expires_at);
  }
  Task<Result<std::optional<Bytes>>> get(token::StateId id, Executor&) override {
    Locked locked(states_, id, clock_.now());
    const Bytes* value = locked.find();
    co_return value == nullptr ? std::optional<Bytes>() : std::optional<Bytes>(*value);
  }
  Task<Result<void>> erase(token::StateId id, Executor&) override {
    Locked locked(states_, id, clock_.now());
    locked.erase();
    co_return Result<void>();
  }

 private:
  using Locked = ExpiringMap<Bytes>::Locked;

  Result<void> put_now(const token::StateId& id, Bytes value, Timestamp expires_at) {
    if (value.size() > limits_.state_bytes_max)
      return failure("The state is larger than the store may keep.");
    Locked locked(states_, id, clock_.now());
    locked.erase();
    Bytes* kept = locked.insert(Bytes(), expires_at + limits_.grace);
    if (kept == nullptr || !locked.hold(value.size())) {
      locked.erase();
      return failure("The store holds as many states as it may.");
    }
    *kept = std::move(value);
    return {};
  }

  const Clock& clock_;
  const Limits limits_;
  ExpiringMap<Bytes> states_;
};

}  // namespace

Stores memory_stores(const Clock& clock, MemoryOptions options) {
  Stores stores;
  stores.redemption = std::make_shared<MemoryRedemption>(clock, options);
  stores.states = std::make_shared<MemoryStates>(clock, options);
  stores.tasks = token::memory_task_store(clock, options.tasks_bytes_max, options.limits.task_bytes_max);
  return stores;
}

}  // namespace signet::store
