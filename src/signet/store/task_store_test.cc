// The contract of the task stores, for every engine.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>

#include <signet/store/testing_engines.h>
#include <signet/store/loop_for_tests.h>

namespace signet::store {
namespace {

using namespace std::chrono_literals;
using token::StoredTask;
using token::TaskChange;
using token::TaskCreation;
using token::TaskWritten;

Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }

TaskCreation creation_of(std::uint32_t number, std::string_view value = "new", std::uint32_t owner = 0) {
  TaskCreation creation;
  creation.key = id_of(number);
  creation.owner = id_of(1'000'000 + owner);
  creation.value = bytes_of(value);
  creation.lease_until = start + 30s;
  creation.expires_at = start + 10min;
  creation.tasks_max = 1000;
  creation.owner_tasks_max = 1000;
  return creation;
}

TaskChange change_of(std::uint32_t number, std::uint64_t revision, std::string_view value) {
  TaskChange change;
  change.key = id_of(number);
  change.revision = revision;
  change.value = bytes_of(value);
  change.lease_until = start + 1min;
  change.expires_at = start + 20min;
  return change;
}

// Raises the number that a task holds, as often as that takes; returns whether the store did its part.
bool raise(token::TaskStore& store, LoopForTests& loop, std::uint32_t number) {
  while (true) {
    const auto got = loop.run(store.get(id_of(number), loop));
    if (!got.ok() || !got->has_value()) return false;
    const int value = std::stoi(std::string(as_text((*got)->value)));
    const auto written =
        loop.run(store.replace(change_of(number, (*got)->revision, std::to_string(value + 1)), loop));
    if (!written.ok()) return false;
    if (*written == TaskWritten::done) return true;
  }
}

template <typename Engine>
class TaskStoreContract : public testing::Test {
 protected:
  void SetUp() override {
    if (engine_.missing() != nullptr) GTEST_SKIP() << engine_.missing();
    Limits limits;
    limits.task_bytes_max = 1000;
    stores_ = Engine::open(engine_, clock_, limits);
  }
  TaskWritten create(TaskCreation creation) {
    const auto written = loop_.run(stores_.tasks->create(std::move(creation), loop_));
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
    return written.ok() ? *written : TaskWritten::changed;
  }
  TaskWritten replace(TaskChange change) {
    const auto written = loop_.run(stores_.tasks->replace(std::move(change), loop_));
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
    return written.ok() ? *written : TaskWritten::changed;
  }
  TaskWritten renew(std::uint32_t number, std::uint64_t revision, Timestamp lease, Timestamp expiry) {
    const auto written = loop_.run(stores_.tasks->renew(id_of(number), revision, lease, expiry, loop_));
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
    return written.ok() ? *written : TaskWritten::changed;
  }
  std::optional<StoredTask> get(std::uint32_t number) {
    const auto got = loop_.run(stores_.tasks->get(id_of(number), loop_));
    EXPECT_TRUE(got.ok()) << (got.ok() ? "" : got.error().message);
    return got.ok() ? *got : std::nullopt;
  }

  ManualClock clock_{start};
  Engine engine_;
  Stores stores_;
  LoopForTests loop_;
};

TYPED_TEST_SUITE(TaskStoreContract, Engines, EngineName);

TYPED_TEST(TaskStoreContract, WhatIsCreatedIsThereAndOnlyOnce) {
  const std::string_view value("a\0b\xff", 4);
  EXPECT_FALSE(this->get(1));
  EXPECT_EQ(this->create(creation_of(1, value)), TaskWritten::done);
  EXPECT_EQ(this->create(creation_of(1, "other")), TaskWritten::changed);
  EXPECT_EQ(this->create(creation_of(2, "")), TaskWritten::done);
  const auto found = this->get(1);
  ASSERT_TRUE(found);
  EXPECT_EQ(as_text(found->value), value);
  EXPECT_EQ(found->revision, 1U);
  EXPECT_EQ(found->lease_until, start + 30s);
  const auto empty = this->get(2);
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->value.empty());
}

