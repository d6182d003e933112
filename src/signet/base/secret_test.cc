#include <signet/base/secret.h>

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>
#include <utility>

namespace signet {
namespace {

TEST(Secret, DoesNotCopyAndDoesNotCompare) {
  EXPECT_FALSE(std::is_copy_constructible_v<Secret>);
  EXPECT_FALSE(std::is_copy_assignable_v<Secret>);
  EXPECT_FALSE(std::equality_comparable<Secret>);
}

TEST(Secret, TakesTheBytesOverAndLeavesNothingBehind) {
  Bytes bytes = {1, 2, 3};
  Secret secret(std::move(bytes));
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(secret.size(), 3u);
  Secret moved = std::move(secret);
  EXPECT_TRUE(secret.empty());
  EXPECT_TRUE(equal_in_constant_time(moved.expose(), Bytes{1, 2, 3}));
}

TEST(Secret, AssignmentWipesWhatWasThere) {
  Secret secret = Secret::copy_of(Bytes{7, 7, 7});
  secret = Secret::copy_of(Bytes{1});
  EXPECT_TRUE(equal_in_constant_time(secret.expose(), Bytes{1}));
  const Secret second = secret.clone();
  EXPECT_TRUE(equal_in_constant_time(secret.expose(), second.expose()));
}

TEST(Secret, WipeOverwritesEveryByte) {
  Bytes bytes(100, 0xff);
  wipe(bytes);
  EXPECT_EQ(bytes, Bytes(100, 0));
}

TEST(Secret, ConstantTimeComparisonTellsDifferentSizesAndBytesApart) {
  EXPECT_TRUE(equal_in_constant_time(Bytes{}, Bytes{}));
  EXPECT_TRUE(equal_in_constant_time(Bytes{1, 2}, Bytes{1, 2}));
  EXPECT_FALSE(equal_in_constant_time(Bytes{1, 2}, Bytes{1, 3}));
  EXPECT_FALSE(equal_in_constant_time(Bytes{1, 2}, Bytes{1}));
  for (std::size_t size = 1; size <= 40; ++size) {
    const Bytes one(size, 7);
    EXPECT_TRUE(equal_in_constant_time(one, Bytes(size, 7))) << size;
    for (std::size_t at = 0; at < size; ++at) {
      Bytes other = one;
      other[at] ^= 0x80;
      EXPECT_FALSE(equal_in_constant_time(one, other)) << at << " of " << size;
    }
  }
}

}  // namespace
}  // namespace signet
