#include <signet/keys/rotation.h>

#include <gtest/gtest.h>

#include <stdexcept>

#include <signet/keys/ring_text.h>
#include <signet/token/testing.h>

namespace signet::keys {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using token::KeyEntry;
using token::KeyRing;
using token::KeyStage;

constexpr Timestamp start{milliseconds(1'790'000'000'000)};  // 2026-09-21

struct RotationTest : ::testing::Test {
  RotationTest() {
    entries.push_back(token::generate_key("old", KeyStage::seal, start - hours(999), system_entropy()));
  }

  Result<void> take(RotationStep step, Timestamp now, std::optional<std::string> id = std::nullopt) {
    return rotate(entries, step, now, times, id, system_entropy());
  }
  const KeyEntry& key(std::string_view id) const {
    for (const KeyEntry& entry : entries) {
      if (entry.id == id) return entry;
    }
    throw std::out_of_range(std::string(id));
  }

  std::vector<KeyEntry> entries;
  RotationTimes times;
};

TEST_F(RotationTest, WalksTheThreeSteps) {
  ASSERT_TRUE(take(RotationStep::accept, start, "new").ok());
  EXPECT_EQ(key("old").stage, KeyStage::seal);
  EXPECT_EQ(key("new").stage, KeyStage::accept);

  const Timestamp sealing = start + seconds(60);
  ASSERT_TRUE(take(RotationStep::seal, sealing).ok());
  EXPECT_EQ(key("new").stage, KeyStage::seal);
  EXPECT_EQ(key("old").stage, KeyStage::retire);
  EXPECT_EQ(key("old").retires_at, sealing + seconds(60) + hours(24))
      << "one lifetime after the last instance knows";

  ASSERT_TRUE(take(RotationStep::retire, *key("old").retires_at).ok());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].id, "new");
  EXPECT_TRUE(KeyRing::make(std::move(entries)).ok());
}

TEST_F(RotationTest, IsARingAfterEveryStep) {
  Timestamp now = start;
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(take(next_step(entries), now).ok());
    std::vector<KeyEntry> copy;
    for (const KeyEntry& entry : entries) {
      KeyEntry same;
      same.id = entry.id;
      same.secret = entry.secret.clone();
      same.stage = entry.stage;
      same.retires_at = entry.retires_at;
      copy.push_back(std::move(same));
    }
    EXPECT_TRUE(KeyRing::make(std::move(copy)).ok());
    now += hours(25);
  }
  EXPECT_EQ(entries.size(), 1u);
}

TEST_F(RotationTest, RefusesToSkipAStep) {
  EXPECT_FALSE(take(RotationStep::seal, start).ok());
  EXPECT_FALSE(take(RotationStep::retire, start).ok());
  ASSERT_TRUE(take(RotationStep::accept, start).ok());
  EXPECT_FALSE(take(RotationStep::accept, start + hours(1)).ok());
  EXPECT_FALSE(take(RotationStep::retire, start + hours(1)).ok());
  ASSERT_TRUE(take(RotationStep::seal, start + hours(1)).ok());
  EXPECT_FALSE(take(RotationStep::seal, start + hours(2)).ok());
  EXPECT_FALSE(take(RotationStep::retire, start + hours(2)).ok());
}

TEST_F(RotationTest, ALeakedSealingKeyIsReplacedWhileAnOlderOneStillRetires) {
  ASSERT_TRUE(take(RotationStep::accept, start, "leaked").ok());
  ASSERT_TRUE(take(RotationStep::seal, start + seconds(60)).ok());
  const Timestamp old_retires = *key("old").retires_at;

  const Timestamp found_out = start + hours(1);
  EXPECT_EQ(next_step(entries), RotationStep::retire) << "a new key comes in only where it is asked for";
  ASSERT_TRUE(take(RotationStep::accept, found_out, "fresh").ok());
  EXPECT_EQ(next_step(entries), RotationStep::seal);
  EXPECT_FALSE(take(RotationStep::accept, found_out, "another").ok()) << "one waits to seal already";
  EXPECT_FALSE(take(RotationStep::seal, found_out + seconds(60) - milliseconds(1)).ok()) << "not hurried";
  ASSERT_TRUE(take(RotationStep::seal, found_out + seconds(60)).ok());
  EXPECT_EQ(key("fresh").stage, KeyStage::seal);
  EXPECT_EQ(key("leaked").retires_at, found_out + seconds(120) + hours(24));
  EXPECT_EQ(key("old").retires_at, old_retires) << "the innocent key keeps its own date";
  ASSERT_TRUE(retire_key(entries, "leaked", found_out + seconds(61), found_out + seconds(61)).ok());

  // Each is taken out when its own date has come.
  ASSERT_TRUE(take(RotationStep::retire, found_out + seconds(61)).ok());
  EXPECT_THROW(key("leaked"), std::out_of_range);
  EXPECT_EQ(key("old").retires_at, old_retires);
  EXPECT_FALSE(take(RotationStep::retire, old_retires - milliseconds(1)).ok());
  ASSERT_TRUE(take(RotationStep::retire, old_retires).ok());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].id, "fresh");
  EXPECT_TRUE(KeyRing::make(std::move(entries)).ok());
}