TYPED_TEST(TaskStoreContract, OnlyTheRevisionThatIsThereIsReplaced) {
  ASSERT_EQ(this->create(creation_of(1)), TaskWritten::done);
  EXPECT_EQ(this->replace(change_of(1, 2, "too early")), TaskWritten::changed);
  EXPECT_EQ(this->replace(change_of(1, 0, "too late")), TaskWritten::changed);
  EXPECT_EQ(this->replace(change_of(1, 1, "second")), TaskWritten::done);
  EXPECT_EQ(this->replace(change_of(1, 1, "too late")), TaskWritten::changed);
  EXPECT_EQ(this->replace(change_of(9, 1, "nowhere")), TaskWritten::changed);
  const auto found = this->get(1);
  ASSERT_TRUE(found);
  EXPECT_EQ(as_text(found->value), "second");
  EXPECT_EQ(found->revision, 2U);
  EXPECT_EQ(found->lease_until, start + 1min);
  EXPECT_FALSE(this->get(9));
}

TYPED_TEST(TaskStoreContract, ARenewalMovesTheTimesOfItsRevisionAndNothingElse) {
  ASSERT_EQ(this->create(creation_of(1)), TaskWritten::done);
  EXPECT_EQ(this->renew(1, 2, start + 5min, start + 30min), TaskWritten::changed);
  EXPECT_EQ(this->renew(9, 1, start + 5min, start + 30min), TaskWritten::changed);
  EXPECT_EQ(this->renew(1, 1, start + 5min, start + 30min), TaskWritten::done);
  auto found = this->get(1);
  ASSERT_TRUE(found);
  EXPECT_EQ(as_text(found->value), "new");
  EXPECT_EQ(found->revision, 1U);
  EXPECT_EQ(found->lease_until, start + 5min);
  this->clock_.advance(29min);
  EXPECT_TRUE(this->get(1));
  EXPECT_EQ(this->replace(change_of(1, 1, "x")), TaskWritten::done);
}

TYPED_TEST(TaskStoreContract, WhatHasExpiredIsGone) {
  ASSERT_EQ(this->create(creation_of(1)), TaskWritten::done);
  ASSERT_EQ(this->create(creation_of(2)), TaskWritten::done);
  ASSERT_EQ(this->replace(change_of(2, 1, "longer")), TaskWritten::done);
  this->clock_.advance(10min - 1ms);
  EXPECT_TRUE(this->get(1));
  this->clock_.advance(1ms);
  EXPECT_FALSE(this->get(1));
  EXPECT_EQ(this->replace(change_of(1, 1, "late")), TaskWritten::changed);
  EXPECT_EQ(this->renew(1, 1, start + 1h, start + 1h), TaskWritten::changed);
  EXPECT_TRUE(this->get(2));
  this->clock_.advance(10min);
  EXPECT_FALSE(this->get(2));
}

TYPED_TEST(TaskStoreContract, ThereAreNoMoreThanTheLimitsSay) {
  const auto limited = [](std::uint32_t number, std::uint32_t owner) {
    TaskCreation creation = creation_of(number, "new", owner);
    creation.tasks_max = 3;
    creation.owner_tasks_max = 2;
    return creation;
  };
  EXPECT_EQ(this->create(limited(1, 1)), TaskWritten::done);
  EXPECT_EQ(this->create(limited(2, 1)), TaskWritten::done);
  EXPECT_EQ(this->create(limited(3, 1)), TaskWritten::owner_full);
  EXPECT_EQ(this->create(limited(4, 2)), TaskWritten::done);
  EXPECT_EQ(this->create(limited(5, 2)), TaskWritten::full);
  EXPECT_FALSE(this->get(3));
  EXPECT_FALSE(this->get(5));
  // Changes take no room; what is kept for longer counts for longer.
  EXPECT_EQ(this->replace(change_of(1, 1, "longer")), TaskWritten::done);
  EXPECT_EQ(this->renew(4, 1, start, start + 20min), TaskWritten::done);
  this->clock_.advance(10min);
  TaskCreation late = limited(6, 1);
  late.expires_at = start + 20min;
  EXPECT_EQ(this->create(late), TaskWritten::done);
  late.key = id_of(7);
  EXPECT_EQ(this->create(late), TaskWritten::owner_full);
  late.owner = id_of(3);
  EXPECT_EQ(this->create(late), TaskWritten::full);
  this->clock_.advance(10min);
  late.expires_at = start + 30min;
  EXPECT_EQ(this->create(late), TaskWritten::done);
}

