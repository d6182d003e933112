#include <signet/base/source_dir_for_tests.h>
#include <signet/json/text.h>

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace signet::json {
namespace {

using namespace std::string_literals;
using Kind = ParseError::Kind;

Json read(std::string_view text) {
  auto value = parse(text);
  EXPECT_TRUE(value.ok()) << text << ": " << describe(value.error());
  return value.ok() ? *value : Json();
}

std::string rewritten(std::string_view text) { return write(read(text)); }
std::string canonical_of(std::string_view text) { return canonical(read(text)); }

void expect_refused(std::string_view text, Kind kind, std::size_t offset) {
  const auto value = parse(text);
  ASSERT_FALSE(value.ok()) << text;
  EXPECT_EQ(static_cast<int>(value.error().kind), static_cast<int>(kind)) << text;
  EXPECT_EQ(value.error().offset, offset) << text;
}

TEST(ReadingText, GivesEachKindOfValue) {
  const Json value = read(R"( { "a" : [ null , true , false , 1 , "x" , { } , [ ] ] } )");
  const JsonArray& a = *value.find("a")->as_array();
  ASSERT_EQ(a.size(), 7u);
  EXPECT_TRUE(a[0].is_null());
  EXPECT_EQ(a[1].as_boolean(), true);
  EXPECT_EQ(a[2].as_boolean(), false);
  EXPECT_EQ(a[3].as_int64(), 1);
  EXPECT_EQ(*a[4].as_string(), "x");
  EXPECT_TRUE(a[5].is_object());
  EXPECT_TRUE(a[6].is_array());
  EXPECT_EQ(write(value), R"({"a":[null,true,false,1,"x",{},[]]})");
}

TEST(ReadingText, KeepsMembersInTheirOrder) {
  EXPECT_EQ(rewritten(R"({"b":1,"a":{"d":2,"c":3}})"), R"({"b":1,"a":{"d":2,"c":3}})");
}

TEST(ReadingText, KeepsIntegersOf64BitsExact) {
  EXPECT_EQ(read("9007199254740993").as_int64(), 9007199254740993);
  EXPECT_EQ(read("9223372036854775807").as_int64(), INT64_MAX);
  EXPECT_EQ(read("-9223372036854775808").as_int64(), INT64_MIN);
  EXPECT_EQ(read("9223372036854775808").as_uint64(), std::uint64_t{1} << 63);
  EXPECT_EQ(read("18446744073709551615").as_uint64(), UINT64_MAX);
  EXPECT_EQ(rewritten("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read("-0").as_int64(), 0);
}

TEST(ReadingText, KeepsTheTextOfWhatNoDoubleHolds) {
  for (const char* text : {"18446744073709551616", "-9223372036854775809", "123456789012345678901234567890",
                           "1e400", "-1e400", "1e-400", "0.1e999999999999999999"}) {
    const Json value = read(text);
    EXPECT_EQ(value.kind(), Json::Kind::decimal) << text;
    EXPECT_EQ(write(value), text);
  }
}

TEST(ReadingText, KeepsIntegersExactHoweverTheyAreWritten) {
  EXPECT_EQ(read("9007199254740993.0").as_int64(), 9007199254740993);
  EXPECT_EQ(read("9007199254740993e0"), read("9007199254740993"));
  EXPECT_EQ(read("1.8446744073709551615e19").as_uint64(), UINT64_MAX);
  EXPECT_EQ(read("1.84467440737091844674407e+23"), read("184467440737091844674407"));
  EXPECT_NE(read("1.84467440737091844674407e+23"), read("184467440737091844674408"));
  EXPECT_EQ(read("9007199254740993.5").kind(), Json::Kind::number);
}

TEST(ReadingText, TakesLargeIntegersAsDoublesWhereThatLosesNothing) {
  EXPECT_EQ(read("1000000000000000000000000000000").kind(), Json::Kind::number);
  EXPECT_EQ(read("1000000000000000000000000000000").as_double(), 1e30);
  EXPECT_EQ(read("18446744073709552000").kind(), Json::Kind::number);
}

TEST(ReadingText, RoundsDoublesCorrectly) {
  const std::tuple<const char*, double> cases[] = {
      {"333333333.33333329", 333333333.3333333},
      {"2.2250738585072011e-308", 2.225073858507201e-308},
      {"5e-324", 5e-324},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"9007199254740993.0", 9007199254740992.0},
      {"0.1", 0.1},
      {"123456.7890123456789012345", 123456.789012345678},
      {"0e400", 0.0},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read(text).as_double(), expected) << text;
}

TEST(ReadingText, RefusesWhatIsNotJson) {
  const std::tuple<std::string, std::size_t> cases[] = {
      {"", 0},
      {" ", 1},
      {"{", 1},
      {"[1,]", 3},
      {"{\"a\":1,}", 7},
      {"[1 2]", 3},
      {"01", 0},
      {"-01", 1},
      {"+1", 0},
      {"1.", 2},
      {".5", 0},
      {"-", 1},
      {"1e", 2},
      {"1e+", 3},
      {"NaN", 0},
      {"Infinity", 0},
      {"-Infinity", 1},
      {"tru", 0},
      {"nul", 0},
      {"{'a':1}", 1},
      {"{a:1}", 1},
      {"{\"a\" 1}", 5},
      {"{\"a\"}", 4},
      {"\"a", 2},
      {"\"\\", 1},
      {"\"\\x\"", 1},
      {"\"\\u12\"", 1},
      {"\"\\u12g4\"", 1},
      {"// c\n1", 0},
      {"\"a\tb\"", 2},
      {"\"a\x1f\"", 2},
      {"\"a\0b\""s, 2},
      {"\xEF\xBB\xBF{}", 0},
      {"\f1", 0},
      {"]", 0},
      {"[}", 1},
      {"{]", 1},
      {",", 0},
      {"[,1]", 1},
      {"{\"a\":}", 5},
      {"\0"s, 0},
  };
  for (const auto& [text, offset] : cases) {
    expect_refused(text, Kind::syntax, offset);
  }
}

TEST(ReadingText, RefusesWhatFollowsTheValue) {
  expect_refused("{}x", Kind::trailing_text, 2);
  expect_refused("{} {}", Kind::trailing_text, 3);
  expect_refused("[1]/**/", Kind::trailing_text, 3);
  expect_refused("0x10", Kind::trailing_text, 1);
  expect_refused("{}\0"s, Kind::trailing_text, 2);
  EXPECT_TRUE(parse(" {} \r\n\t").ok());
}

TEST(ReadingText, RefusesWhatIsNotUtf8) {  // B16
  for (const std::string bad : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80",
                                "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xF5\x80\x80\x80", "\xC1\xBF"}) {
    expect_refused("\"ab" + bad + "\"", Kind::invalid_utf8, 3);
    expect_refused("{\"abcdefghijk" + bad + "\":1}", Kind::invalid_utf8, 13);
  }
  EXPECT_EQ(*read("\"\xE2\x82\xAC\xF4\x8F\xBF\xBF\xEF\xBF\xBD\"").as_string(),
            "\xE2\x82\xAC\xF4\x8F\xBF\xBF\xEF\xBF\xBD");
}

TEST(ReadingText, RefusesHalfASurrogatePair) {
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\ud800x")", R"("\ud800\n")", R"("\ud800\ud800")",
                           R"("\ud800\u0041")"}) {
    expect_refused(text, Kind::invalid_utf8, 1);
  }
  EXPECT_EQ(*read(R"("\ud83d\ude00\uD83D\uDE00")").as_string(), "\xF0\x9F\x98\x80\xF0\x9F\x98\x80");
}