TEST_F(RotationTest, AKeyOfWhichTheRingDoesNotSaySinceWhenIsNotHurried) {
  entries.push_back(token::generate_key("undated", KeyStage::accept, start, system_entropy()));
  entries.back().since.reset();
  EXPECT_EQ(next_step(entries), RotationStep::accept);
  const Result<void> hurried = take(RotationStep::seal, start);
  ASSERT_FALSE(hurried.ok());
  EXPECT_NE(hurried.error().message.find("undated"), std::string::npos);
  EXPECT_FALSE(take(RotationStep::accept, start, "another").ok());

  ASSERT_TRUE(take(RotationStep::accept, start).ok());
  EXPECT_EQ(entries.size(), 2u) << "no other key is made";
  EXPECT_EQ(key("undated").since, start) << "the time to settle counts from now";
  EXPECT_EQ(next_step(entries), RotationStep::seal);
  EXPECT_FALSE(take(RotationStep::seal, start + seconds(60) - milliseconds(1)).ok());
  EXPECT_TRUE(take(RotationStep::seal, start + seconds(60)).ok());
}

TEST_F(RotationTest, RefusesAStepBeforeTheOneBeforeIsInForceEverywhere) {
  ASSERT_TRUE(take(RotationStep::accept, start).ok());
  EXPECT_FALSE(take(RotationStep::seal, start + seconds(60) - milliseconds(1)).ok());
  const Timestamp sealing = start + seconds(60);
  ASSERT_TRUE(take(RotationStep::seal, sealing).ok());
  const Timestamp retires = sealing + seconds(60) + hours(24);
  EXPECT_FALSE(take(RotationStep::retire, retires - milliseconds(1)).ok());
  EXPECT_TRUE(take(RotationStep::retire, retires).ok());
}

TEST_F(RotationTest, HoweverLongAStateMayLiveTheRingCanBeReadAgain) {
  times.lifetime = milliseconds::max();
  ASSERT_TRUE(take(RotationStep::accept, start).ok());
  ASSERT_TRUE(take(RotationStep::seal, start + seconds(60)).ok());
  EXPECT_GT(*key("old").retires_at, start + hours(24 * 365 * 1000));
  const Secret text = write_ring(entries);
  EXPECT_TRUE(parse_ring(as_text(text.expose())).ok());

  times.settle = milliseconds::max();
  times.lifetime = milliseconds(0);
  ASSERT_TRUE(retire_key(entries, "old", start, start).ok());
  ASSERT_TRUE(take(RotationStep::retire, start).ok());
  ASSERT_TRUE(take(RotationStep::accept, start, "next").ok());
  EXPECT_FALSE(take(RotationStep::seal, start + hours(1'000'000)).ok());
}

TEST_F(RotationTest, NamesNewKeysAfterTheDayAndNeverAgainTheSame) {
  ASSERT_TRUE(take(RotationStep::accept, start).ok());
  const std::string made = entries.back().id;
  EXPECT_EQ(made.substr(0, 11), "2026-09-21-");
  EXPECT_EQ(made.size(), 17u);
  EXPECT_TRUE(token::is_key_id(made));
  ASSERT_TRUE(retire_key(entries, made, start, start).ok());
  ASSERT_TRUE(take(RotationStep::retire, start).ok());
  // The key is gone, and a new one of the same day is not taken for it.
  ASSERT_TRUE(take(RotationStep::accept, start).ok());
  EXPECT_NE(entries.back().id, made);

  // Of what is in the ring no name is ever given again, whatever is drawn.
  token::testing::FixedEntropy drawn({1, 2, 3, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(free_id(entries, start, drawn), "2026-09-21-010203");
  entries.push_back(token::generate_key("2026-09-21-010203", KeyStage::accept, start, system_entropy()));
  EXPECT_EQ(free_id(entries, start, drawn), "2026-09-21-040506");
}

TEST_F(RotationTest, RetiringBringsTheEndNearerAndNeverPutsItOff) {
  ASSERT_TRUE(take(RotationStep::accept, start, "new").ok());
  ASSERT_TRUE(take(RotationStep::seal, start + seconds(60)).ok());
  const Timestamp first = *key("old").retires_at;
  const Timestamp now = start + hours(1);
  EXPECT_FALSE(retire_key(entries, "old", now, first + milliseconds(1)).ok()) << "not later";
  EXPECT_EQ(key("old").retires_at, first);
  EXPECT_TRUE(retire_key(entries, "old", now, first).ok());
  ASSERT_TRUE(retire_key(entries, "old", now, first - hours(1)).ok()) << "sooner";
  EXPECT_EQ(key("old").retires_at, first - hours(1));
  ASSERT_TRUE(retire_key(entries, "old", now, now).ok());

  // What is over is not revived.
  EXPECT_FALSE(retire_key(entries, "old", now, now + milliseconds(1)).ok());
  EXPECT_FALSE(retire_key(entries, "old", now + hours(1), now + hours(2)).ok());
  EXPECT_EQ(key("old").retires_at, now);
  // To open nothing from now on is what it does already.
  EXPECT_TRUE(retire_key(entries, "old", now + hours(1), now + hours(1)).ok());
  EXPECT_EQ(key("old").retires_at, now);
}

TEST_F(RotationTest, ALeakedKeyIsRetiredAtOnceUnlessItSeals) {
  EXPECT_FALSE(retire_key(entries, "old", start, start).ok());
  EXPECT_FALSE(retire_key(entries, "nobody", start, start).ok());
  ASSERT_TRUE(take(RotationStep::accept, start, "new").ok());
  ASSERT_TRUE(retire_key(entries, "new", start, start).ok());
  EXPECT_EQ(key("new").retires_at, start);
}

}  // namespace
}  // namespace signet::keys
