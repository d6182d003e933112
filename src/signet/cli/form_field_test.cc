#include <signet/cli/form_field.h>

#include <gtest/gtest.h>

#include <signet/cli/answers.h>
#include <signet/json/text.h>

namespace signet::cli {
namespace {

FormField field(const std::string& schema, bool required = true) {
  Json form = *json::parse(R"({"type":"object","properties":{"f":)" + schema + "}}");
  if (required) form.set("required", Json::array({Json("f")}));
  return form_fields(form).at(0);
}

// The value as JSON, `-` where the field is left out, `!` where the line is refused.
std::string read(const FormField& of, std::string_view line) {
  const Result<std::optional<Json>> got = read_field(of, line);
  if (!got) return "!";
  return *got ? json::write(**got) : "-";
}

TEST(FormField, ReadsTextsWithinTheirBounds) {
  const FormField name = field(R"({"type":"string","minLength":2,"maxLength":3})");
  EXPECT_EQ(read(name, "ab"), "\"ab\"");
  EXPECT_EQ(read(name, "\xc3\xa4\xc3\xb6\xc3\xbc"), "\"\xc3\xa4\xc3\xb6\xc3\xbc\"");
  EXPECT_EQ(read(name, "a"), "!");
  EXPECT_EQ(read(name, "abcd"), "!");
  EXPECT_EQ(read(name, ""), "!");
  EXPECT_EQ(read(field(R"({"type":"string"})", false), ""), "-");
  EXPECT_EQ(read(field(R"({"type":"string","format":"email"})"), "a@b.example"), "\"a@b.example\"");
  EXPECT_EQ(read(field(R"({"type":"string","format":"date"})"), "tomorrow"), "!");
}

TEST(FormField, TakesNoTextThatIsNotUtf8) {
  EXPECT_EQ(read(field(R"({"type":"string"})"), "gr\xfc\xdf"), "!");
  EXPECT_EQ(read(field(R"({"type":"string"})"), "gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
}

TEST(FormField, ReadsNumbersWithinTheirBounds) {
  const FormField number = field(R"({"type":"number","minimum":1,"maximum":5})");
  EXPECT_EQ(read(number, " 1.5 "), "1.5");
  EXPECT_EQ(read(number, "0.9"), "!");
  EXPECT_EQ(read(number, "5.1"), "!");
  EXPECT_EQ(read(number, "1 2"), "!");
  EXPECT_EQ(read(field(R"({"type":"integer"})"), "1.5"), "!");
  EXPECT_EQ(read(field(R"({"type":"integer"})"), "-7"), "-7");
}

TEST(FormField, ReadsYesAndNoAndChoices) {
  EXPECT_EQ(read(field(R"({"type":"boolean"})"), "YES"), "true");
  EXPECT_EQ(read(field(R"({"type":"boolean"})"), "n"), "false");
  EXPECT_EQ(read(field(R"({"type":"boolean"})"), "maybe"), "!");
  const FormField titled =
      field(R"({"type":"string","oneOf":[{"const":"a","title":"First"},{"const":"b"}]})");
  EXPECT_EQ(read(titled, "1"), "\"a\"");
  EXPECT_EQ(read(titled, "first"), "\"a\"");
  EXPECT_EQ(read(titled, "b"), "\"b\"");
  EXPECT_EQ(read(titled, "3"), "!");
  EXPECT_EQ(read(titled, "0"), "!");
  const FormField many =
      field(R"({"type":"array","items":{"enum":["x","y","z"]},"minItems":1,"maxItems":2})");
  EXPECT_EQ(read(many, "3, x"), R"(["z","x"])");
  EXPECT_EQ(read(many, "1,1"), R"(["x"])");
  EXPECT_EQ(read(many, "1,2,3"), "!");
  EXPECT_EQ(read(many, "9"), "!");
}

TEST(FormField, AnEmptyLineMeansTheDefault) {
  EXPECT_EQ(read(field(R"({"type":"integer","default":30})"), ""), "30");
  EXPECT_EQ(fallback_text(field(R"({"type":"boolean","default":false})")), "no");
  EXPECT_EQ(fallback_text(field(R"({"type":"array","items":{"enum":["a","b"]},"default":["a","b"]})")),
            "a, b");
}

TEST(FormField, KnowsSecrets) {
  EXPECT_TRUE(form_fields(*json::parse(R"({"properties":{"Password":{"type":"string"}}})")).at(0).secret);
  EXPECT_TRUE(field(R"({"type":"string","format":"password"})").secret);
  EXPECT_FALSE(field(R"({"type":"string"})").secret);
}

Question form(const std::string& schema) {
  return Question("k", Question::Kind::form,
                  *json::parse(R"({"message":"m","requestedSchema":)" + schema + "}"));
}

TEST(PreparedAnswers, ComeFromAFileByKeyByFieldAndInTurn) {
  const Question asked = form(R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})");
  PreparedAnswers by_key;
  ASSERT_TRUE(by_key.add_file(R"({"k":{"n":1}})").ok());
  EXPECT_EQ((*by_key.find(asked))->json(), *json::parse(R"({"action":"accept","content":{"n":1}})"));
  PreparedAnswers by_field;
  ASSERT_TRUE(by_field.add_field("n=2").ok());
  EXPECT_EQ((*by_field.find(asked))->json(), *json::parse(R"({"action":"accept","content":{"n":2}})"));
  PreparedAnswers in_turn;
  ASSERT_TRUE(in_turn.add_file(R"({"k":[{"action":"decline"},{"n":3}]})").ok());
  EXPECT_EQ((*in_turn.find(asked))->json(), *json::parse(R"({"action":"decline"})"));
  EXPECT_EQ((*in_turn.find(asked))->json(), *json::parse(R"({"action":"accept","content":{"n":3}})"));
  EXPECT_FALSE(in_turn.find(asked)->has_value());
}

TEST(PreparedAnswers, ThatDoNotFitAreRefusedHere) {
  const Question asked = form(R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})");
  PreparedAnswers wrong;
  ASSERT_TRUE(wrong.add_file(R"({"k":{"n":"x"}})").ok());
  EXPECT_FALSE(wrong.find(asked).ok());
  EXPECT_FALSE(PreparedAnswers().add_file("[]").ok());
  EXPECT_FALSE(PreparedAnswers().find(asked)->has_value());
}

TEST(PreparedAnswers, YesAcceptsWhatNeedsNoInvention) {
  PreparedAnswers yes;
  yes.accept_everything();
  const Question sure = form(
      R"({"type":"object","properties":{"ok":{"type":"boolean"},"n":{"type":"integer","default":4}},"required":["ok"]})");
  EXPECT_EQ((*yes.find(sure))->json(), *json::parse(R"({"action":"accept","content":{"ok":true}})"));
  EXPECT_FALSE(
      yes.find(form(R"({"type":"object","properties":{"s":{"type":"string"}},"required":["s"]})")).ok());
}

TEST(Terminal, ShowsTextOfAServerHarmlessly) {
  EXPECT_EQ(printable("a\x1b[31mb\r\n\tc\x7f"), "a^[[31mb^M\n\tc^?");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x\xc2\x9b"
                      "31m"),
            "?x?31m");
  EXPECT_EQ(one_line("a\nb"), "a b");
  EXPECT_EQ(one_line("\xc3\xa4\xc3\xa4", 3), "\xc3\xa4...");
  EXPECT_EQ(printable("\xf0\x9f\x98\x80 \xe6\xbc\xa2 \xc3\xa9"), "\xf0\x9f\x98\x80 \xe6\xbc\xa2 \xc3\xa9");
  // A stray 0x9b starts a control sequence in an 8-bit terminal; overlong and cut sequences are none.
  EXPECT_EQ(printable("a\x9b"
                      "31m\xc0\x9b\xe2\x80"),
            "a?31m????");
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b\xd8\x9c"),
            "a?b?");
}

}  // namespace
}  // namespace signet::cli
