// What the specification wants of a server and the tests of each part do not reach. The numbers: doc/requirements.md.
#include <signet/server/call.h>
#include <signet/server/content.h>
#include <signet/server/server.h>

#include <signet/base/source_dir_for_tests.h>
#include <signet/protocol/errors.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace signet {
namespace {

using namespace testing;

bool asks(const Reply& reply) { return at(reply, {"resultType"}) == Json("input_required"); }

struct Name {
  std::string name;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

Task<ToolResult> ask_name(Call& call) {
  Elicited<Name> who = co_await call.elicit<Name>("name", "Who?");
  call.log("info", "asked");
  co_return text("Hello " + (who.accepted() ? who->name : std::string("stranger")));
}

Task<ToolResult> sample(Call& call) {
  SampleRequest request(10);
  request.user("?");
  SampleResult sampled = co_await call.sample("s", request);
  co_return text(sampled.text());
}

Task<ToolResult> sample_with_tools(Call& call) {
  SampleRequest request(10);
  request.user("?").tools(Json::array());
  SampleResult sampled = co_await call.sample("s", request);
  co_return text(sampled.text());
}

Task<ToolResult> sample_half_a_conversation(Call& call) {
  SampleRequest request(10);
  Json use = Json::object({{"type", "tool_use"}, {"id", "a"}, {"name", "t"}, {"input", Json::object()}});
  request.user("?").message(Role::assistant, std::move(use));
  SampleResult sampled = co_await call.sample("s", request);
  co_return text(sampled.text());
}

Task<ToolResult> list_roots(Call& call) {
  std::vector<Root> roots = co_await call.list_roots();
  co_return text(roots.empty() ? "none" : roots.front().uri);
}

#pragma GCC diagnostic pop

Task<ToolResult> open_page(Call& call, std::string url) {
  ElicitResult opened = co_await call.elicit_url("page", "Please look.", std::move(url));
  co_return text(opened.accepted() ? "opened" : "not opened");
}

class RequirementsTest : public ::testing::Test {
 protected:
  RequirementsTest() {
    server_.tool("ask_name", "Asks.", ask_name);
    server_.tool("log_it", "Logs.", [](Call& call) -> Task<ToolResult> {
      call.log("info", "said");
      co_return text("logged");
    });
    server_.tool("trace", "Shows the trace context.", [](Call& call) -> Task<ToolResult> {
      const Json* parent = call.meta().find("traceparent");
      co_return text(parent == nullptr ? "none" : *parent->as_string());
    });
    server_.tool("sample", "Samples.", sample);
    server_.tool("sample_with_tools", "Samples.", sample_with_tools);
    server_.tool("sample_half", "Samples.", sample_half_a_conversation);
    server_.tool("list_roots", "Lists.", list_roots);
    server_.tool("open_page", "Opens.",
                 [](Call& call) { return open_page(call, "https://example.com/pay"); });
    server_.tool("open_nothing", "Opens.", [](Call& call) { return open_page(call, "pay me"); });
    server_.prompt("p", "A prompt.", [] { return PromptResult().user("p"); });
    server_.resource("test://r", "r", [] { return ResourceContents::text("r"); });
    server_.prompt_completion("p", "x",
                              [](const CompletionRequest&) { return std::vector<std::string>(1, "a"); });
  }

  Reply tool(std::string_view name, std::string_view capabilities) {
    return ask(server_, "tools/call", modern(call_params(name), parsed(capabilities)));
  }