TEST(ReadingText, UndoesEveryEscape) {
  EXPECT_EQ(*read(R"("\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC")").as_string(),
            "\"\\/\b\f\n\r\t\0\xC3\xA9\xE2\x82\xAC"s);
  EXPECT_EQ(*read("\"\x7F\"").as_string(), "\x7F");
}

TEST(ReadingText, RefusesTwoMembersOfOneName) {
  expect_refused(R"({"a":1,"a":2})", Kind::duplicate_name, 7);
  expect_refused(R"({"a":1,"\u0061":2})", Kind::duplicate_name, 7);
  expect_refused(R"([{"b":{"":1,"x":2,"":3}}])", Kind::duplicate_name, 18);
  EXPECT_TRUE(parse(R"({"a":{"a":1},"A":2})").ok());
}

TEST(ReadingText, RefusesTwoMembersOfOneNameInALargeObject) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"n" + std::to_string(i) + "\":[" + std::to_string(i) + "],";
  const std::string unique = text + "\"last\":0}";
  const std::string twice = text + "\"n500\":0}";
  EXPECT_TRUE(parse(unique).ok());
  expect_refused(twice, Kind::duplicate_name, twice.size());
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ReadingText, LimitsDepth) {
  EXPECT_TRUE(parse(nested(64)).ok());
  expect_refused(nested(65), Kind::too_deep, 64);
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += "{\"a\":";
  expect_refused(objects, Kind::too_deep, 64 * 5);
  Limits deep;
  deep.depth_max = 1'000'000;
  EXPECT_TRUE(parse(nested(1024), deep).ok());
  EXPECT_FALSE(parse(nested(1025), deep).ok());
  EXPECT_FALSE(parse(std::string(1'000'000, '['), deep).ok());
}

