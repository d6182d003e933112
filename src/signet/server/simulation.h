// What a simulated fleet stands on: one line of events on a virtual clock, in an order that depends on a seed alone.
// For tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/one_shot.h>
#include <signet/server/testing_store.h>
#include <signet/token/key_ring.h>
#include <signet/token/redemption.h>

namespace signet::simulation {

using std::chrono::milliseconds;

// The same numbers for the same seed, with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() { return engine_(); }
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }
  milliseconds within(milliseconds most) { return milliseconds(below(static_cast<int>(most.count()) + 1)); }

 private:
  std::mt19937_64 engine_;
};

class RandomEntropy final : public Entropy {
 public:
  explicit RandomEntropy(Random& random) : random_(random) {}
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(random_.next());
  }

 private:
  Random& random_;
};

// What happens, one after another; the clock is where the last event was.
class Timeline {
 public:
  explicit Timeline(Timestamp start) : clock_(start) {}
  const Clock& clock() const { return clock_; }
  Timestamp now() const { return clock_.now(); }
  void after(milliseconds delay, std::function<void()> work) {
    events_.emplace(now() + delay, std::move(work));
  }
  // False where nothing is left.
  bool step() {
    if (events_.empty()) return false;
    const auto next = events_.begin();
    clock_.set(next->first);
    const std::function<void()> work = std::move(next->second);
    events_.erase(next);
    work();
    return true;
  }

 private:
  ManualClock clock_;
  std::multimap<Timestamp, std::function<void()>> events_;
};

// The clock of a machine that is not quite right.
class SkewedClock final : public Clock {
 public:
  SkewedClock(const Clock& clock, milliseconds skew) : clock_(clock), skew_(skew) {}
  Timestamp now() const override { return clock_.now() + skew_; }

 private:
  const Clock& clock_;
  milliseconds skew_;
};

// The executor of one exchange. Its work comes in order; between two pieces of it others have theirs.
class Lane final : public Executor, public std::enable_shared_from_this<Lane> {
 public:
  Lane(Timeline& timeline, Random& random) : timeline_(timeline), random_(random) {}
  void post(std::function<void()> work) override {
    queue_.push_back(std::move(work));
    if (queue_.size() == 1) plan();
  }
  std::shared_ptr<void> post_after(milliseconds delay, std::function<void()> work) override {
    auto timer = std::make_shared<std::function<void()>>(std::move(work));
    timeline_.after(delay, [weak = std::weak_ptr(timer)] {
      if (const auto live = weak.lock()) (*live)();
    });
    return timer;
  }
  // Nothing more is run: the machine is down.
  void stop() { stopped_ = true; }

 private:
  void plan() {
    timeline_.after(random_.within(milliseconds(20)), [weak = weak_from_this()] {
      if (const auto lane = weak.lock()) lane->run_one();
    });
  }
  void run_one() {
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    if (!queue_.empty()) plan();
    if (!stopped_) work();
  }

  Timeline& timeline_;
  Random& random_;
  std::deque<std::function<void()>> queue_;
  bool stopped_ = false;
};

// The store that all instances share; every operation takes a turn of the executor, and may find the store away.
class Store final : public token::RedemptionStore {
 public:
  explicit Store(Random& random) : random_(random) {}
  int away_one_in = 0;  // 0: never
  int failures = 0;

  Task<Result<token::ClaimOutcome>> claim(token::Claim claim, Executor& executor) override {
    OneShot<bool> turn = next_turn(executor);
    co_await turn;
    if (is_away()) co_return failure("the store is away");
    co_return claims_.claim(claim);
  }
  Task<Result<void>> finish(token::Claim claim, std::string reply, Executor& executor) override {
    OneShot<bool> turn = next_turn(executor);
    co_await turn;
    if (is_away()) co_return failure("the store is away");
    claims_.finish(claim, std::move(reply));
    co_return Result<void>();
  }
  Task<Result<void>> abandon(token::Claim claim, Executor& executor) override {
    OneShot<bool> turn = next_turn(executor);
    co_await turn;
    claims_.abandon(claim);
    co_return Result<void>();
  }
  Task<Result<std::optional<std::string>>> reply(token::Claim claim, Executor& executor) override {
    OneShot<bool> turn = next_turn(executor);
    co_await turn;
    if (is_away()) co_return failure("the store is away");
    co_return claims_.reply(claim);
  }

 private:
  bool is_away() {
    const bool away = away_one_in > 0 && random_.one_in(away_one_in);
    if (away) ++failures;
    return away;
  }
  static OneShot<bool> next_turn(Executor& executor) {
    OneShot<bool> turn;
    executor.post([turn] { turn.set(true); });
    return turn;
  }

  Random& random_;
  testing::Claims claims_;
};

// The keys of a fleet over a rotation: each instance takes each step by itself. Step 3r: one key; then the next is
// accepted, then it seals and the old one retires, then the old one is gone.
class Rotation {
 public:
  Rotation(Random& random, milliseconds retirement) : random_(random), retirement_(retirement) {}
  std::shared_ptr<const token::KeyRing> ring(int step, Timestamp now) {
    const std::size_t first = static_cast<std::size_t>(step / 3);
    std::vector<token::KeyEntry> keys;
    if (step % 3 == 2) {
      if (retires_.size() <= first) retires_.push_back(now + retirement_);
      keys.push_back(key(first, token::KeyStage::retire));
      keys.back().retires_at = retires_[first];
    } else {
      keys.push_back(key(first, token::KeyStage::seal));
    }
    if (step % 3 == 1) keys.push_back(key(first + 1, token::KeyStage::accept));
    if (step % 3 == 2) keys.push_back(key(first + 1, token::KeyStage::seal));
    return *token::KeyRing::make(std::move(keys));
  }

 private:
  token::KeyEntry key(std::size_t number, token::KeyStage stage) {
    RandomEntropy entropy(random_);
    while (secrets_.size() <= number) {
      Bytes secret(token::key_bytes);
      entropy.fill(secret);
      secrets_.push_back(std::move(secret));
    }
    token::KeyEntry entry;
    entry.id = "k" + std::to_string(number);
    entry.secret = Secret::copy_of(secrets_[number]);
    entry.stage = stage;
    return entry;
  }

  Random& random_;
  milliseconds retirement_;
  std::vector<Bytes> secrets_;
  std::vector<Timestamp> retires_;
};

}  // namespace signet::simulation
