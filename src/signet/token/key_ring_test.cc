#include <signet/token/key_ring.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <signet/base/one_shot.h>
#include <signet/token/testing.h>

namespace signet::token {
namespace {

using std::chrono::milliseconds;
using testing::NoExecutor;
using testing::run;
using testing::SeededEntropy;

constexpr Timestamp start{milliseconds(1'790'000'000'000)};

KeyEntry key(std::string id, KeyStage stage) {
  return generate_key(std::move(id), stage, start, system_entropy());
}

template <typename... Entries>
Result<std::shared_ptr<const KeyRing>> ring_of(Entries... entries) {
  std::vector<KeyEntry> all;
  (all.push_back(std::move(entries)), ...);
  return KeyRing::make(std::move(all));
}

std::string fault_of(const Result<std::shared_ptr<const KeyRing>>& ring) {
  return ring ? "" : ring.error().message;
}

TEST(KeyRing, HoldsKeysOfWhichOneSeals) {
  KeyEntry old = key("old", KeyStage::retire);
  old.retires_at = start;
  const auto ring =
      ring_of(key("next", KeyStage::accept), key("now", KeyStage::seal), std::move(old)).value();
  EXPECT_EQ(ring->sealing().id(), "now");
  EXPECT_EQ(ring->keys().size(), 3u);
  EXPECT_EQ(ring->find("next")->stage(), KeyStage::accept);
  EXPECT_EQ(ring->find("Next"), nullptr);
  EXPECT_EQ(ring->find(""), nullptr);
  EXPECT_TRUE(ring->find("old")->opens_at(start - milliseconds(1)));
  EXPECT_FALSE(ring->find("old")->opens_at(start));
}

TEST(KeyRing, RefusesAnEmptyRing) { EXPECT_NE(fault_of(KeyRing::make({})), ""); }

TEST(KeyRing, RefusesNoSealingKeyAndTwo) {
  EXPECT_NE(fault_of(ring_of(key("a", KeyStage::accept))), "");
  EXPECT_NE(fault_of(ring_of(key("a", KeyStage::seal), key("b", KeyStage::seal))), "");
  EXPECT_EQ(fault_of(ring_of(key("a", KeyStage::seal), key("b", KeyStage::accept))), "");
}

TEST(KeyRing, RefusesADoubleIdAndADoubleSecret) {
  EXPECT_NE(fault_of(ring_of(key("a", KeyStage::seal), key("a", KeyStage::accept))), "");
  KeyEntry one = key("a", KeyStage::seal);
  KeyEntry same = key("b", KeyStage::accept);
  same.secret = one.secret.clone();
  EXPECT_NE(fault_of(ring_of(std::move(one), std::move(same))), "");
}

TEST(KeyRing, RefusesIdsThatAreNone) {
  for (const std::string& id : {std::string(), std::string(33, 'k'), std::string("a.b"), std::string("a b"),
                                std::string("\xc3\xa9"), std::string("a\0", 2)}) {
    EXPECT_NE(fault_of(ring_of(key(id, KeyStage::seal))), "") << id;
  }
  EXPECT_EQ(fault_of(ring_of(key(std::string(32, 'k'), KeyStage::seal))), "");
  EXPECT_EQ(fault_of(ring_of(key("AZaz09_-", KeyStage::seal))), "");
}

TEST(KeyRing, RefusesShortLongAndAllZeroSecrets) {
  for (const std::size_t size : {0u, 16u, 31u, 33u, 64u}) {
    KeyEntry entry = key("a", KeyStage::seal);
    entry.secret = Secret(Bytes(size, 1));
    EXPECT_NE(fault_of(ring_of(std::move(entry))), "") << size;
  }
  KeyEntry zeros = key("a", KeyStage::seal);
  zeros.secret = Secret(Bytes(32, 0));
  EXPECT_NE(fault_of(ring_of(std::move(zeros))), "");
}

TEST(KeyRing, RefusesADateWithoutRetirementAndRetirementWithoutADate) {
  KeyEntry undated = key("b", KeyStage::retire);
  EXPECT_NE(fault_of(ring_of(key("a", KeyStage::seal), std::move(undated))), "");
  KeyEntry dated = key("b", KeyStage::accept);
  dated.retires_at = start;
  EXPECT_NE(fault_of(ring_of(key("a", KeyStage::seal), std::move(dated))), "");
}

TEST(KeyRing, NeverNamesASecretInAFault) {
  KeyEntry entry = key("a", KeyStage::seal);
  entry.secret = Secret(Bytes(31, 'S'));
  const std::string fault = fault_of(ring_of(std::move(entry)));
  EXPECT_EQ(fault.find("SS"), std::string::npos);
}

TEST(KeyRing, DerivesKeysThatShareNothingForEachPurpose) {
  const auto ring = ring_of(key("a", KeyStage::seal)).value();
  const Secret one = ring->sealing().derive("one");
  const Secret two = ring->sealing().derive("two");
  EXPECT_EQ(one.size(), 32u);
  EXPECT_FALSE(equal_in_constant_time(one.expose(), two.expose()));
  EXPECT_FALSE(equal_in_constant_time(one.expose(), ring->sealing().secret().expose()));
  EXPECT_TRUE(equal_in_constant_time(one.expose(), ring->sealing().derive("one").expose()));
  EXPECT_EQ(ring->sealing().fingerprint().size(), 8u);
}

TEST(EphemeralRing, IsAnotherOneEachTime) {
  const auto one = ephemeral_ring(system_entropy())->current();
  const auto two = ephemeral_ring(system_entropy())->current();
  EXPECT_TRUE(one->sealing().id().starts_with("ephemeral-"));
  EXPECT_EQ(one->sealing().id().size(), 22u);
  EXPECT_NE(one->sealing().id(), two->sealing().id());
  EXPECT_FALSE(equal_in_constant_time(one->sealing().secret().expose(), two->sealing().secret().expose()));
}

TEST(SharedRing, IsReplacedWhileOthersGoOnWithTheOldOne) {
  SharedRing source(ring_of(key("a", KeyStage::seal)).value());
  const auto old = source.current();
  source.replace(ring_of(key("b", KeyStage::seal)).value());
  EXPECT_EQ(old->sealing().id(), "a");
  EXPECT_EQ(source.current()->sealing().id(), "b");
}

// A key service that the test answers by hand.
struct Service {
  using Answer = Result<std::shared_ptr<const KeyRing>>;

