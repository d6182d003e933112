#include <signet/rounds/round.h>

#include <signet/json/text.h>

#include <gtest/gtest.h>

namespace signet::rounds {
namespace {

using Outcome = Round::Outcome;

Json question(const std::string& words) {
  Json params;
  params.set("message", words);
  Json request;
  request.set("method", "elicitation/create");
  request.set("params", std::move(params));
  return request;
}

// What is no string is no answer.
std::optional<std::string> must_be_text(const Json& answer) {
  if (answer.is_string()) return std::nullopt;
  return "It must be a text.";
}

// One round written down: what the handler asks (key and words, in order), and what came with the request.
struct Step {
  std::vector<std::pair<std::string, std::string>> asks;
  std::string responses = "{}";
};

// The journal and the keys that are pending after a run that asks everything of `step` in one round.
struct After {
  Journal journal;
  std::vector<std::string> pending;
  std::vector<std::string> answered;
};

After run(Journal journal, const Step& step, Unasked unasked = Unasked::ignored) {
  Round round(std::move(journal), *json::parse(step.responses)->as_object(), unasked);
  After after;
  for (const auto& [key, words] : step.asks) {
    const Round::Asked asked = round.ask(key, question(words), must_be_text);
    if (asked.outcome == Outcome::answered) after.answered.push_back(key + "=" + *asked.answer->as_string());
  }
  for (const Pending& pending : round.pending()) after.pending.push_back(pending.key);
  after.journal = std::move(round).finish();
  return after;
}

using Keys = std::vector<std::string>;

struct Row {
  std::string name;
  std::vector<Step> rounds;  // the last is looked at
  Keys pending;
  Keys answered;
  Unasked unasked = Unasked::ignored;
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows{
      {"a first question is pending", {{{{"a", "A?"}}}}, {"a"}, {}},
      {"an answer settles it", {{{{"a", "A?"}}}, {{{"a", "A?"}}, R"({"a":"1"})"}}, {}, {"a=1"}},
      {"no answer asks again", {{{{"a", "A?"}}}, {{{"a", "A?"}}, "{}"}}, {"a"}, {}},
      {"an answer that fails its check asks again",
       {{{{"a", "A?"}}}, {{{"a", "A?"}}, R"({"a":5})"}},
       {"a"},
       {}},
      {"an answer to a reworded question asks again",
       {{{{"a", "A?"}}}, {{{"a", "A, really?"}}, R"({"a":"1"})"}},
       {"a"},
       {}},
      {"a settled answer is kept in later rounds",
       {{{{"a", "A?"}}},
        {{{"a", "A?"}, {"b", "B?"}}, R"({"a":"1"})"},
        {{{"a", "A?"}, {"b", "B?"}}, R"({"b":"2"})"}},
       {},
       {"a=1", "b=2"}},
      {"a settled answer cannot be changed by answering again",
       {{{{"a", "A?"}}},
        {{{"a", "A?"}, {"b", "B?"}}, R"({"a":"1"})"},
        {{{"a", "A?"}, {"b", "B?"}}, R"({"a":"9","b":"2"})"}},
       {},
       {"a=1", "b=2"}},
      {"a settled question that is reworded is asked again, the others are not",
       {{{{"a", "A?"}, {"b", "B?"}}},
        {{{"a", "A?"}, {"b", "B?"}, {"c", "C?"}}, R"({"a":"1","b":"2"})"},
        {{{"a", "Other?"}, {"b", "B?"}, {"c", "C?"}}, R"({"a":"9","c":"3"})"}},
       {"a"},
       {"b=2", "c=3"}},
      {"a reworded question can be answered in its new words",
       {{{{"a", "A?"}}}, {{{"a", "Other?"}}, R"({"a":"1"})"}, {{{"a", "Other?"}}, R"({"a":"2"})"}},
       {},
       {"a=2"}},
      {"of several questions only the missing one is asked again",
       {{{{"a", "A?"}, {"b", "B?"}}}, {{{"a", "A?"}, {"b", "B?"}}, R"({"a":"1"})"}},
       {"b"},
       {"a=1"}},
      {"an answer to a later question does not count before it was asked",
       {{{{"a", "A?"}}}, {{{"a", "A?"}, {"b", "B?"}}, R"({"a":"1","b":"2"})"}},
       {"b"},
       {"a=1"}},
      {"an answer nobody asked for is ignored", {{{{"a", "A?"}}, R"({"a":"1"})"}}, {"a"}, {}},
      {"unless the tool takes such answers",
       {{{{"a", "A?"}}, R"({"a":"1","z":"9"})"}},
       {},
       {"a=1"},
       Unasked::taken},
      {"which are checked all the same", {{{{"a", "A?"}}, R"({"a":1})"}}, {"a"}, {}, Unasked::taken},
      {"a question that a round did not ask cannot be answered after it",
       {{{{"a", "A?"}, {"b", "B?"}}}, {{{"a", "A?"}}, "{}"}, {{{"a", "A?"}, {"b", "B?"}}, R"({"b":"2"})"}},
       {"a", "b"},
       {}},
      {"an answer waits while a question before its own is asked again",
       {{{{"a", "A?"}}},
        {{{"a", "A?"}, {"b", "B?"}}, R"({"a":"1"})"},
        {{{"a", "Other?"}}, R"({"b":"2"})"},
        {{{"a", "Other?"}, {"b", "B?"}}, R"({"a":"3","b":"4"})"}},
       {},
       {"a=3", "b=2"}},
      {"and is checked when its question is come to",
       {{{{"a", "A?"}, {"b", "B?"}}},
        {{{"a", "Other?"}}, R"({"b":5})"},
        {{{"a", "Other?"}, {"b", "B?"}}, R"({"a":"3"})"}},
       {"b"},
       {"a=3"}},
      {"which must read as it did when it was asked",
       {{{{"a", "A?"}, {"b", "B?"}}},
        {{{"a", "Other?"}}, R"({"b":"2"})"},
        {{{"a", "Other?"}, {"b", "B, really?"}}, R"({"a":"3"})"}},
       {"b"},
       {"a=3"}},
      {"an answer nobody asked for does not wait",
       {{{{"a", "A?"}}}, {{{"a", "A?"}}, R"({"b":"2"})"}, {{{"a", "A?"}, {"b", "B?"}}, R"({"a":"1"})"}},
       {"b"},
       {"a=1"}},
  };
  return rows;
}

TEST(Round, FollowsTheTable) {
  for (const Row& row : table()) {
    SCOPED_TRACE(row.name);
    After after;
    for (const Step& step : row.rounds) after = run(std::move(after.journal), step, row.unasked);
    EXPECT_EQ(after.pending, row.pending);
    EXPECT_EQ(after.answered, row.answered);
  }
}

TEST(Round, GivesTheSameWhetherTheJournalStaysOrTravels) {
  for (const Row& row : table()) {
    SCOPED_TRACE(row.name);
    After after;
    for (const Step& step : row.rounds) {
      Journal travelled = *Journal::decode(*after.journal.encode(100'000));
      after = run(std::move(travelled), step, row.unasked);
    }
    EXPECT_EQ(after.pending, row.pending);
    EXPECT_EQ(after.answered, row.answered);
  }
}

TEST(Round, SaysWhyAnAnswerDidNotCount) {
  const After asked = run(Journal(), {{{"a", "A?"}}});
  Json::Object responses;
  responses.set("a", 5);
  Round round(asked.journal, std::move(responses));
  EXPECT_EQ(round.ask("a", question("A?"), must_be_text).outcome, Outcome::pending);
  ASSERT_EQ(round.pending().size(), 1U);
  EXPECT_EQ(round.pending().front().reason, "It must be a text.");
  EXPECT_EQ(round.pending().front().question, question("A?"));
}

TEST(Round, RefusesAnotherQuestionUnderAKeyOfTheSameRun) {
  Round round(Journal(), {});
  EXPECT_EQ(round.ask("a", question("A?"), must_be_text).outcome, Outcome::pending);
  EXPECT_EQ(round.ask("a", question("A?"), must_be_text).outcome, Outcome::pending);
  EXPECT_EQ(round.ask("a", question("Other?"), must_be_text).outcome, Outcome::key_reused);
  EXPECT_EQ(round.pending().size(), 1U);
}

TEST(Round, RefusesKeysThatAreEmptyOrTooLong) {
  Round round(Journal(), {});
  EXPECT_EQ(round.ask("", question("A?"), must_be_text).outcome, Outcome::bad_key);
  EXPECT_EQ(round.ask(std::string(key_bytes_max + 1, 'k'), question("A?"), must_be_text).outcome,
            Outcome::bad_key);
  EXPECT_EQ(round.ask(std::string(key_bytes_max, 'k'), question("A?"), must_be_text).outcome,
            Outcome::pending);
  EXPECT_FALSE(round.remember("", 1));
}

TEST(Round, RemembersWhatAStepComputed) {
  Round first(Journal(), {});
  EXPECT_EQ(first.remembered("card"), nullptr);
  EXPECT_TRUE(first.remember("card", 7));
  Round second(std::move(first).finish(), {});
  ASSERT_NE(second.remembered("card"), nullptr);
  EXPECT_EQ(*second.remembered("card"), Json(7));
}

TEST(Round, SettlesWhatIsAnsweredInTheSameRun) {
  Round round(Journal(), {});
  EXPECT_EQ(round.ask("a", question("A?"), must_be_text).outcome, Outcome::pending);
  round.settle("a", "yes");
  EXPECT_TRUE(round.pending().empty());
  EXPECT_EQ(*round.ask("a", question("A?"), must_be_text).answer, Json("yes"));
}

TEST(ExplicitRound, SeesAnswersAsTheyAreOnlyWhereAnotherSystemAsked) {
  Json::Object answers;
  answers.set("a", "1");
  const Round elsewhere(Journal(), answers, Unasked::elsewhere);
  EXPECT_EQ(Json(elsewhere.responses()), *json::parse(R"({"a":"1"})"));
  for (const Unasked unasked : {Unasked::ignored, Unasked::taken}) {
    EXPECT_TRUE(Round(Journal(), answers, unasked).responses().empty());
  }
}

TEST(ExplicitRound, KeepsAnswersAndStateAndAsksOnlyWhatItIsTold) {
  const auto check = [](const Json& asked, const Json& answer) {
    EXPECT_EQ(*asked.find_string("method"), "elicitation/create");
    return must_be_text(answer);
  };
  Round first(Journal(), {});
  first.accept(check);
  EXPECT_TRUE(first.responses().empty());
  EXPECT_TRUE(first.state().is_null());
  EXPECT_EQ(first.ask_explicitly("a", question("A?")), Outcome::pending);
  EXPECT_EQ(first.ask_explicitly("b", question("B?")), Outcome::pending);
  EXPECT_EQ(first.ask_explicitly("b", question("B?")), Outcome::key_reused);
  first.set_state(Json("one"));

  Json::Object answers;
  answers.set("a", "1");
  answers.set("b", 2);
  answers.set("c", "nobody asked");
  Round second(std::move(first).finish(), std::move(answers));
  second.accept(check);
  EXPECT_EQ(Json(second.responses()), *json::parse(R"({"a":"1"})"));
  EXPECT_EQ(second.state(), Json("one"));
  EXPECT_EQ(second.ask_explicitly("b", question("B?")), Outcome::pending);
  EXPECT_EQ(second.pending().front().reason, "It must be a text.");
  second.set_state(Json());

  Json::Object last;
  last.set("b", "2");
  Round third(std::move(second).finish(), std::move(last));
  third.accept(check);
  EXPECT_EQ(Json(third.responses()), *json::parse(R"({"a":"1","b":"2"})"));
  EXPECT_TRUE(third.state().is_null());
}

TEST(Round, HasSoManyEntriesAndNoMore) {
  Round full(Journal(), {});
  for (std::size_t i = 0; i < entries_max; ++i) ASSERT_TRUE(full.remember("s" + std::to_string(i), 0));
  EXPECT_TRUE(full.remember("s0", 1));  // known already
  EXPECT_FALSE(full.remember("one more", 0));
  EXPECT_EQ(full.ask("one more", question("A?"), must_be_text).outcome, Outcome::too_many);
  EXPECT_EQ(full.ask_explicitly("another", question("A?")), Outcome::too_many);
  EXPECT_FALSE(full.set_state(Json("s")));
  EXPECT_TRUE(full.set_state(Json()));
  const Journal journal = std::move(full).finish();
  const auto again = Journal::decode(*journal.encode(std::size_t{1} << 20));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->entries().size(), entries_max);

  Round almost(Journal(), {});
  for (std::size_t i = 1; i < entries_max; ++i) ASSERT_TRUE(almost.remember("s" + std::to_string(i), 0));
  EXPECT_TRUE(almost.set_state(Json("s")));
  EXPECT_TRUE(almost.set_state(Json("t")));
  EXPECT_FALSE(almost.remember("one more", 0));
  EXPECT_TRUE(Journal::decode(*std::move(almost).finish().encode(std::size_t{1} << 20)).ok());
}

TEST(ExplicitRound, AsksAgainWhatTheSameRunHadAnAnswerTo) {
  Round first(Journal(), {});
  EXPECT_EQ(first.ask("a", question("A?"), must_be_text).outcome, Outcome::pending);
  Json::Object answers;
  answers.set("a", "1");
  Round second(std::move(first).finish(), std::move(answers));
  EXPECT_EQ(second.ask("a", question("A?"), must_be_text).outcome, Outcome::answered);
  EXPECT_EQ(second.ask_explicitly("a", question("Other?")), Outcome::key_reused);
  EXPECT_EQ(second.ask_explicitly("a", question("A?")), Outcome::pending);
  EXPECT_EQ(second.ask_explicitly("a", question("A?")), Outcome::key_reused);
  EXPECT_EQ(second.pending().size(), 1U);

  Json::Object better;
  better.set("a", "2");
  Round third(std::move(second).finish(), std::move(better));
  const Round::Asked asked = third.ask("a", question("A?"), must_be_text);
  ASSERT_EQ(asked.outcome, Outcome::answered);
  EXPECT_EQ(*asked.answer, Json("2"));
}

}  // namespace
}  // namespace signet::rounds
