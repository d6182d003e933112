#include <signet/json/value.h>

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include <signet/json/number.h>
#include <signet/json/text.h>

namespace signet {
namespace {

Json number(std::string_view text) { return *json::parse(text); }

TEST(JsonValue, HoldsWhatLiteralsSay) {
  const Json value = Json::object({{"a", 1}, {"b", "two"}, {"c", Json::array({true, nullptr, 2.5})}});
  EXPECT_EQ(json::write(value), R"({"a":1,"b":"two","c":[true,null,2.5]})");
}

TEST(JsonValue, TakesNoPointerForATruth) {
  EXPECT_FALSE((std::is_constructible_v<Json, const Json*>));
  EXPECT_FALSE((std::is_constructible_v<Json, const std::string*>));
  EXPECT_TRUE((std::is_constructible_v<Json, bool>));
}

TEST(JsonValue, KeepsUnsignedIntegersAboveSigned) {
  EXPECT_EQ(Json(UINT64_MAX).kind(), Json::Kind::unsigned_integer);
  EXPECT_EQ(Json(std::uint64_t{5}).kind(), Json::Kind::integer);
}

TEST(JsonValue, ComparesNumbersByValue) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(0), Json(-0.0));
  EXPECT_EQ(Json(1), Json::decimal("1.00"));
  EXPECT_EQ(number("1e400"), number("10e399"));
  EXPECT_EQ(number("9223372036854776000"), number("9.223372036854776e18"));
  EXPECT_NE(number("9223372036854775808"), number("9.223372036854776e18"));
  EXPECT_NE(Json(1), Json(1.5));
  EXPECT_NE(number("9007199254740993"), number("9007199254740992.0"));
  EXPECT_NE(number("1e400"), number("1e401"));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json(1), Json("1"));
}

TEST(JsonValue, ComparesObjectsInAnyOrder) {
  EXPECT_EQ(number(R"({"a":1,"b":[2]})"), number(R"({"b":[2.0],"a":1})"));
  EXPECT_NE(number(R"({"a":1,"b":2})"), number(R"({"a":2,"b":1})"));
  EXPECT_NE(number(R"({"a":1})"), number(R"({"a":1,"b":1})"));
  EXPECT_NE(number("[1,2]"), number("[2,1]"));
}

TEST(JsonValue, ComparesLargeObjectsInAnyOrder) {
  Json forward;
  Json backward;
  for (int i = 0; i < 100; ++i) forward.set("n" + std::to_string(i), i);
  for (int i = 99; i >= 0; --i) backward.set("n" + std::to_string(i), i);
  EXPECT_EQ(forward, backward);
  backward.set("n50", 0);
  EXPECT_NE(forward, backward);
}

TEST(JsonValue, GivesIntegersHoweverTheyWereWritten) {
  EXPECT_EQ(number("1e2").as_int64(), 100);
  EXPECT_EQ(number("-3.0").as_int64(), -3);
  EXPECT_EQ(number("-3.0").as_uint64(), std::nullopt);
  EXPECT_EQ(number("1.5").as_int64(), std::nullopt);
  EXPECT_EQ(number("1e19").as_int64(), std::nullopt);
  EXPECT_EQ(number("1e19").as_uint64(), 10'000'000'000'000'000'000u);
  EXPECT_EQ(number("1e20").as_uint64(), std::nullopt);
  EXPECT_EQ(number("1e400").as_int64(), std::nullopt);
  EXPECT_EQ(Json::decimal("12.00").as_int64(), 12);
  EXPECT_EQ(Json("1").as_int64(), std::nullopt);
  EXPECT_EQ(Json(-9223372036854775808.0).as_int64(), std::nullopt);  // it stands for -9223372036854776000
}

TEST(JsonValue, KnowsIntegers) {
  for (const char* text : {"1", "1.0", "1e2", "18446744073709551617", "1e400", "-0.0"})
    EXPECT_TRUE(number(text).is_integer()) << text;
  for (const char* text : {"1.5", "1e-400", "\"1\"", "true"}) EXPECT_FALSE(number(text).is_integer()) << text;
}

TEST(JsonValue, GivesDoublesRoundedToNearest) {
  EXPECT_EQ(number("9007199254740993").as_double(), 9007199254740992.0);
  EXPECT_EQ(number("18446744073709551617").as_double(), 18446744073709551616.0);
  EXPECT_EQ(number("1e400").as_double(), std::nullopt);
  EXPECT_EQ(number("1e-400").as_double(), 0.0);
  EXPECT_EQ(number("1e-999999999999999999").as_double(), 0.0);
}

TEST(JsonValue, SetsAndErasesMembers) {
  Json value;
  value.set("a", 1).set("b", 2).set("a", 3);
  EXPECT_EQ(json::write(value), R"({"a":3,"b":2})");
  EXPECT_TRUE(value.erase("a"));
  EXPECT_FALSE(value.erase("a"));
  EXPECT_EQ(value.find("a"), nullptr);
  EXPECT_EQ(Json(1).find("a"), nullptr);
  EXPECT_EQ(value.find_string("b"), nullptr);
}

TEST(Decimals, CompareByValue) {
  const char* const rising[] = {
      "-1e400", "-2",   "-1.5", "-1e-400", "0",  "1e-400",           "0.1",
      "0.11",   "0.2",  "1",    "9.9",     "10", "9007199254740992", "9007199254740993",
      "1e400",  "2e400"};
  for (std::size_t i = 0; i < std::size(rising); ++i) {
    for (std::size_t j = 0; j < std::size(rising); ++j) {
      EXPECT_EQ(json::compare(json::decimal_of(number(rising[i])), json::decimal_of(number(rising[j]))),
                i <=> j)
          << rising[i] << " " << rising[j];
    }
  }
}

TEST(Decimals, DivideExactly) {
  const auto is_multiple = [](std::string_view value, std::string_view divisor) {
    return json::is_multiple(json::decimal_of(number(value)), json::decimal_of(number(divisor)));
  };
  EXPECT_TRUE(is_multiple("0.0075", "0.0001"));
  EXPECT_FALSE(is_multiple("0.00751", "0.0001"));
  EXPECT_TRUE(is_multiple("4.5", "1.5"));
  EXPECT_FALSE(is_multiple("35", "1.5"));
  EXPECT_TRUE(is_multiple("0", "7"));
  EXPECT_TRUE(is_multiple("1e308", "0.5"));
  EXPECT_FALSE(is_multiple("1e308", "0.123456789"));
  EXPECT_FALSE(is_multiple("5", "10"));
  EXPECT_TRUE(is_multiple("-9007199254740993", "3"));
  EXPECT_FALSE(is_multiple("9007199254740993", "2"));
  EXPECT_TRUE(is_multiple("123456789012345678901234567890", "10"));
}

}  // namespace
}  // namespace signet
