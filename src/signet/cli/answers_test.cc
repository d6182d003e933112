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

}  // namespace
}  // namespace signet::cli
