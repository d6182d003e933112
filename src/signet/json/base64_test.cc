#include <signet/json/base64.h>

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace signet::json {
namespace {

// RFC 4648, section 10.
TEST(Base64, HasTheVectorsOfTheStandard) {  // B24
  const std::tuple<const char*, const char*> cases[] = {{"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg=="},
                                                        {"fooba", "Zm9vYmE="},
                                                        {"foobar", "Zm9vYmFy"},
                                                        {"\xFB\xFF", "+/8="}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(base64_encode(as_bytes(bytes)), text);
    const auto decoded = base64_decode(text);
    ASSERT_TRUE(decoded.has_value()) << text;
    EXPECT_EQ(as_text(*decoded), bytes);
  }
}

TEST(Base64, RefusesEverySecondSpelling) {
  for (const char* text : {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zg==Zg==", "Z===", "====", "=", "Zm 9",
                           " Zg==", "Zg==\n", "-_8=", "Zm9v====", "Zm\xC3\xA9", "Z=g=", "AA=A"}) {
    EXPECT_FALSE(base64_decode(text).has_value()) << text;
  }
}

TEST(Base64, GivesBackAnyBytes) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes(random() % 100);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
  }
}

}  // namespace
}  // namespace signet::json
