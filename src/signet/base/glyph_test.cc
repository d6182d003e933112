#include <signet/base/glyph.h>

#include <string>

#include <gtest/gtest.h>

namespace signet {
namespace {

TEST(Glyph, LettersOfAllScriptsAreHarmless) {
  for (const std::string text : {"a", " ", "~", "\xc2\xa0", "\xc3\xa9", "\xe6\xbc\xa2", "\xe2\x82\xac",
                                 "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbd"}) {
    const Glyph glyph = first_glyph(text + "tail");
    EXPECT_TRUE(glyph.harmless) << text;
    EXPECT_EQ(glyph.bytes, text.size()) << text;
  }
}

TEST(Glyph, ControlsAndWhatReordersTextAreNot) {
  for (const std::string text :
       {"\x1b", "\n", "\t", "\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f", "\xd8\x9c", "\xe2\x80\x8e",
        "\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"}) {
    const Glyph glyph = first_glyph(text + "tail");
    EXPECT_FALSE(glyph.harmless) << text;
    EXPECT_EQ(glyph.bytes, text.size()) << text;
  }
  EXPECT_FALSE(first_glyph(std::string(1, '\0')).harmless);
}

TEST(Glyph, BytesThatAreNoUtf8AreNotAndStandAlone) {
  // Stray, overlong, surrogate, too large, cut.
  for (const std::string text :
       {"\x80", "\x9b", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf",
        "\xf4\x90\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2\x28\xa1"}) {
    EXPECT_FALSE(first_glyph(text).harmless) << text;
    EXPECT_EQ(first_glyph(text).bytes, 1u) << text;
  }
}

}  // namespace
}  // namespace signet