  FetchedRing::Fetch fetch() {
    return [this](Executor&) { return wait(*this); };
  }
  static Task<Answer> wait(Service& service) {
    const OneShot<Answer> answer;
    service.waiting.push_back(answer);
    Answer ring = co_await answer;
    co_return ring;
  }
  std::vector<OneShot<Answer>> waiting;
};

// Keeps what is posted until it is run by hand. Thread-safe.
struct QueueExecutor final : Executor {
  void post(std::function<void()> function) override {
    const std::lock_guard lock(mutex);
    work.push_back(std::move(function));
  }
  std::shared_ptr<void> post_after(std::chrono::milliseconds, std::function<void()>) override {
    std::abort();
  }
  void run() {
    while (true) {
      std::function<void()> next;
      {
        const std::lock_guard lock(mutex);
        if (work.empty()) return;
        next = std::move(work.front());
        work.pop_front();
      }
      next();
    }
  }
  std::mutex mutex;
  std::deque<std::function<void()>> work;
};

Task<Service::Answer> fetch_one(std::atomic<int>& fetches) {
  ++fetches;
  std::this_thread::yield();
  co_return ring_of(key("a", KeyStage::seal));
}

Task<Service::Answer> fetch_that_throws(int& fetches) {
  ++fetches;
  throw std::runtime_error("with a secret in it");
  co_return failure("never said");
}

struct FetchedRingTest : ::testing::Test {
  std::vector<std::string> events;
  ManualClock clock{start};
  NoExecutor executor;
  Service service;
  FetchedRing source{service.fetch(), FetchedRing::Times(), clock,
                     [this](LogLevel, std::string_view event, std::initializer_list<LogField>) {
                       events.emplace_back(event);
                     }};

