#include <signet/rounds/journal.h>

#include <signet/base/source_dir_for_tests.h>
#include <signet/json/text.h>

#include <gtest/gtest.h>

#include <fstream>
#include <map>

namespace signet::rounds {
namespace {

using Vector = std::map<std::string, std::string>;

std::vector<Vector> vectors() {
  std::ifstream file(signet::testing::source_dir() + "/src/signet/rounds/testdata/journals.txt");
  std::vector<Vector> all;
  Vector current;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() && !current.empty()) all.push_back(std::exchange(current, {}));
    const std::size_t colon = line.find(": ");
    if (line.empty() || line.front() == '#' || colon == std::string::npos) continue;
    current[line.substr(0, colon)] = line.substr(colon + 2);
  }
  if (!current.empty()) all.push_back(current);
  return all;
}

Bytes unhex(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

Journal described(const std::string& entries) {
  Journal journal;
  const Json list = *json::parse(entries);
  for (const Json& line : *list.as_array()) {
    const Json* question = line.find("question");
    journal.add(Entry(static_cast<Entry::Kind>(*line.find("kind")->as_int64()), *line.find_string("key"),
                      question != nullptr ? question_digest(*question) : Digest(), *line.find("value")));
  }
  return journal;
}

TEST(Journal, ReadsAndWritesEveryVectorOctetForOctet) {
  int opened = 0;
  int refused = 0;
  for (const Vector& vector : vectors()) {
    SCOPED_TRACE(vector.at("name"));
    const Bytes bytes = unhex(vector.count("bytes") != 0 ? vector.at("bytes") : "");
    Result<Journal, Malformed> journal = Journal::decode(bytes);
    if (vector.at("expect") == "malformed") {
      EXPECT_FALSE(journal.ok());
      ++refused;
      continue;
    }
    ASSERT_TRUE(journal.ok());
    Result<Bytes, Oversize> again = journal->encode(100'000);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(hex(*again), hex(bytes));
    EXPECT_EQ(hex(*described(vector.at("entries")).encode(100'000)), hex(bytes));
    ++opened;
  }
  EXPECT_EQ(opened, 6);
  EXPECT_EQ(refused, 16);
}

TEST(Journal, NamesTheKeyThatCrossedTheLimit) {
  Journal journal;
  journal.add(Entry(Entry::Kind::step, "small", Digest(), Json("x")));
  journal.add(Entry(Entry::Kind::step, "large", Digest(), Json(std::string(1000, 'x'))));
  journal.add(Entry(Entry::Kind::step, "last", Digest(), Json("x")));

  Result<Bytes, Oversize> refused = journal.encode(500);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().key, "large");
  EXPECT_GT(refused.error().bytes, 500U);

  const std::size_t size = journal.encode(100'000)->size();
  EXPECT_TRUE(journal.encode(size).ok());
  Result<Bytes, Oversize> one_less = journal.encode(size - 1);
  ASSERT_FALSE(one_less.ok());
  EXPECT_EQ(one_less.error().key, "last");
}

TEST(Journal, RefusesMoreEntriesThanItMayHave) {
  Journal journal;
  for (std::size_t i = 0; i < entries_max; ++i) {
    journal.add(Entry(Entry::Kind::step, "s" + std::to_string(i), Digest(), Json(1)));
  }
  EXPECT_TRUE(Journal::decode(*journal.encode(1'000'000)).ok());
  journal.add(Entry(Entry::Kind::step, "one more", Digest(), Json(1)));
  EXPECT_FALSE(Journal::decode(*journal.encode(1'000'000)).ok());
}

TEST(QuestionDigest, IsTheSameForOneQuestionHoweverItsMembersAreOrdered) {
  const Json one = *json::parse(R"({"method":"m","params":{"a":1,"b":[1.0]}})");
  const Json other = *json::parse(R"({"params":{"b":[1],"a":1.0},"method":"m"})");
  const Json reworded = *json::parse(R"({"params":{"b":[1],"a":2},"method":"m"})");
  EXPECT_EQ(question_digest(one), question_digest(other));
  EXPECT_NE(question_digest(one), question_digest(reworded));
}

}  // namespace
}  // namespace signet::rounds
