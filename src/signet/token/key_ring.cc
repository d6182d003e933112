#include <signet/token/key_ring.h>

#include <algorithm>
#include <array>
#include <utility>

#include <signet/base/digest.h>
#include <signet/base/one_shot.h>
#include <signet/token/aead.h>
#include <signet/token/claims_format.h>

namespace signet::token {
namespace {

constexpr std::string_view request_state_purpose = "request-state";
constexpr std::size_t fingerprint_bytes = 4;

constexpr std::array<bool, 256> make_id_characters() {
  std::array<bool, 256> allowed{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")) {
    allowed[static_cast<unsigned char>(c)] = true;
  }
  return allowed;
}
// A table, because every token that comes in is asked.
constexpr std::array<bool, 256> id_characters = make_id_characters();

void derive_into(const Secret& secret, std::string_view purpose, std::span<std::uint8_t> out) {
  std::string info = "signet/v1/";
  info.append(purpose);
  hkdf_sha256(secret.expose(), ByteView(), as_bytes(info), out);
}

// In a time that does not depend on where the first other byte stands.
bool all_zeros(ByteView bytes) {
  std::uint8_t ored = 0;
  for (const std::uint8_t byte : bytes) ored |= byte;
  return ored == 0;
}

// What is wrong with one key by itself.
std::optional<std::string> fault_of(const KeyEntry& entry) {
  if (!is_key_id(entry.id)) return "a key id is not 1 to 32 characters of A-Z a-z 0-9 _ -";
  if (entry.secret.size() != key_bytes) return "the secret of key " + entry.id + " is not 32 bytes";
  if (all_zeros(entry.secret.expose())) return "the secret of key " + entry.id + " is all zeros";
  if (entry.stage == KeyStage::retire && !entry.retires_at) {
    return "key " + entry.id + " is to retire, but no date says when";
  }
  if (entry.stage != KeyStage::retire && entry.retires_at) {
    return "key " + entry.id + " has a date to retire, but its stage is " +
           std::string(to_string(entry.stage));
  }
  return std::nullopt;
}

// What is wrong with the keys together, each being good by itself.
std::optional<std::string> fault_among(const std::vector<KeyEntry>& entries) {
  if (entries.empty()) return "the ring has no key";
  std::unordered_map<std::string_view, std::size_t> ids;
  std::unordered_map<std::string, std::string_view> digests;  // of secrets, so that the map holds none
  const std::string* sealing = nullptr;
  for (const KeyEntry& entry : entries) {
    if (ids[entry.id]++ > 0) return "two keys have the id " + entry.id;
    const Digest digest = sha256({as_bytes("signet/v1/same-secret"), entry.secret.expose()});
    const auto [same, is_new] = digests.emplace(std::string(as_text(digest)), entry.id);
    if (!is_new) return "keys " + std::string(same->second) + " and " + entry.id + " have the same secret";
    if (entry.stage != KeyStage::seal) continue;
    if (sealing != nullptr) return "keys " + *sealing + " and " + entry.id + " both seal: exactly one may";
    sealing = &entry.id;
  }
  if (sealing == nullptr) return "no key of the ring seals: exactly one must";
  return std::nullopt;
}

}  // namespace

bool is_key_id(std::string_view id) {
  if (id.empty() || id.size() > key_id_bytes_max) return false;
  return std::all_of(id.begin(), id.end(),
                     [](char c) { return id_characters[static_cast<unsigned char>(c)]; });
}

std::string_view to_string(KeyStage stage) {
  switch (stage) {
    case KeyStage::accept:
      return "accept";
    case KeyStage::seal:
      return "seal";
    case KeyStage::retire:
      return "retire";
  }
  return "accept";
}

RingKey::RingKey(KeyEntry entry) : entry_(std::move(entry)) {
  std::array<std::uint8_t, aead_key_bytes> key;
  derive_into(entry_.secret, request_state_purpose, key);
  request_state_key_ = std::make_unique<const XaesKey>(key);
  wipe(key);
}

RingKey::RingKey(RingKey&&) noexcept = default;
RingKey::~RingKey() = default;

Secret RingKey::derive(std::string_view purpose) const {
  Bytes key(key_bytes);
  derive_into(entry_.secret, purpose, key);
  return Secret(std::move(key));
}

std::string RingKey::fingerprint() const {
  std::array<std::uint8_t, fingerprint_bytes> bytes;
  derive_into(entry_.secret, "fingerprint", bytes);
  return hex(bytes);
}

Result<std::shared_ptr<const KeyRing>> KeyRing::make(std::vector<KeyEntry> entries) {
  for (const KeyEntry& entry : entries) {
    if (std::optional<std::string> fault = fault_of(entry)) return failure(std::move(*fault));
  }
  if (std::optional<std::string> fault = fault_among(entries)) return failure(std::move(*fault));

  const std::shared_ptr<KeyRing> ring(new KeyRing());
  ring->keys_.reserve(entries.size());
  for (KeyEntry& entry : entries) ring->keys_.emplace_back(std::move(entry));
  for (const RingKey& key : ring->keys_) {
    ring->by_id_.emplace(key.id(), &key);
    if (key.stage() == KeyStage::seal) ring->sealing_ = &key;
  }
  return std::shared_ptr<const KeyRing>(ring);
}

const RingKey* KeyRing::find(std::string_view id) const {
  if (id == sealing_->id()) return sealing_;  // as nearly all tokens ask
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void log_ring(const LogSink& log, std::string_view event, const KeyRing& ring) {
  if (!log) return;
  log(LogLevel::info, event,
      {{"keys", std::to_string(ring.keys().size())},
       {"sealing", ring.sealing().id()},
       {"fingerprint", ring.sealing().fingerprint()}});
}

KeyEntry generate_key(std::string id, KeyStage stage, Timestamp now, Entropy& entropy) {
  Bytes bytes(key_bytes);
  entropy.fill(bytes);
  KeyEntry entry;
  entry.id = std::move(id);
  entry.secret = Secret(std::move(bytes));
  entry.stage = stage;
  entry.since = now;
  return entry;
}

std::shared_ptr<const KeyRing> SharedRing::current() const {
  const std::lock_guard lock(mutex_);
  return ring_;
}

Task<Result<std::shared_ptr<const KeyRing>>> SharedRing::ring(Executor&) { co_return current(); }

void SharedRing::replace(std::shared_ptr<const KeyRing> ring) {
  const std::lock_guard lock(mutex_);
  ring_.swap(ring);  // the old one goes when `ring` does, after the lock
}

namespace {

class EphemeralRing final : public SharedRing {
 public:
  using SharedRing::SharedRing;
  bool outlives_process() const override { return false; }
};

}  // namespace

std::shared_ptr<RingSource> ephemeral_ring(Entropy& entropy) {
  std::array<std::uint8_t, 6> number;
  entropy.fill(number);
  std::vector<KeyEntry> entries;
  entries.push_back(generate_key("ephemeral-" + hex(number), KeyStage::seal, Timestamp(), entropy));
  entries.back().since.reset();
  Result<std::shared_ptr<const KeyRing>> ring = KeyRing::make(std::move(entries));
  return std::make_shared<EphemeralRing>(std::move(ring).value());
}

// Holds the right to fetch; gives it back when the fetch ends or its task is dropped.
class FetchedRing::Fetching {
 public:
  explicit Fetching(FetchedRing& source) : source_(source) {}
  Fetching(const Fetching&) = delete;
  Fetching& operator=(const Fetching&) = delete;
  ~Fetching() {
    if (!settled_) source_.release(std::nullopt);
  }
  Fetched settle(Fetched fetched) {
    settled_ = true;
    return source_.settle(std::move(fetched));
  }

 private:
  FetchedRing& source_;
  bool settled_ = false;
};

// One who waits for another's fetch, in the frame of its task. What that one got, or nothing where it was dropped,
// comes over the executor of this one, which is not touched once this is gone.
class FetchedRing::Waiter {
 public:
  // Precondition: the source is locked.
  Waiter(FetchedRing& source, Executor& executor) : source_(source), executor_(executor) {
    source_.waiters_.insert(this);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() {
    const std::lock_guard lock(source_.mutex_);
    source_.waiters_.erase(this);
  }
  // Precondition: the source is locked.
  void deliver(const std::optional<Fetched>& outcome) {
    executor_.post([done = done_, outcome] { done.set(outcome); });
  }
  const OneShot<std::optional<Fetched>>& done() const { return done_; }

 private:
  FetchedRing& source_;
  Executor& executor_;
  OneShot<std::optional<Fetched>> done_;
};

FetchedRing::FetchedRing(Fetch fetch, Times times, const Clock& clock, LogSink log)
    : fetch_(std::move(fetch)), times_(times), clock_(clock), log_(std::move(log)) {}

std::shared_ptr<const KeyRing> FetchedRing::current() const {
  const std::lock_guard lock(mutex_);
  return ring_;
}

// A clock that was put back must not make a pause longer than it is. Precondition: locked.
bool FetchedRing::is_due(Timestamp now) const { return now >= due_ || due_ - now > pause_; }

Task<FetchedRing::Fetched> FetchedRing::ring(Executor& executor) {
  while (true) {
    std::optional<Fetching> fetching;
    std::optional<Waiter> waiter;
    {
      const std::lock_guard lock(mutex_);
      const bool due = is_due(as_stamp(clock_.now()));
      if (ring_ && (fetching_ || !due)) co_return ring_;
      if (!fetching_ && !due) co_return failure(why_none_);
      if (fetching_) {
        waiter.emplace(*this, executor);
      } else {
        fetching.emplace(*this);
        fetching_ = true;
      }
    }
    if (fetching) {
      Fetched fetched = co_await try_fetch(executor);
      co_return fetching->settle(std::move(fetched));
    }
    std::optional<Fetched> outcome = co_await waiter->done();
    if (outcome) co_return std::move(*outcome);
  }
}

// What `fetch_` gives or, where it throws, that it did.
Task<FetchedRing::Fetched> FetchedRing::try_fetch(Executor& executor) {
  try {
    Task<Fetched> task = fetch_(executor);
    Fetched fetched = co_await task;
    if (fetched.ok() && *fetched == nullptr) co_return failure("the fetch gave no ring");
    co_return fetched;
  } catch (...) {
    co_return failure("the fetch threw an exception");
  }
}

FetchedRing::Fetched FetchedRing::settle(Fetched fetched) {
  std::shared_ptr<const KeyRing> in_force;
  {
    const std::lock_guard lock(mutex_);
    if (fetched.ok()) ring_ = *fetched;
    why_none_ = fetched.ok() ? std::string() : fetched.error().message;
    pause_ = fetched.ok() ? times_.refresh_after : times_.retry_after;
    due_ = later(clock_.now(), pause_);
    in_force = ring_;
  }
  if (!fetched.ok() && log_) {
    log_(LogLevel::error, "key_ring_not_fetched",
         {{"why", fetched.error().message}, {"old_ring_in_force", in_force ? "yes" : "no"}});
  }
  if (in_force) fetched = in_force;
  release(fetched);
  return fetched;
}

// Lets another caller fetch, and those that wait go on.
void FetchedRing::release(const std::optional<Fetched>& outcome) {
  const std::lock_guard lock(mutex_);
  fetching_ = false;
  for (Waiter* waiter : waiters_) waiter->deliver(outcome);
  waiters_.clear();
}

}  // namespace signet::token
