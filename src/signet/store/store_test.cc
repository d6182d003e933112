// The contract of the stores, for every engine, and what each adds to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <signet/store/testing_engines.h>
#include <signet/store/loop_for_tests.h>

namespace signet::store {
namespace {

using token::Claim;
using token::ClaimOutcome;
using namespace std::chrono_literals;

Claim claim_of(std::uint32_t number, std::string_view answers = "yes") {
  Claim claim;
  claim.token = id_of(number);
  claim.answers = sha256(as_bytes(answers));
  claim.expires_at = start + 10min;
  return claim;
}
Claim keeping(std::uint32_t number, std::string_view answers = "yes") {
  Claim claim = claim_of(number, answers);
  claim.keep_reply = true;
  return claim;
}

// --- the contract, for every engine ---

template <typename Engine>
class StoreContract : public testing::Test {
 protected:
  void SetUp() override {
    if (engine_.missing() != nullptr) GTEST_SKIP() << engine_.missing();
    Limits limits;
    limits.reply_bytes_max = 1000;
    limits.state_bytes_max = 1000;
    stores_ = Engine::open(engine_, clock_, limits);
  }
  ClaimOutcome claim(const Claim& claim) {
    auto outcome = loop_.run(stores_.redemption->claim(claim, loop_));
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
    return outcome.ok() ? *outcome : ClaimOutcome::lost;
  }
  bool finish(const Claim& claim, std::string reply = {}) {
    return loop_.run(stores_.redemption->finish(claim, std::move(reply), loop_)).ok();
  }
  bool abandon(const Claim& claim) { return loop_.run(stores_.redemption->abandon(claim, loop_)).ok(); }
  std::optional<std::string> reply(const Claim& claim) {
    auto kept = loop_.run(stores_.redemption->reply(claim, loop_));
    EXPECT_TRUE(kept.ok());
    return kept.ok() ? *kept : std::nullopt;
  }
  bool put(std::uint32_t number, std::string_view value) {
    return loop_
        .run(stores_.states->put(id_of(number), Bytes(value.begin(), value.end()), start + 10min, loop_))
        .ok();
  }
  std::optional<std::string> get(std::uint32_t number) {
    auto value = loop_.run(stores_.states->get(id_of(number), loop_));
    EXPECT_TRUE(value.ok());
    if (!value.ok() || !value->has_value()) return std::nullopt;
    return std::string(as_text(**value));
  }