TEST(ReadingText, LimitsBytes) {
  Limits limits;
  limits.bytes_max = 6;
  EXPECT_TRUE(parse("[1,22]", limits).ok());
  const auto longer = parse("[1,222]", limits);
  ASSERT_FALSE(longer.ok());
  EXPECT_EQ(longer.error().kind, Kind::too_long);
}

TEST(ReadingText, LimitsValues) {
  Limits limits;
  limits.values_max = 3;
  EXPECT_TRUE(parse("[1,{}]", limits).ok());
  EXPECT_TRUE(parse(R"({"a":1,"b":2})", limits).ok());
  const auto more = parse("[1,2,3]", limits);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().kind, Kind::too_many_values);
}

TEST(CanonicalText, OfALongIntegerReadsBackAsTheSameValue) {
  const auto ones = parse("11111111111111111111111111111111111");
  ASSERT_TRUE(ones.ok());
  EXPECT_EQ(canonical(*ones), "1.1111111111111111111111111111111111e+34");
  const auto again = parse(canonical(*ones));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *ones);
  EXPECT_EQ(canonical(*again), canonical(*ones));
}

TEST(ReadingText, LimitsTheDigitsOfAnExponent) {
  EXPECT_TRUE(parse("1e999999999999999999").ok());
  expect_refused("1e9999999999999999999", Kind::too_long, 2);
}

TEST(ReadingText, SaysWhatIsWrongWithoutTheText) {
  const auto value = parse("{\"secret\":1,\"secret\":2}");
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(describe(value.error()), "An object has two members of one name (at byte 12).");
}

TEST(WritingText, EscapesAsEcmaScriptDoes) {
  EXPECT_EQ(write(Json("\"\\/\b\f\n\r\t\x01\x1f\x7f\xC3\xA9\xE2\x80\xA8"s)),
            "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xC3\xA9\xE2\x80\xA8\"");
}

TEST(WritingText, IsAlwaysUtf8) {
  EXPECT_EQ(write(Json("a\xFF\xED\xA0\x80z")), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\"");
}

TEST(WritingText, HasNoFormForWhatIsNotFinite) {
  EXPECT_EQ(write(Json(std::nan(""))), "null");
  EXPECT_EQ(write(Json(INFINITY)), "null");
}

