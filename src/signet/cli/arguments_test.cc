#include <signet/cli/arguments.h>

#include <gtest/gtest.h>

#include <signet/json/text.h>

namespace signet::cli {
namespace {

using Words = std::vector<std::string>;

const OptionNames ours{{"--yes", "--json"}, {"--answers", "--answer"}};

Split split(const Words& words, std::size_t trailing = 1) {
  const Result<Split> result = split_command(words, trailing, ours);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result ? *result : Split();
}

TEST(Arguments, WithoutACommandAllWordsAreOurs) {
  const Split got = split({"http://x", "tool", "a=1", "--yes"});
  EXPECT_TRUE(got.command.empty());
  EXPECT_EQ(got.words, (Words{"http://x", "tool", "a=1", "--yes"}));
}

TEST(Arguments, TheLastWordThatIsNotOursIsTheTool) {
  const Split got = split(
      {"--yes", "--", "node", "server.js", "--port=3", "book", "a=1", "b:=[2]", "--answers", "f", "--json"});
  EXPECT_EQ(got.command, (Words{"node", "server.js", "--port=3"}));
  EXPECT_EQ(got.words, (Words{"--yes", "book", "a=1", "b:=[2]", "--answers", "f", "--json"}));
  EXPECT_EQ(split({"--", "npx", "--yes", "pkg", "tool"}).command, (Words{"npx", "--yes", "pkg"}));
  EXPECT_EQ(split({"--", "s", "tool", "--answer", "name=Ada"}).command, Words{"s"});
  EXPECT_EQ(split({"--", "s", "tool", "--json", "{\"a\":1}"}).words, (Words{"tool", "--json", "{\"a\":1}"}));
}

TEST(Arguments, ASecondDashEndsTheCommand) {
  const Split got = split({"--", "s", "x=1", "--answers", "--", "tool", "--yes"});
  EXPECT_EQ(got.command, (Words{"s", "x=1", "--answers"}));
  EXPECT_EQ(got.words, (Words{"tool", "--yes"}));
}

TEST(Arguments, WhereNothingTrailsTheWholeRestIsTheCommand) {
  EXPECT_EQ(split({"tools", "--", "s", "--yes"}, 0).command, (Words{"s", "--yes"}));
}

TEST(Arguments, RefusesACommandWithoutATool) {
  EXPECT_FALSE(split_command({"--"}, 1, ours).ok());
  EXPECT_FALSE(split_command({"--", "server"}, 1, ours).ok());
  EXPECT_FALSE(split_command({"--", "server", "--fast"}, 1, ours).ok());
  EXPECT_FALSE(split_command({"--", "--", "tool"}, 1, ours).ok());
}

TEST(Arguments, TellsJsonForTheToolFromJsonForThePipe) {
  EXPECT_EQ(separate_json({"--json", "{}"}), (Words{"--arguments", "{}"}));
  EXPECT_EQ(separate_json({"--json", "@f"}), (Words{"--arguments", "@f"}));
  EXPECT_EQ(separate_json({"--json", "tool"}), (Words{"--json", "tool"}));
  EXPECT_EQ(separate_json({"--json={}", "--json"}), (Words{"--arguments={}", "--json"}));
  EXPECT_EQ(separate_json({"--", "s", "--json", "{}"}), (Words{"--", "s", "--json", "{}"}));
}

TEST(Arguments, TakesTypesFromTheSchema) {
  const Json schema = *json::parse(R"({"properties":{"n":{"type":"integer"},"x":{"type":["null","number"]},
    "b":{"type":"boolean"},"l":{"type":"array"},"s":{"type":"string"}}})");
  const Result<Json> got = arguments_from(
      {"n=12345678901234567", "x=1.5", "b=true", "l=a", "l=b", "s=7", "free=7", "raw:={\"a\":null}"}, schema);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(
      *got,
      *json::parse(
          R"({"n":12345678901234567,"x":1.5,"b":true,"l":["a","b"],"s":"7","free":"7","raw":{"a":null}})"));
  EXPECT_FALSE(arguments_from({"n=two"}, schema).ok());
  EXPECT_FALSE(arguments_from({"n=1.5"}, schema).ok());
  EXPECT_FALSE(arguments_from({"s=1", "s=2"}, schema).ok());
  EXPECT_FALSE(arguments_from({"raw:=nothing"}, schema).ok());
  EXPECT_FALSE(arguments_from({"word"}, schema).ok());
}

TEST(Arguments, KnowsAddresses) {
  EXPECT_EQ(as_url("https://a/mcp"), "https://a/mcp");
  EXPECT_EQ(as_url("localhost:80/mcp"), "http://localhost:80/mcp");
  EXPECT_FALSE(as_url("server").has_value());
  EXPECT_FALSE(as_url("ftp://a").has_value());
}

TEST(Arguments, NamesThoseThatTheToolDoesNotHave) {
  const Json given = *json::parse(R"({"ticket":42,"tcket":3,"other":1})");
  const auto unknown = [&](const char* schema) { return unknown_arguments(given, *json::parse(schema)); };
  EXPECT_EQ(
      unknown(R"({"properties":{"ticket":{}}})"),
      (Words{"the tool has no argument tcket; did you mean ticket?", "the tool has no argument other"}));
  EXPECT_EQ(unknown(R"({"properties":{"ticket":{}},"additionalProperties":false})").size(), 2U);
  for (const char* open :
       {"null", "{}", "true", R"({"properties":{"ticket":{}},"additionalProperties":true})",
        R"({"properties":{"ticket":{}},"additionalProperties":{"type":"integer"}})",
        R"({"properties":{"ticket":{}},"patternProperties":{"^o":{}}})",
        R"({"properties":{"ticket":{}},"allOf":[{"properties":{"other":{},"tcket":{}}}]})"}) {
    EXPECT_TRUE(unknown(open).empty()) << open;
  }
}

TEST(Arguments, TheNearestNameIsNoFartherThanATypo) {
  const Words names{"ticket", "title", "id"};
  EXPECT_EQ(nearest_name("tiket", names), "ticket");
  EXPECT_EQ(nearest_name("titel", names), "title");
  EXPECT_EQ(nearest_name("is", names), "id");
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(nearest_name("resolution", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
}

TEST(Arguments, ACommandLineIsWhatAShellReadsBack) {
  Target url;
  url.url = "http://127.0.0.1:1/mcp?a=1&b=2";
  EXPECT_EQ(command_line("call", url, {"tool", "--json", R"({"a":"it's"})"}),
            R"(signet call 'http://127.0.0.1:1/mcp?a=1&b=2' tool --json '{"a":"it'\''s"}')");
  Target process;
  process.command = {"./server", "--name", ""};
  EXPECT_EQ(command_line("read", process, {"file:///n.txt"}),
            "signet read -- ./server --name '' -- file:///n.txt");
}

}  // namespace
}  // namespace signet::cli