  Server server_{ServerInfo("test", "1.0")};
};

TEST_F(RequirementsTest, NothingIsRememberedFromOneRequestToTheNext) {  // S6
  ManualExecutor executor;
  EXPECT_TRUE(asks(tool("ask_name", R"({"elicitation":{}})")));
  EXPECT_EQ(tool("ask_name", "{}").error().code, protocol::missing_capability);
  Json loud = call_params("log_it");
  loud.set("_meta", parsed(R"({"io.modelcontextprotocol/logLevel":"debug"})"));
  Exchanged first(server_, executor, Request(1, "tools/call", modern(loud)));
  EXPECT_EQ(first.outlet.sent.size(), 1U);
  Exchanged second(server_, executor, Request(2, "tools/call", modern(call_params("log_it"))));
  EXPECT_EQ(second.outlet.sent.size(), 0U);
  // Without an envelope there is nothing to fall back on.
  EXPECT_EQ(ask(server_, "tools/call", call_params("log_it")).error().code, protocol::invalid_params);
}

TEST_F(RequirementsTest, ListsAreTheSameForEveryCallerAndAfterEveryRequest) {  // S63, S67, S72
  for (const char* method : {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}) {
    const Reply before = ask(server_, method, modern());
    EXPECT_TRUE(tool("ask_name", R"({"elicitation":{}})").ok());
    const Reply after = ask(server_, method, modern(Json::object(), Json::object()),
                            [](Exchange& exchange) { exchange.principal = Principal::authenticated("eve"); });
    ASSERT_TRUE(before.ok() && after.ok()) << method;
    EXPECT_EQ(*before, *after) << method;
  }
}

TEST_F(RequirementsTest, KeysOfMetaThatItDoesNotKnowChangeNothing) {  // B11, B15
  Json params = call_params("trace");
  params.set("_meta",
             parsed(R"({"io.modelcontextprotocol/future":[1,null],"com.example/x":{"y":1},"traceparent":
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})"));
  Json capabilities = parsed(R"({"extensions":{"com.example/unknown":{}},"future":true})");
  const Reply reply = ask(server_, "tools/call", modern(params, capabilities));
  EXPECT_EQ(text_of(reply), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");  // B13
  EXPECT_EQ(at(reply, {"resultType"}), Json("complete"));
}

TEST_F(RequirementsTest, AsksForSamplingAndRootsOnlyWhereTheyAreDeclared) {  // S10, S48, S53, S90
  EXPECT_EQ(at(tool("sample", R"({"sampling":{}})"), {"inputRequests", "s", "method"}),
            Json("sampling/createMessage"));
  EXPECT_EQ(at(tool("list_roots", R"({"roots":{}})"), {"inputRequests", "roots", "method"}),
            Json("roots/list"));
  EXPECT_TRUE(asks(tool("sample_with_tools", R"({"sampling":{"tools":{}}})")));
  const Reply without_tools = tool("sample_with_tools", R"({"sampling":{}})");
  EXPECT_EQ(without_tools.error().code, protocol::missing_capability);
  EXPECT_EQ(without_tools.error().data, parsed(R"({"requiredCapabilities":{"sampling":{"tools":{}}}})"));
  EXPECT_EQ(tool("sample", R"({"elicitation":{}})").error().data,
            parsed(R"({"requiredCapabilities":{"sampling":{}}})"));
  EXPECT_EQ(tool("list_roots", R"({"sampling":{}})").error().data,
            parsed(R"({"requiredCapabilities":{"roots":{}}})"));
}

TEST_F(RequirementsTest, AQuestionByUrlHasItsModeAndAnAbsoluteUrl) {  // S84
  const Reply asked = tool("open_page", R"({"elicitation":{"url":{}}})");
  EXPECT_EQ(at(asked, {"inputRequests", "page", "params"}),
            parsed(R"({"mode":"url","message":"Please look.","url":"https://example.com/pay"})"));
  EXPECT_EQ(tool("open_nothing", R"({"elicitation":{"url":{}}})").error().code, protocol::internal_error);
}

TEST_F(RequirementsTest, OnlyAConversationIsSampled) {  // B26
  EXPECT_EQ(tool("sample_half", R"({"sampling":{}})").error().code, protocol::internal_error);
}

TEST_F(RequirementsTest, InputIsAskedForInNoOtherMethod) {  // S46
  Json answers = parsed(R"({"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}}})");
  answers.set("requestState", "sg1.x.y");
  answers.set("ref", parsed(R"({"type":"ref/prompt","name":"p"})"));
  answers.set("argument", parsed(R"({"name":"x","value":""})"));
  for (const char* method : {"server/discover", "tools/list", "prompts/list", "resources/list",
                             "resources/templates/list", "completion/complete"}) {
    const Reply reply = ask(server_, method, modern(answers));
    ASSERT_TRUE(reply.ok()) << method << show(reply);
    EXPECT_EQ(at(reply, {"resultType"}), Json("complete")) << method;
  }
}

TEST_F(RequirementsTest, WhatMayBeCachedSaysForHowLongAndForWhom) {  // S74, S75, S76, S77
  Json read;
  read.set("uri", "test://r");
  for (const auto& [method, params] :
       {std::pair("server/discover", Json::object()), std::pair("tools/list", Json::object()),
        std::pair("prompts/list", Json::object()), std::pair("resources/list", Json::object()),
        std::pair("resources/templates/list", Json::object()), std::pair("resources/read", read)}) {
    const Reply reply = ask(server_, method, modern(params));
    ASSERT_TRUE(reply.ok()) << method;
    EXPECT_GE(at(reply, {"ttlMs"}).as_int64().value_or(-1), 0) << method;
    EXPECT_EQ(at(reply, {"cacheScope"}), Json("private")) << method;
  }
}

TEST_F(RequirementsTest, CompletionsOfWhatIsMalformedAreInvalidParams) {  // S78
  for (const char* params :
       {"{}", R"({"ref":{"type":"ref/prompt","name":"p"}})",
        R"({"ref":5,"argument":{"name":"x","value":""}})",
        R"({"ref":{"type":"ref/other","name":"p"},"argument":{"name":"x","value":""}})",
        R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":7}})"}) {
    const Reply reply = ask(server_, "completion/complete", modern(parsed(params)));
    ASSERT_FALSE(reply.ok()) << params;
    EXPECT_EQ(reply.error().code, protocol::invalid_params) << params;
  }
}

TEST(Content, TravelsInItsForm) {  // S73, B24
  const std::string bytes("\x00\xff\x10", 3);
  EXPECT_EQ(Content::image(as_bytes(bytes), "image/png").json(),
            parsed(R"({"type":"image","data":"AP8Q","mimeType":"image/png"})"));
  EXPECT_EQ(Content::audio(as_bytes(bytes), "audio/wav").json(),
            parsed(R"({"type":"audio","data":"AP8Q","mimeType":"audio/wav"})"));
  EXPECT_EQ(
      Content::resource(ResourceContents::text("t").uri("test://r")).json(),
      parsed(R"({"type":"resource","resource":{"mimeType":"text/plain","text":"t","uri":"test://r"}})"));
  EXPECT_EQ(ResourceContents::text("# t").mime_type("text/markdown").json(),
            parsed(R"({"mimeType":"text/markdown","text":"# t"})"));
  EXPECT_EQ(Content::resource(ResourceContents::blob(as_bytes(bytes)).uri("test://r")).json(),
            parsed(R"({"type":"resource","resource":
                       {"mimeType":"application/octet-stream","blob":"AP8Q","uri":"test://r"}})"));
}

// The codes between -32000 and -32019 belong to nobody, those between -32020 and -32099 to the specification, which has
// given three away; -32002 and -32042 are those of 2025-11-25.
TEST(ErrorCodes, AreThoseOfTheSpecificationAlone) {  // B4, S4, S5
  const std::set<std::string> known{"-32002", "-32020", "-32021", "-32022", "-32042"};
  const std::regex reserved("-320[0-9][0-9]");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(signet::testing::source_dir()) / "src")) {
    const std::string name = entry.path().filename().string();
    const bool source = name.ends_with(".h") || (name.ends_with(".cc") && !name.ends_with("_test.cc"));
    if (!source) continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    for (std::sregex_iterator found(all.begin(), all.end(), reserved), end; found != end; ++found)
      EXPECT_TRUE(known.contains(found->str())) << found->str() << " in " << entry.path();
  }
}

}  // namespace
}  // namespace signet