TEST(WritingText, LaysDoublesOutAsEcmaScriptDoes) {
  const std::tuple<double, const char*> cases[] = {
      {0.0, "0"},
      {-0.0, "-0.0"},
      {1.0, "1"},
      {-1.5, "-1.5"},
      {1e21, "1e+21"},
      {1e20, "100000000000000000000"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {123e-20, "1.23e-18"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {0.1, "0.1"},
      {9007199254740994.0, "9007199254740994"},
      {4611686018427387904.0, "4611686018427388000"},
      {333333333.3333333, "333333333.3333333"},
      {123456.789, "123456.789"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(write(Json(value)), text);
}

// RFC 8785, appendix B.
TEST(CanonicalText, LaysOutTheNumbersOfTheStandard) {
  const std::tuple<std::uint64_t, const char*> cases[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : cases) EXPECT_EQ(canonical(Json(std::bit_cast<double>(bits))), text);
}

TEST(CanonicalText, SortsMembersByTheirUtf16Form) {
  // U+FB33 is after the surrogates of U+1F600, though before it as a code point. The example of RFC 8785, 3.2.3.
  EXPECT_EQ(
      canonical_of(
          R"({"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew","1":"One","\ud83d\ude00":"Emoji","\u0080":"Control","\u00f6":"Latin"})"),
      "{\"\\r\":\"Carriage "
      "Return\",\"1\":\"One\",\"\xC2\x80\":\"Control\",\"\xC3\xB6\":\"Latin\",\"\xE2\x82\xAC\":\"Euro Sign\","
      "\"\xF0\x9F\x98\x80\":\"Emoji\",\"\xEF\xAC\xB3\":\"Hebrew\"}");
  EXPECT_EQ(canonical_of(R"({"ab":1,"a":2,"":3})"), R"({"":3,"a":2,"ab":1})");
}

TEST(CanonicalText, IsOneForAllSpellingsOfANumber) {
  for (const char* text : {"1", "1.0", "1e0", "10e-1", "0.1E+1"}) EXPECT_EQ(canonical_of(text), "1") << text;
  for (const char* text : {"0", "-0", "-0.0", "0e5", "0.000"}) EXPECT_EQ(canonical_of(text), "0") << text;
  for (const char* text : {"1e400", "10e399", "0.1e401", "1.00E+400"})
    EXPECT_EQ(canonical_of(text), "1e+400") << text;
  EXPECT_EQ(canonical_of("1e-400"), "1e-400");
  EXPECT_EQ(canonical_of("4.611686018427388e18"), canonical_of("4611686018427388000"));
}

TEST(CanonicalText, KeepsApartWhatTheInputKeptApart) {
  EXPECT_EQ(canonical_of("9007199254740993"), "9007199254740993");
  EXPECT_EQ(canonical_of("9007199254740992"), "9007199254740992");
  EXPECT_EQ(canonical_of("18446744073709551616"), "18446744073709551616");
  EXPECT_EQ(canonical_of("18446744073709551617"), "18446744073709551617");
  EXPECT_EQ(canonical_of("9007199254740993.0"), "9007199254740993");
  EXPECT_EQ(canonical_of("100000000000000000000000000001"), "1.00000000000000000000000000001e+29");
}

std::string file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(CanonicalText, IsThatOfTheAuthorsVectors) {
  const std::filesystem::path vectors =
      std::filesystem::path(signet::testing::source_dir()) / "../shared/primitives/jcs";
  if (!std::filesystem::exists(vectors))
    GTEST_SKIP() << "the vectors of RFC 8785's author are not at " << vectors;
  for (const char* name : {"arrays", "french", "structures", "unicode", "values", "weird"}) {
    const std::string input = file(vectors / "input" / (name + ".json"s));
    ASSERT_FALSE(input.empty());
    EXPECT_EQ(canonical_of(input), file(vectors / "output" / (name + ".json"s))) << name;
  }
}

// Random values for the properties below. Every number kind, every string of scalar values.
class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : random_(seed) {}

  Json value(int depth) {
    switch (random_() % (depth > 0 ? 8 : 6)) {
      case 0:
        return Json();
      case 1:
        return Json(random_() % 2 == 0);
      case 2:
        return Json(static_cast<std::int64_t>(random_()) >> (random_() % 64));
      case 3:
        return Json(random_());
      case 4:
        return Json(std::bit_cast<double>(random_()));
      case 5:
        return Json(text());
      case 6: {
        JsonArray array;
        for (std::uint64_t n = random_() % 6; n > 0; --n) array.push_back(value(depth - 1));
        return Json(std::move(array));
      }
      default: {
        Json object{Json::Object()};
        for (std::uint64_t n = random_() % 24; n > 0; --n) object.set(text(), value(depth - 1));
        return object;
      }
    }
  }

  Json shuffled(const Json& value) {
    if (const JsonArray* array = value.as_array()) {
      JsonArray copy;
      for (const Json& element : *array) copy.push_back(shuffled(element));
      return Json(std::move(copy));
    }
    if (const Json::Object* object = value.as_object()) {
      std::vector<JsonMember> members;
      for (const auto& [name, member] : *object) members.emplace_back(name, shuffled(member));
      std::shuffle(members.begin(), members.end(), random_);
      return Json(Json::Object::from_unique(std::move(members)));
    }
    return value;
  }

 private:
  std::string text() {
    static const char* const pieces[] = {"a",
                                         "Z",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\x01",
                                         "\xC3\xA9",
                                         "\xEF\xAC\xB3",
                                         "\xF0\x9F\x98\x80",
                                         "long enough to leave the small buffer"};
    std::string out;
    for (std::uint64_t n = random_() % 5; n > 0; --n) out += pieces[random_() % std::size(pieces)];
    return out;
  }

  std::mt19937_64 random_;
};

TEST(TextProperties, WhatIsWrittenReadsBackEqual) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomJson random(seed);
  for (int i = 0; i < 3000; ++i) {
    const Json value = random.value(4);
    const std::string text = write(value);
    const auto again = parse(text);
    ASSERT_TRUE(again.ok()) << text;
    ASSERT_EQ(*again, value) << text;
    ASSERT_EQ(write(*again), text);
  }
}

TEST(TextProperties, EqualValuesHaveOneCanonicalForm) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomJson random(seed);
  for (int i = 0; i < 2000; ++i) {
    const Json value = random.value(4);
    const Json other = random.shuffled(value);
    ASSERT_EQ(value, other);
    const std::string text = canonical(value);
    ASSERT_EQ(text, canonical(other));
    const auto again = parse(text);
    ASSERT_TRUE(again.ok()) << text;
    ASSERT_EQ(canonical(*again), text);
    ASSERT_EQ(*again, value);
  }
}

TEST(TextProperties, AMillionDoublesSurviveTheWayThroughText) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    text.clear();
    append(text, Json(value));
    const auto again = parse(text);
    ASSERT_TRUE(again.ok()) << text;
    ASSERT_EQ(again->as_double(), value) << text;
    // An independent reader of the same text.
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
  }
}

TEST(Write, WithKindsADoubleStaysADouble) {
  for (const char* text :
       {"{\"n\":1.0}", "1", "-0.0", "100.0", "1e+21", "0.5", "9007199254740993", "1e400"}) {
    EXPECT_EQ(write_with_kinds(*parse(text)), text);
  }
  EXPECT_EQ(write_with_kinds(*parse("1e2")), "100.0");
}

TEST(TextProperties, EveryCutOfATextIsRefused) {
  const std::string text = R"({"a":[1.5e3,"\u00e9\ud83d\ude00",true,null,{"b":-12}],"c":"é"})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse(std::string_view(text).substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace signet::json