  ManualClock clock_{start};
  Engine engine_;
  Stores stores_;
  LoopForTests loop_;
};

TYPED_TEST_SUITE(StoreContract, Engines, EngineName);

TYPED_TEST(StoreContract, TheFirstClaimWinsAndTheSecondIsLost) {
  EXPECT_EQ(this->claim(claim_of(1)), ClaimOutcome::won);
  EXPECT_EQ(this->claim(claim_of(1)), ClaimOutcome::lost);
  EXPECT_EQ(this->claim(claim_of(2)), ClaimOutcome::won);
}

TYPED_TEST(StoreContract, WithoutKeepingReplyAFinishedClaimStaysLostEvenForTheSameAnswers) {
  ASSERT_EQ(this->claim(claim_of(1)), ClaimOutcome::won);
  EXPECT_TRUE(this->finish(claim_of(1), "not kept"));
  EXPECT_EQ(this->claim(claim_of(1)), ClaimOutcome::lost);
  EXPECT_EQ(this->reply(claim_of(1)), std::nullopt);
}

TYPED_TEST(StoreContract, TheSameRetryIsPendingThenFinishedAndGetsTheKeptReply) {
  ASSERT_EQ(this->claim(keeping(1)), ClaimOutcome::won);
  EXPECT_EQ(this->claim(keeping(1)), ClaimOutcome::pending);
  EXPECT_EQ(this->reply(keeping(1)), std::nullopt);
  std::string reply("{\"a\":\0}", 7);
  EXPECT_TRUE(this->finish(keeping(1), reply));
  EXPECT_EQ(this->claim(keeping(1)), ClaimOutcome::finished);
  EXPECT_EQ(this->reply(keeping(1)), reply);
}

TYPED_TEST(StoreContract, AnEmptyReplyIsAReply) {
  ASSERT_EQ(this->claim(keeping(1)), ClaimOutcome::won);
  EXPECT_TRUE(this->finish(keeping(1), ""));
  EXPECT_EQ(this->claim(keeping(1)), ClaimOutcome::finished);
  EXPECT_EQ(this->reply(keeping(1)), "");
}

TYPED_TEST(StoreContract, OtherAnswersAreLostAndGetNoReply) {
  ASSERT_EQ(this->claim(keeping(1, "yes")), ClaimOutcome::won);
  EXPECT_EQ(this->claim(keeping(1, "no")), ClaimOutcome::lost);
  EXPECT_FALSE(this->finish(keeping(1, "no"), "forged"));
  EXPECT_FALSE(this->abandon(keeping(1, "no")));
  EXPECT_TRUE(this->finish(keeping(1, "yes"), "kept"));
  EXPECT_EQ(this->claim(keeping(1, "no")), ClaimOutcome::lost);
  EXPECT_EQ(this->reply(keeping(1, "no")), std::nullopt);
  EXPECT_EQ(this->reply(keeping(1, "yes")), "kept");
}

TYPED_TEST(StoreContract, AnAbandonedClaimCanBeWonAgainButNotAFinishedOne) {
  ASSERT_EQ(this->claim(keeping(1)), ClaimOutcome::won);
  EXPECT_TRUE(this->abandon(keeping(1)));
  EXPECT_EQ(this->claim(keeping(1, "other")), ClaimOutcome::won);
  EXPECT_TRUE(this->finish(keeping(1, "other"), "done"));
  EXPECT_FALSE(this->abandon(keeping(1, "other")));
  EXPECT_EQ(this->claim(keeping(1, "other")), ClaimOutcome::finished);
}

TYPED_TEST(StoreContract, OnlyAnOpenClaimIsFinishedAndOnlyOnce) {
  EXPECT_FALSE(this->finish(keeping(1), "nobody claimed"));
  ASSERT_EQ(this->claim(keeping(1)), ClaimOutcome::won);
  EXPECT_TRUE(this->finish(keeping(1), "first"));
  EXPECT_FALSE(this->finish(keeping(1), "second"));
  EXPECT_EQ(this->reply(keeping(1)), "first");
}

TYPED_TEST(StoreContract, ATooLongReplyIsAnErrorAndItsClaimStaysLost) {
  ASSERT_EQ(this->claim(keeping(1)), ClaimOutcome::won);
  EXPECT_FALSE(this->finish(keeping(1), std::string(1001, 'x')));
  EXPECT_EQ(this->claim(keeping(1)), ClaimOutcome::lost);
  EXPECT_EQ(this->reply(keeping(1)), std::nullopt);
  ASSERT_EQ(this->claim(keeping(2)), ClaimOutcome::won);
  EXPECT_TRUE(this->finish(keeping(2), std::string(1000, 'x')));
  EXPECT_EQ(this->reply(keeping(2)), std::string(1000, 'x'));
}

TYPED_TEST(StoreContract, AClaimOfAnExpiredStateNeverWins) {
  this->clock_.advance(10min);
  EXPECT_EQ(this->claim(claim_of(1)), ClaimOutcome::lost);
}

TYPED_TEST(StoreContract, AStateIsKeptUntilItIsErased) {
  EXPECT_EQ(this->get(1), std::nullopt);
  EXPECT_TRUE(this->put(1, std::string_view("a\0b", 3)));
  EXPECT_TRUE(this->put(2, ""));
  EXPECT_EQ(this->get(1), std::string("a\0b", 3));
  EXPECT_EQ(this->get(2), "");
  EXPECT_TRUE(this->loop_.run(this->stores_.states->erase(id_of(1), this->loop_)).ok());
  EXPECT_TRUE(this->loop_.run(this->stores_.states->erase(id_of(1), this->loop_)).ok());
  EXPECT_EQ(this->get(1), std::nullopt);
}

TYPED_TEST(StoreContract, ATooLongStateIsRefused) {
  EXPECT_TRUE(this->put(1, std::string(1000, 'x')));
  EXPECT_FALSE(this->put(2, std::string(1001, 'x')));
  EXPECT_EQ(this->get(2), std::nullopt);
}

TYPED_TEST(StoreContract, ADroppedTaskIsHarmlessAndTheStoreGoesOn) {
  for (std::uint32_t number = 0; number < 200; ++number) {
    Task<Result<ClaimOutcome>> dropped = this->stores_.redemption->claim(claim_of(number), this->loop_);
    dropped.start([] {});
  }
  EXPECT_EQ(this->claim(claim_of(1000)), ClaimOutcome::won);
  EXPECT_EQ(this->claim(claim_of(0)), ClaimOutcome::lost);
}

TYPED_TEST(StoreContract, OfManyThreadsExactlyOneWinsEachToken) {
  constexpr std::uint32_t tokens = 500;
  std::array<std::vector<int>, 4> wins;
  std::vector<std::thread> threads;
  for (std::vector<int>& mine : wins) {
    threads.emplace_back([this, &mine] {
      LoopForTests loop;
      for (std::uint32_t number = 0; number < tokens; ++number) {
        auto outcome = loop.run(this->stores_.redemption->claim(claim_of(number), loop));
        mine.push_back(outcome.ok() && *outcome == ClaimOutcome::won ? 1 : 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t number = 0; number < tokens; ++number) {
    int winners = 0;
    for (const std::vector<int>& mine : wins) winners += mine[number];
    ASSERT_EQ(winners, 1) << "token " << number;
  }
}

// --- two processes ---

constexpr std::uint32_t race_tokens = 10'000;
constexpr std::uint32_t race_window = 100;

Stores open_for_race(const std::string& engine, const Clock& clock) {
  return engine.starts_with("unix://") ? redis_at(engine, clock) : *sqlite_stores(engine, clock);
}

// Claims one window of tokens, all at once, and appends what came of each: W, L or E.
void claim_window(const Stores& stores, std::uint32_t first, std::string& outcomes) {
  LoopForTests loop;
  std::vector<Task<Result<ClaimOutcome>>> tasks;
  std::uint32_t done = 0;
  tasks.reserve(race_window);
  for (std::uint32_t i = 0; i < race_window; ++i) {
    tasks.push_back(stores.redemption->claim(claim_of(first + i), loop));
    tasks.back().start([&done] { ++done; });
  }
  while (done < race_window) loop.run_one();
  for (auto& task : tasks) {
    const auto outcome = task.take();
    outcomes += !outcome.ok() ? 'E' : *outcome == ClaimOutcome::won ? 'W' : 'L';
  }
}

std::string race(const std::string& engine) {
  const ManualClock clock(start);
  const Stores stores = open_for_race(engine, clock);
  std::string outcomes;
  for (std::uint32_t first = 0; first < race_tokens; first += race_window)
    claim_window(stores, first, outcomes);
  return outcomes;
}

// Not a test of its own: what the second process of a race runs.
TEST(RaceChild, Races) {
  const char* engine = std::getenv("SIGNET_RACE_ENGINE");
  const char* results = std::getenv("SIGNET_RACE_RESULTS");
  if (engine == nullptr || results == nullptr) GTEST_SKIP() << "runs inside the tests of races only";
  std::ofstream(results) << race(engine);
}

void expect_one_winner_each(const std::string& engine) {
  const Folder folder;
  std::array<pid_t, 2> children{};
  for (std::size_t i = 0; i < children.size(); ++i) {
    children[i] =
        spawn({"/proc/self/exe", "--gtest_filter=RaceChild.*"},
              {"SIGNET_RACE_ENGINE=" + engine, "SIGNET_RACE_RESULTS=" + folder.file(std::to_string(i))});
    ASSERT_GT(children[i], 0);
  }
  std::array<std::string, 2> outcomes;
  for (std::size_t i = 0; i < children.size(); ++i) {
    int status = -1;
    ::waitpid(children[i], &status, 0);
    EXPECT_EQ(status, 0);
    std::ifstream(folder.file(std::to_string(i))) >> outcomes[i];
    ASSERT_EQ(outcomes[i].size(), race_tokens);
  }
  for (std::uint32_t number = 0; number < race_tokens; ++number) {
    const std::string pair = {outcomes[0][number], outcomes[1][number]};
    ASSERT_TRUE(pair == "WL" || pair == "LW") << "token " << number << ": " << pair;
  }
}

TEST(SqliteRace, TwoProcessesRaceForTenThousandTokensAndEachHasOneWinner) {
  const Folder folder;
  expect_one_winner_each(folder.file("claims.db"));
}

TEST(RedisRace, TwoProcessesRaceForTenThousandTokensAndEachHasOneWinner) {
  const RedisServer server;
  if (!server.runs()) GTEST_SKIP() << "there is no redis-server on this machine";
  expect_one_winner_each(server.url());
}

// --- memory ---

std::size_t resident_kib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool freed_memory_waits = true;  // in the sanitizer's quarantine
#else
constexpr bool freed_memory_waits = false;
#endif

TEST(MemoryStore, AMillionClaimsThatExpireLeaveMemoryFlat) {
  if (freed_memory_waits) GTEST_SKIP() << "the sanitizer keeps what is freed";
  ManualClock clock(start);
  const Stores stores = memory_stores(clock);
  LoopForTests loop;
  Claim claim = claim_of(0);
  std::size_t before = 0;
  for (std::uint32_t number = 0; number < 1'000'000; ++number) {
    if (number == 200'000) before = resident_kib();
    claim.token = id_of(number);
    claim.expires_at = clock.now() + 1min;
    auto outcome = loop.run(stores.redemption->claim(claim, loop));
    ASSERT_TRUE(outcome.ok());
    ASSERT_EQ(*outcome, ClaimOutcome::won);
    clock.advance(10ms);
  }
  const std::size_t after = resident_kib();
  RecordProperty("resident_kib_before", static_cast<int>(before));
  RecordProperty("resident_kib_after", static_cast<int>(after));
  EXPECT_LT(after, before + before / 4 + 8192);
}

TEST(MemoryStore, AFullStoreRefusesClaimsAndForgetsNothingThatCounts) {
  ManualClock clock(start);
  MemoryOptions options;
  options.claims_max = 640;
  const Stores stores = memory_stores(clock, options);
  LoopForTests loop;
  std::vector<std::uint32_t> won;
  std::size_t refused = 0;
  for (std::uint32_t number = 0; number < 5000; ++number) {
    auto outcome = loop.run(stores.redemption->claim(claim_of(number), loop));
    if (outcome.ok()) won.push_back(number);
    refused += outcome.ok() ? 0 : 1;
  }
  EXPECT_GE(won.size(), 640U);
  EXPECT_LE(won.size(), 640U + 64U);
  EXPECT_EQ(won.size() + refused, 5000U);
  for (const std::uint32_t number : won) {
    auto again = loop.run(stores.redemption->claim(claim_of(number), loop));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, ClaimOutcome::lost);
  }
  clock.advance(1h);  // all have expired: there is room again
  Claim late = claim_of(9999);
  late.expires_at = clock.now() + 1min;
  auto outcome = loop.run(stores.redemption->claim(late, loop));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(*outcome, ClaimOutcome::won);
}

TEST(MemoryStore, AClaimOutlivesItsStateByTheGrace) {
  ManualClock clock(start);
  const Stores stores = memory_stores(clock);
  LoopForTests loop;
  ASSERT_EQ(*loop.run(stores.redemption->claim(claim_of(1), loop)), ClaimOutcome::won);
  clock.advance(11min);  // one minute past the expiry; another instance's clock may still be before it
  Claim late = claim_of(1);
  late.expires_at = clock.now() + 1min;
  EXPECT_EQ(*loop.run(stores.redemption->claim(late, loop)), ClaimOutcome::lost);
}

// --- SQLite ---

class SqliteStore : public testing::Test {
 protected:
  Stores open() { return *sqlite_stores(path_, clock_); }
  ClaimOutcome claim(const Stores& stores, const Claim& claim) {
    auto outcome = loop_.run(stores.redemption->claim(claim, loop_));
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
    return *outcome;
  }
  std::int64_t count(const std::string& sql) {
    sqlite3* database = nullptr;
    sqlite3_stmt* statement = nullptr;
    sqlite3_open(path_.c_str(), &database);
    sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
    sqlite3_step(statement);
    const std::int64_t result = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return result;
  }

  ManualClock clock_{start};
  Folder folder_;
  std::string path_ = folder_.file("claims.db");
  LoopForTests loop_;
};

TEST_F(SqliteStore, ClaimsAndRepliesSurviveARestart) {
  {
    const Stores stores = open();
    ASSERT_EQ(claim(stores, claim_of(1)), ClaimOutcome::won);
    ASSERT_EQ(claim(stores, keeping(2)), ClaimOutcome::won);
    ASSERT_TRUE(loop_.run(stores.redemption->finish(keeping(2), "kept", loop_)).ok());
  }
  const Stores stores = open();
  EXPECT_EQ(claim(stores, claim_of(1)), ClaimOutcome::lost);
  EXPECT_EQ(claim(stores, keeping(2)), ClaimOutcome::finished);
  EXPECT_EQ(*loop_.run(stores.redemption->reply(keeping(2), loop_)), "kept");
}

// What of the files is on the disk when the power goes: a copy, taken while the store is open and before it has
// written the log back.
TEST_F(SqliteStore, AWonClaimIsInTheFilesBeforeItIsReported) {
  const Stores stores = open();
  ASSERT_EQ(claim(stores, claim_of(1)), ClaimOutcome::won);
  const std::string copy = folder_.file("copy.db");
  std::filesystem::copy_file(path_, copy);
  std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
  const Stores after = *sqlite_stores(copy, clock_);
  EXPECT_EQ(claim(after, claim_of(1)), ClaimOutcome::lost);
  EXPECT_EQ(claim(after, claim_of(2)), ClaimOutcome::won);
}

TEST_F(SqliteStore, ExpiredClaimsLeaveTheFileWithTheirReplies) {
  {
    const Stores stores = open();
    for (std::uint32_t number = 0; number < 100; ++number) {
      ASSERT_EQ(claim(stores, keeping(number)), ClaimOutcome::won);
      ASSERT_TRUE(loop_.run(stores.redemption->finish(keeping(number), "kept", loop_)).ok());
    }
    ASSERT_TRUE(loop_.run(stores.states->put(id_of(1), Bytes(10), start + 1min, loop_)).ok());
    clock_.advance(11min);  // expired, but within the grace
    ASSERT_EQ(claim(stores, keeping(7)), ClaimOutcome::finished);
    clock_.advance(2min);
    Claim late = claim_of(1000);
    late.expires_at = clock_.now() + 1min;
    ASSERT_EQ(claim(stores, late), ClaimOutcome::won);
  }
  EXPECT_EQ(count("SELECT count(*) FROM claims"), 1);
  EXPECT_EQ(count("SELECT count(*) FROM replies"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM states"), 0);
}

TEST_F(SqliteStore, TheFileIsForItsOwnerAlone) {
  const Stores stores = open();
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(SqliteStore, AFileThatOthersMayWriteIsRefused) {
  for (const mode_t mode : {0620U, 0602U, 0666U, 0640U, 0644U, 0600U}) {
    std::ofstream(path_).flush();
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    const Result<Stores> opened = sqlite_stores(path_, clock_);
    EXPECT_EQ(opened.ok(), (mode & 022U) == 0) << std::oct << mode;
  }
  EXPECT_FALSE(sqlite_stores(":memory:", clock_).ok());
  EXPECT_FALSE(sqlite_stores("", clock_).ok());
}

TEST_F(SqliteStore, FailsClosedWhenAFileOfItIsRemovedOrReplaced) {
  for (const std::string suffix : {"", "-wal", "-shm"}) {
    const Stores stores = open();
    ASSERT_EQ(claim(stores, claim_of(1)), ClaimOutcome::won) << suffix;
    const std::string file = path_ + suffix;
    std::filesystem::rename(file, file + ".away");
    EXPECT_FALSE(loop_.run(stores.redemption->claim(claim_of(2), loop_)).ok()) << suffix;
    std::ofstream(file).flush();
    EXPECT_FALSE(loop_.run(stores.redemption->claim(claim_of(3), loop_)).ok()) << suffix;
    EXPECT_FALSE(loop_.run(stores.states->put(id_of(1), Bytes(10), start + 1min, loop_)).ok()) << suffix;
    std::filesystem::rename(file + ".away", file);
    EXPECT_EQ(claim(stores, claim_of(1)), ClaimOutcome::lost) << suffix;
    EXPECT_EQ(claim(stores, claim_of(4)), ClaimOutcome::won) << suffix;
    for (const char* left : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + left);
  }
}

TEST_F(SqliteStore, WhatIsNoStoreOrANewerOneIsRefused) {
  {
    const Stores stores = open();
  }
  count("PRAGMA user_version = 2");
  EXPECT_FALSE(sqlite_stores(path_, clock_).ok());
  const std::string other = folder_.file("other");
  std::ofstream(other) << "this is no database, and long enough to be told from an empty one";
  EXPECT_FALSE(sqlite_stores(other, clock_).ok());
  EXPECT_FALSE(sqlite_stores(folder_.file("no/such/folder.db"), clock_).ok());
}

TEST_F(SqliteStore, AFullFileRefusesAndWhatWasClaimedStaysClaimed) {
  SqliteOptions options;
  options.file_bytes_max = 64 * 4096;
  const Stores stores = *sqlite_stores(path_, clock_, options);
  std::uint32_t number = 0;
  while (loop_.run(stores.redemption->claim(claim_of(number), loop_)).ok()) ++number;
  EXPECT_GT(number, 100U);
  auto again = loop_.run(stores.redemption->claim(claim_of(0), loop_));
  EXPECT_TRUE(!again.ok() || *again == ClaimOutcome::lost);
  auto refused = loop_.run(stores.redemption->claim(claim_of(number), loop_));
  EXPECT_FALSE(refused.ok());
}

TEST_F(SqliteStore, AFullQueueRefuses) {
  SqliteOptions options;
  options.queue_max = 0;
  const Stores stores = *sqlite_stores(path_, clock_, options);
  EXPECT_FALSE(loop_.run(stores.redemption->claim(claim_of(1), loop_)).ok());
}

// --- Redis ---

class RedisStore : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.runs()) GTEST_SKIP() << "there is no redis-server on this machine";
  }
  ManualClock clock_{start};
  RedisServer server_;
  LoopForTests loop_;
};

TEST_F(RedisStore, WhileRedisIsAwayEveryOperationFailsAndAfterwardsItWorksAgain) {
  RedisOptions options;
  options.reconnect_pause_max = 1ms;
  const Stores stores = redis_at(server_.url(), clock_, options);
  ASSERT_EQ(*loop_.run(stores.redemption->claim(keeping(1), loop_)), ClaimOutcome::won);
  server_.kill_it();
  EXPECT_FALSE(loop_.run(stores.redemption->claim(keeping(2), loop_)).ok());
  EXPECT_FALSE(loop_.run(stores.redemption->finish(keeping(1), "x", loop_)).ok());
  EXPECT_FALSE(loop_.run(stores.redemption->abandon(keeping(1), loop_)).ok());
  EXPECT_FALSE(loop_.run(stores.redemption->reply(keeping(1), loop_)).ok());
  EXPECT_FALSE(loop_.run(stores.states->get(id_of(1), loop_)).ok());
  server_.launch();
  ASSERT_TRUE(server_.runs());
  bool won = false;
  for (int attempt = 0; attempt < 100'000 && !won; ++attempt) {
    auto outcome = loop_.run(stores.redemption->claim(keeping(3), loop_));
    won = outcome.ok();
  }
  EXPECT_TRUE(won);
}

TEST_F(RedisStore, AConnectionThatEndedWhileItWasIdleCostsNobodyARefusal) {
  const Stores stores = redis_at(server_.url(), clock_);
  ASSERT_EQ(*loop_.run(stores.redemption->claim(claim_of(1), loop_)), ClaimOutcome::won);
  server_.kill_it();
  server_.launch();
  ASSERT_TRUE(server_.runs());
  const auto outcome = loop_.run(stores.redemption->claim(claim_of(2), loop_));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(*outcome, ClaimOutcome::won);
}

TEST_F(RedisStore, ARedisThatDoesNotAnswerIsAnErrorAfterTheTimeOut) {
  RedisOptions options;
  options.command_timeout = 20ms;
  const Stores stores = redis_at(server_.url(), clock_, options);
  ASSERT_EQ(*loop_.run(stores.redemption->claim(keeping(1), loop_)), ClaimOutcome::won);
  server_.stop();
  EXPECT_FALSE(loop_.run(stores.redemption->claim(keeping(2), loop_)).ok());
  EXPECT_FALSE(loop_.run(stores.redemption->reply(keeping(1), loop_)).ok());
}

TEST_F(RedisStore, KeysExpireByThemselves) {
  RedisOptions options;
  options.limits.grace = 0ms;
  const Stores stores = redis_at(server_.url(), clock_, options);
  Claim claim = claim_of(1);
  claim.expires_at = start + 1ms;
  ASSERT_EQ(*loop_.run(stores.redemption->claim(claim, loop_)), ClaimOutcome::won);
  bool again = false;  // Redis counts by its own clock; the manual one stands still
  for (int attempt = 0; attempt < 1'000'000 && !again; ++attempt) {
    again = *loop_.run(stores.redemption->claim(claim, loop_)) == ClaimOutcome::won;
  }
  EXPECT_TRUE(again);
}

TEST(RedisStoreWithPassword, EntersWithTheRightOneOnly) {
  const RedisServer server({"--requirepass", "p@ss/word"});
  if (!server.runs()) GTEST_SKIP() << "there is no redis-server on this machine";
  const ManualClock clock(start);
  LoopForTests loop;
  const std::string path = server.url().substr(std::string("unix://").size());
  const Stores right = redis_at("unix://:p%40ss%2Fword@" + path + "?db=3", clock);
  EXPECT_TRUE(loop.run(right.redemption->claim(claim_of(1), loop)).ok());
  const Stores wrong = redis_at("unix://:other@" + path, clock);
  EXPECT_FALSE(loop.run(wrong.redemption->claim(claim_of(2), loop)).ok());
  const Stores none = redis_at("unix://" + path, clock);
  EXPECT_FALSE(loop.run(none.redemption->claim(claim_of(3), loop)).ok());
}

TEST(RedisUrl, NamesHostPortDatabaseUserAndPassword) {
  auto address = parse_redis_url("redis://me:p%40ss@redis.example:6380/2");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "redis.example");
  EXPECT_EQ(address->port, 6380);
  EXPECT_EQ(address->database, 2);
  EXPECT_EQ(address->user, "me");
  EXPECT_EQ(as_text(address->password.expose()), "p@ss");
  auto plain = parse_redis_url("redis://[::1]");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->host, "::1");
  EXPECT_EQ(plain->port, 6379);
  auto socket = parse_redis_url("unix:///run/redis.sock?db=1");
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ(socket->socket, "/run/redis.sock");
  EXPECT_EQ(socket->database, 1);
}

TEST(RedisUrl, RefusesWhatItDoesNotUnderstandAndShowsNoPassword) {
  for (const char* url :
       {"", "redis://", "http://host", "redis://host:0", "redis://host:65536", "redis://host:x",
        "redis://host/x", "redis://secret@host", "redis://:@host", "redis://:%zz@host", "redis://[::1",
        "unix://relative", "unix:///s?database=1", "rediss://host"}) {
    auto address = parse_redis_url(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_THAT(address.error().message, testing::Not(testing::HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace signet::store
