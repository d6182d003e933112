#include <signet/cli/answers.h>

#include <signet/json/text.h>

#include <gtest/gtest.h>

namespace signet::cli {
namespace {

Question choice() {
  return Question("how", Question::Kind::form,
                  json::parse(R"({"message":"How?","requestedSchema":{"type":"object","properties":{)"
                              R"("resolution":{"type":"string","enum":["Fixed","Duplicate"]}},)"
                              R"("required":["resolution"]}})")
                      .value());
}

TEST(PreparedAnswers, YesIsNoAnswerToAChoiceAndTheSentenceSaysSo) {
  PreparedAnswers prepared;
  prepared.accept_everything();
  const Result<std::optional<Answer>> found = prepared.find(choice());
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(found.error().message.starts_with("--yes does not answer how: resolution is missing"))
      << found.error().message;
}

TEST(PreparedAnswers, AValueThatDoesNotFitIsThePreparedAnswerWithYesOrWithout) {
  for (const bool yes : {false, true}) {
    PreparedAnswers prepared;
    if (yes) prepared.accept_everything();
    ASSERT_TRUE(prepared.add_field("resolution=Lost").ok());
    const Result<std::optional<Answer>> found = prepared.find(choice());
    ASSERT_FALSE(found.ok());
    EXPECT_TRUE(found.error().message.starts_with("the prepared answer to how does not fit: "))
        << found.error().message;
  }
}

TEST(PreparedAnswers, AValueThatFitsAnswersTheChoice) {
  PreparedAnswers prepared;
  prepared.accept_everything();
  ASSERT_TRUE(prepared.add_field("resolution=Fixed").ok());
  const Result<std::optional<Answer>> found = prepared.find(choice());
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(*(**found).json().find("content")->find("resolution"), Json("Fixed"));
}

Question party() {
  return Question(
      "k", Question::Kind::form,
      json::parse(R"({"message":"How many?","requestedSchema":{"type":"object","properties":{)"
                  R"("guests":{"type":"integer","minimum":1,"maximum":8},"note":{"type":"string"}},)"
                  R"("required":["guests"]}})")
          .value());
}

TEST(PreparedAnswers, TheReasonIsTheSameWhereverAnAnswerComesFrom) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"99", "this must be at most 8"},
                                                                  {"1.5", "this must be a whole number"}};
  for (const auto& [text, reason] : cases) {
    PreparedAnswers typed;
    ASSERT_TRUE(typed.add_field("guests=" + text).ok());
    PreparedAnswers in_file;
    ASSERT_TRUE(in_file.add_file(R"({"k":{"guests":)" + text + "}}").ok());
    for (PreparedAnswers* prepared : {&typed, &in_file}) {
      const Result<std::optional<Answer>> found = prepared->find(party());
      ASSERT_FALSE(found.ok());
      EXPECT_EQ(found.error().message, "the prepared answer to k does not fit: guests: " + reason);
    }
  }
}

TEST(PreparedAnswers, AnEmptyTextIsOne) {
  PreparedAnswers prepared;
  ASSERT_TRUE(prepared.add_field("note=").ok() && prepared.add_field("guests=2").ok());
  const Result<std::optional<Answer>> found = prepared.find(party());
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(*(**found).json().find("content"), *json::parse(R"({"guests":2,"note":""})"));
}

TEST(PreparedAnswers, WhatNoQuestionTookIsNamed) {
  PreparedAnswers prepared;
  for (const char* field : {"guest=2", "guests=3", "bogus=1"}) ASSERT_TRUE(prepared.add_field(field).ok());
  EXPECT_EQ(prepared.untaken().size(), 3U);
  ASSERT_TRUE(prepared.find(party()).ok());
  EXPECT_EQ(prepared.untaken(), (std::vector<std::string>{
                                    "nothing asked for bogus, which --answer gives",
                                    "nothing asked for guest, which --answer gives; did you mean guests?"}));
}

TEST(PreparedAnswers, AFileThatIsCutOffIsSaidToEndEarly) {
  for (const char* text : {R"({"k":)", R"({"k":"v)", R"({"k":1)"}) {
    const Result<void> added = PreparedAnswers().add_file(text);
    ASSERT_FALSE(added.ok());
    EXPECT_NE(added.error().message.find("ends early"), std::string::npos) << text;
  }
  EXPECT_EQ(PreparedAnswers().add_file(R"({"k":x})").error().message.find("ends early"), std::string::npos);
}

}  // namespace
}  // namespace signet::cli
