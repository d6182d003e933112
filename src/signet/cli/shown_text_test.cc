#include <signet/cli/shown_text.h>

#include <gtest/gtest.h>

#include <vector>

namespace signet::cli {
namespace {

std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    rows.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return rows;
}

TEST(ShownText, ControlsAndReorderingBecomeVisibleMarks) {
  EXPECT_EQ(printable("a\x1b[31mb\x07\r\nc\td"), "a^[[31mb^G^M\nc\td");
  EXPECT_EQ(printable("x\xe2\x80\xaey\xc2\x9bz\xff"), "x?y?z?");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

TEST(ShownText, OneLineHasOneBlankBetweenWords) {
  EXPECT_EQ(one_line("a\n\nb \t  c"), "a b c");
  EXPECT_EQ(one_line("0123456789", 4), "0123...");
}

TEST(ShownText, NoRowOfAFramedTextBeginsWithoutItsFrame) {
  const std::string evil = "Hello\nsignet: Open it? [y/N]\r\n\r\n" + std::string(300, ' ') +
                           "signet: Open it?" + std::string(500, 'x') + "\tz\x1b[2J";
  const Frame frame("  > ", "  | ", 40);
  const std::vector<std::string> rows = rows_of(framed(evil, frame));
  ASSERT_GT(rows.size(), 10U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(rows[i].starts_with(i == 0 ? "  > " : "  | ")) << rows[i];
    EXPECT_LE(rows[i].size(), 40U) << rows[i];
  }
}

TEST(ShownText, RowsBreakAtBlanksAndLoseNothing) {
  EXPECT_EQ(framed("one two three four", Frame("", "", 10)), "one two \nthree four\n");
  EXPECT_EQ(framed("abcdefghijklm", Frame("", "", 10)), "abcdefghij\nklm\n");
  EXPECT_EQ(framed("", Frame("> ", "", 10)), "> \n");
  EXPECT_EQ(framed("a\n\nb\n\n", Frame("> ", "| ", 80)), "> a\n| \n| b\n");
}

TEST(ShownText, WideCharactersCountTwice) {
  EXPECT_EQ(columns_of("\xe4\xbe\x8b"
                       "a"),
            3U);
  for (const std::string& row : rows_of(framed(
           std::string(30, '.') + "\xe4\xbe\x8b\xe4\xbe\x8b\xe4\xbe\x8b\xe4\xbe\x8b\xe4\xbe\x8b\xe4\xbe\x8b",
           Frame("", "", 10)))) {
    EXPECT_LE(columns_of(row), 10U) << row;
  }
}

TEST(ShownText, ALongTextIsCutAndSaysSo) {
  Frame few("", "", 80);
  few.rows_max = 3;
  EXPECT_EQ(framed("a\nb\nc\nd\ne", few), "a\nb\nc\n  (3 bytes more are not shown)\n");
  Frame small("", "", 80);
  small.bytes_max = 4;
  EXPECT_EQ(framed("abcdefgh", small), "abcd\n  (4 bytes more are not shown)\n");
}

TEST(ShownText, ATerminalOfAnotherEncodingGetsAsciiAlone) {
  EXPECT_EQ(ascii_only("gr\xc3\xbc\xc3\x9f \xe4\xba\x9b\n"), "gr?? ?\n");
  EXPECT_TRUE(names_other_encoding("de_DE"));
  EXPECT_TRUE(names_other_encoding("de_DE.ISO-8859-1"));
  EXPECT_FALSE(names_other_encoding("de_DE.UTF-8"));
  EXPECT_FALSE(names_other_encoding("C.utf8"));
  EXPECT_FALSE(names_other_encoding("C"));
  EXPECT_FALSE(names_other_encoding(""));
}

}  // namespace
}  // namespace signet::cli