  Task<Service::Answer> begin() {
    Task<Service::Answer> task = source.ring(executor);
    task.start([] {});
    return task;
  }
};

TEST_F(FetchedRingTest, FetchesAtTheFirstUseAndKeepsTheRing) {
  EXPECT_EQ(source.current(), nullptr);
  Task<Service::Answer> first = begin();
  ASSERT_FALSE(first.finished());
  service.waiting.at(0).set(ring_of(key("a", KeyStage::seal)));
  ASSERT_TRUE(first.finished());
  EXPECT_EQ(first.take().value()->sealing().id(), "a");
  EXPECT_EQ(run(source.ring(executor)).value()->sealing().id(), "a");
  EXPECT_EQ(service.waiting.size(), 1u);
}

TEST_F(FetchedRingTest, FetchesAnewWhenItIsDueWhileOthersGoOnWithTheOldRing) {
  Task<Service::Answer> first = begin();
  service.waiting.at(0).set(ring_of(key("a", KeyStage::seal)));
  clock.advance(std::chrono::minutes(5));
  Task<Service::Answer> fetching = begin();
  ASSERT_FALSE(fetching.finished());
  EXPECT_EQ(run(source.ring(executor)).value()->sealing().id(), "a");
  service.waiting.at(1).set(ring_of(key("b", KeyStage::seal)));
  EXPECT_EQ(fetching.take().value()->sealing().id(), "b");
  EXPECT_EQ(run(source.ring(executor)).value()->sealing().id(), "b");
  EXPECT_EQ(service.waiting.size(), 2u);
}

TEST_F(FetchedRingTest, KeepsTheOldRingWhenAFetchFailsAndTriesAgainLater) {
  Task<Service::Answer> first = begin();
  service.waiting.at(0).set(ring_of(key("a", KeyStage::seal)));
  clock.advance(std::chrono::minutes(5));
  Task<Service::Answer> failing = begin();
  service.waiting.at(1).set(failure("the service is away"));
  EXPECT_EQ(failing.take().value()->sealing().id(), "a");
  EXPECT_EQ(events, std::vector<std::string>{"key_ring_not_fetched"});
  EXPECT_EQ(run(source.ring(executor)).value()->sealing().id(), "a");
  clock.advance(std::chrono::seconds(10));
  Task<Service::Answer> again = begin();
  EXPECT_EQ(service.waiting.size(), 3u);
}

TEST_F(FetchedRingTest, SaysWhyThereIsNoRingAtAllAndTriesAgainLaterAndNotSooner) {
  Task<Service::Answer> first = begin();
  service.waiting.at(0).set(failure("the service is away"));
  EXPECT_EQ(first.take().error().message, "the service is away");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(run(source.ring(executor)).error().message, "the service is away");
  clock.advance(std::chrono::milliseconds(9'999));
  EXPECT_EQ(run(source.ring(executor)).error().message, "the service is away");
  EXPECT_EQ(service.waiting.size(), 1u);
  EXPECT_EQ(events.size(), 1u);
  clock.advance(std::chrono::milliseconds(1));
  Task<Service::Answer> second = begin();
  ASSERT_EQ(service.waiting.size(), 2u);
  service.waiting.at(1).set(ring_of(key("a", KeyStage::seal)));
  EXPECT_EQ(second.take().value()->sealing().id(), "a");
  EXPECT_EQ(run(source.ring(executor)).value()->sealing().id(), "a");
}

TEST_F(FetchedRingTest, AClockThatIsPutBackMakesNoPauseLonger) {
  Task<Service::Answer> first = begin();
  service.waiting.at(0).set(failure("the service is away"));
  clock.advance(-std::chrono::hours(24));
  Task<Service::Answer> second = begin();
  EXPECT_EQ(service.waiting.size(), 2u);
}

// Callers on one executor, of which each posted function is run by hand.
struct WaitingCallers : FetchedRingTest {
  WaitingCallers() {
    for (int i = 0; i < 50; ++i) {
      callers.push_back(source.ring(queue));
      callers.back().start([] {});
    }
  }
  std::size_t finished() const {
    return static_cast<std::size_t>(
        std::count_if(callers.begin(), callers.end(), [](const auto& task) { return task.finished(); }));
  }
  QueueExecutor queue;
  std::vector<Task<Service::Answer>> callers;
};

TEST_F(WaitingCallers, ShareTheFirstFetchAndItsRing) {
  EXPECT_EQ(service.waiting.size(), 1u);
  service.waiting.at(0).set(ring_of(key("a", KeyStage::seal)));
  EXPECT_EQ(finished(), 1u);
  queue.run();
  EXPECT_EQ(finished(), 50u);
  for (auto& task : callers) EXPECT_EQ(task.take().value()->sealing().id(), "a");
  EXPECT_EQ(service.waiting.size(), 1u);
  EXPECT_TRUE(events.empty());
}

TEST_F(WaitingCallers, ShareTheFirstFetchAndItsFailureWhichIsLoggedOnce) {
  service.waiting.at(0).set(failure("the service is away"));
  queue.run();
  EXPECT_EQ(finished(), 50u);
  for (auto& task : callers) EXPECT_EQ(task.take().error().message, "the service is away");
  EXPECT_EQ(service.waiting.size(), 1u);
  EXPECT_EQ(events, std::vector<std::string>{"key_ring_not_fetched"});
}

TEST_F(WaitingCallers, OneOfThemTakesOverWhenTheFetchIsDropped) {
  callers.front() = Task<Service::Answer>();
  EXPECT_EQ(service.waiting.size(), 1u);
  queue.run();
  ASSERT_EQ(service.waiting.size(), 2u);
  EXPECT_EQ(finished(), 0u);
  service.waiting.at(1).set(ring_of(key("b", KeyStage::seal)));
  queue.run();
  EXPECT_EQ(finished(), 49u);
  EXPECT_EQ(service.waiting.size(), 2u);
}

TEST_F(WaitingCallers, ThoseThatGoAreNotWaitedFor) {
  callers.resize(2);
  callers.pop_back();
  service.waiting.at(0).set(ring_of(key("a", KeyStage::seal)));
  EXPECT_TRUE(queue.work.empty());  // the executors of those that went are not touched
  EXPECT_EQ(callers.front().take().value()->sealing().id(), "a");
}

TEST_F(WaitingCallers, ThoseThatGoBeforeTheyWereToldAreForgotten) {
  service.waiting.at(0).set(failure("the service is away"));
  callers.clear();
  queue.run();
  EXPECT_EQ(service.waiting.size(), 1u);
}

TEST(FetchedRing, AFetchThatThrowsHasFailed) {
  ManualClock clock{start};
  NoExecutor executor;
  int fetches = 0;
  const auto fetch = [&fetches](Executor&) { return fetch_that_throws(fetches); };
  FetchedRing source(fetch, FetchedRing::Times(), clock, LogSink());
  EXPECT_EQ(run(source.ring(executor)).error().message, "the fetch threw an exception");
  EXPECT_EQ(run(source.ring(executor)).error().message, "the fetch threw an exception");
  EXPECT_EQ(fetches, 1);
}

// Callers on threads of their own, whose executors nobody else runs.
TEST(FetchedRing, CallersOnManyThreadsShareOneFetch) {
  ManualClock clock{start};
  std::atomic<int> fetches = 0;
  const auto fetch = [&fetches](Executor&) { return fetch_one(fetches); };
  FetchedRing source(fetch, FetchedRing::Times(), clock, LogSink());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&source, &good] {
      QueueExecutor queue;
      for (int n = 0; n < 200; ++n) {
        Task<Service::Answer> task = source.ring(queue);
        task.start([] {});
        while (!task.finished()) queue.run();
        good += task.take().ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 1600);
  EXPECT_EQ(fetches, 1);
}

TEST_F(FetchedRingTest, IsNeverFetchedAgainWhereTheTimeForThatIsTheLongestThereIs) {
  FetchedRing::Times times;
  times.refresh_after = std::chrono::milliseconds::max();
  FetchedRing once(service.fetch(), times, clock, LogSink());
  Task<Service::Answer> first = once.ring(executor);
  first.start([] {});
  service.waiting.at(0).set(ring_of(key("a", KeyStage::seal)));
  clock.advance(std::chrono::hours(100'000));
  EXPECT_EQ(run(once.ring(executor)).value()->sealing().id(), "a");
  EXPECT_EQ(service.waiting.size(), 1u);
}

TEST_F(FetchedRingTest, ADroppedFetchLetsAnotherCallerFetch) {
  Task<Service::Answer> first = begin();
  service.waiting.at(0).set(ring_of(key("a", KeyStage::seal)));
  clock.advance(std::chrono::minutes(5));
  {
    const Task<Service::Answer> dropped = begin();
  }
  Task<Service::Answer> next = begin();
  EXPECT_EQ(service.waiting.size(), 3u);
  service.waiting.at(2).set(ring_of(key("c", KeyStage::seal)));
  EXPECT_EQ(next.take().value()->sealing().id(), "c");
}

}  // namespace
}  // namespace signet::token
