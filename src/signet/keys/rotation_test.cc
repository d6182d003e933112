#include <signet/keys/rotation.h>

#include <gtest/gtest.h>

#include <signet/keys/ring_text.h>

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
  EXPECT_FALSE(take(RotationStep::accept, start + hours(2)).ok());
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

TEST_F(RotationTest, NamesNewKeysAfterTheDay) {
  EXPECT_EQ(free_id(entries, start), "2026-09-21");
  ASSERT_TRUE(take(RotationStep::accept, start).ok());
  EXPECT_EQ(entries.back().id, "2026-09-21");
  EXPECT_EQ(free_id(entries, start), "2026-09-21-2");
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