TYPED_TEST(TaskStoreContract, ATooLargeValueIsRefusedAndTheOldOneStays) {
  EXPECT_EQ(this->create(creation_of(1, std::string(1001, 'x'))), TaskWritten::too_large);
  EXPECT_EQ(this->create(creation_of(1, std::string(1000, 'x'))), TaskWritten::done);
  EXPECT_EQ(this->replace(change_of(1, 1, std::string(1001, 'y'))), TaskWritten::too_large);
  EXPECT_EQ(this->replace(change_of(1, 1, std::string(1000, 'y'))), TaskWritten::done);
  EXPECT_EQ(as_text(this->get(1)->value), std::string(1000, 'y'));
}

TYPED_TEST(TaskStoreContract, OfManyThreadsOneChangesEachRevision) {
  constexpr int each = 100;
  ASSERT_EQ(this->create(creation_of(1, "0")), TaskWritten::done);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      LoopForTests loop;
      for (int n = 0; n < each; ++n) ASSERT_TRUE(raise(*this->stores_.tasks, loop, 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto found = this->get(1);
  ASSERT_TRUE(found);
  EXPECT_EQ(as_text(found->value), std::to_string(4 * each));
  EXPECT_EQ(found->revision, 4U * each + 1);
}

TYPED_TEST(TaskStoreContract, ManyThreadsCreateNoMoreThanTheLimit) {
  std::array<int, 4> created{};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < created.size(); ++i) {
    threads.emplace_back([this, i, &mine = created[i]] {
      LoopForTests loop;
      for (std::uint32_t n = 0; n < 50; ++n) {
        TaskCreation creation = creation_of(i * 1000 + n, "new", i);
        creation.tasks_max = 60;
        const auto written = loop.run(this->stores_.tasks->create(std::move(creation), loop));
        mine += written.ok() && *written == TaskWritten::done ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(created[0] + created[1] + created[2] + created[3], 60);
}

// --- two processes ---

constexpr int raises = 500;

Stores open_for_race(const std::string& engine, const Clock& clock) {
  return engine.starts_with("unix://") ? redis_at(engine, clock) : *sqlite_stores(engine, clock);
}

// Not a test of its own: what the second process of a race runs.
TEST(TaskRaceChild, Raises) {
  const char* engine = std::getenv("SIGNET_TASK_RACE_ENGINE");
  if (engine == nullptr) GTEST_SKIP() << "runs inside the tests of races only";
  const ManualClock clock(start);
  const Stores stores = open_for_race(engine, clock);
  LoopForTests loop;
  for (int n = 0; n < raises; ++n) ASSERT_TRUE(raise(*stores.tasks, loop, 1));
}

void expect_no_lost_change(const std::string& engine) {
  const ManualClock clock(start);
  const Stores stores = open_for_race(engine, clock);
  LoopForTests loop;
  const auto created = loop.run(stores.tasks->create(creation_of(1, "0"), loop));
  ASSERT_TRUE(created.ok() && *created == TaskWritten::done);
  std::array<pid_t, 2> children{};
  for (pid_t& child : children) {
    child =
        spawn({"/proc/self/exe", "--gtest_filter=TaskRaceChild.*"}, {"SIGNET_TASK_RACE_ENGINE=" + engine});
    ASSERT_GT(child, 0);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto found = loop.run(stores.tasks->get(id_of(1), loop));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(as_text((*found)->value), std::to_string(2 * raises));
  EXPECT_EQ((*found)->revision, 2U * raises + 1);
}

TEST(SqliteTaskRace, OfTwoProcessesOneChangesEachRevision) {
  const Folder folder;
  expect_no_lost_change(folder.file("tasks.db"));
}

TEST(RedisTaskRace, OfTwoProcessesOneChangesEachRevision) {
  const RedisServer server;
  if (!server.runs()) GTEST_SKIP() << "there is no redis-server on this machine";
  expect_no_lost_change(server.url());
}

// --- what each engine adds ---

TEST(MemoryTasks, TogetherKeepNoMoreBytesThanTheyMay) {
  ManualClock clock(start);
  LoopForTests loop;
  MemoryOptions options;
  options.tasks_bytes_max = 2000;
  const Stores stores = memory_stores(clock, options);
  const auto create = [&](std::uint32_t number, std::size_t size) {
    return *loop.run(stores.tasks->create(creation_of(number, std::string(size, 'x')), loop));
  };
  EXPECT_EQ(create(1, 1000), TaskWritten::done);
  EXPECT_EQ(create(2, 1001), TaskWritten::full);
  EXPECT_EQ(create(2, 1000), TaskWritten::done);
  EXPECT_EQ(*loop.run(stores.tasks->replace(change_of(1, 1, std::string(1001, 'y')), loop)),
            TaskWritten::full);
  EXPECT_EQ(*loop.run(stores.tasks->replace(change_of(1, 1, "less"), loop)), TaskWritten::done);
  EXPECT_EQ(create(3, 996), TaskWritten::done);
  clock.advance(20min);
  EXPECT_EQ(create(4, 2001), TaskWritten::full);
  TaskCreation late = creation_of(5, std::string(2000, 'x'));
  late.expires_at = start + 30min;
  EXPECT_EQ(*loop.run(stores.tasks->create(late, loop)), TaskWritten::done);
}

TEST(SqliteTasks, SurviveARestartAndLeaveTheFileWhenTheyExpire) {
  ManualClock clock(start);
  LoopForTests loop;
  const Folder folder;
  const std::string path = folder.file("tasks.db");
  {
    const Stores stores = *sqlite_stores(path, clock);
    ASSERT_EQ(*loop.run(stores.tasks->create(creation_of(1), loop)), TaskWritten::done);
  }
  const Stores stores = *sqlite_stores(path, clock);
  const auto found = loop.run(stores.tasks->get(id_of(1), loop));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(as_text((*found)->value), "new");
  clock.advance(10min);
  ASSERT_TRUE(loop.run(stores.tasks->get(id_of(2), loop)).ok());  // any use
  clock.set(start);
  EXPECT_FALSE(loop.run(stores.tasks->get(id_of(1), loop))->has_value());
}

TEST(RedisTasks, FailWhileRedisIsAway) {
  RedisServer server;
  if (!server.runs()) GTEST_SKIP() << "there is no redis-server on this machine";
  const ManualClock clock(start);
  LoopForTests loop;
  const Stores stores = redis_at(server.url(), clock);
  ASSERT_TRUE(loop.run(stores.tasks->create(creation_of(1), loop)).ok());
  server.kill_it();
  EXPECT_FALSE(loop.run(stores.tasks->create(creation_of(2), loop)).ok());
  EXPECT_FALSE(loop.run(stores.tasks->get(id_of(1), loop)).ok());
  EXPECT_FALSE(loop.run(stores.tasks->replace(change_of(1, 1, "x"), loop)).ok());
  EXPECT_FALSE(loop.run(stores.tasks->renew(id_of(1), 1, start, start + 1h, loop)).ok());
}

}  // namespace
}  // namespace signet::store
