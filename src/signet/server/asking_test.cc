// What may be asked besides a form: pages, the client's model, its roots; in both styles, alone and together.
#include <signet/server/server.h>

#include <signet/protocol/errors.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <mutex>

// Sampling and roots are deprecated by the specification, and served all the same.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace signet {
namespace {

using namespace testing;

struct Name {
  std::string name;
};
struct Folder {
  std::string path;
};

std::string said(const ElicitResult& answer) {
  if (answer.accepted()) return "accepted";
  return answer.declined() ? "declined" : "cancelled";
}

Task<ToolResult> ask_model(Call& call) {
  auto request = SampleRequest(100).user("Six times seven?").system_prompt("Be short.");
  SampleResult answer = co_await call.sample("model", request);
  co_return text(answer.model() + ": " + answer.text());
}

Task<ToolResult> ask_model_with_tools(Call& call) {
  auto request = SampleRequest(100)
                     .user("Look it up.")
                     .tools(parsed(R"([{"name":"t","inputSchema":{"type":"object"}}])"));
  SampleResult answer = co_await call.sample("model", request);
  co_return text(answer.stop_reason());
}

Task<ToolResult> ask_model_with_context(Call& call) {
  auto request = SampleRequest(100).user("Of what is here?").include_context("thisServer");
  SampleResult answer = co_await call.sample("model", request);
  co_return text(answer.text());
}

Task<ToolResult> ask_roots(Call& call) {
  std::vector<Root> roots = co_await call.list_roots();
  std::string names;
  for (const Root& root : roots) names += root.name + "=" + root.uri + ";";
  co_return text(names);
}

Task<ToolResult> ask_page(Call& call) {
  ElicitResult opened = co_await call.elicit_url("page", "Please log in.", "https://example.com/login");
  co_return text(said(opened));
}

Task<ToolResult> ask_everything(Call& call) {
  auto name = call.elicit<Name>("name", "Who?");
  auto page = call.elicit_url("page", "Please log in.", "https://example.com/login");
  auto request = SampleRequest(10).user("Hello");
  auto model = call.sample("model", request);
  auto folders = call.list_roots("folders");
  auto [who, opened, answer, roots] = co_await all(name, page, model, folders);
  co_return text(who->name + ", " + said(opened) + ", " + answer.text() + ", " +
                 std::to_string(roots.size()));
}

Task<ToolResult> ask_what_it_can(Call& call) {
  std::string can;
  if (call.can_elicit()) can += "form ";
  if (call.can_elicit_url()) can += "url ";
  if (call.can_sample()) can += "sampling ";
  if (call.can_list_roots()) can += "roots ";
  co_return text(can);
}

ToolResult explicitly(PlainCall& call) {
  const Json answers(call.input_responses());
  if (!answers.contains("page")) {
    return InputRequired()
        .elicit_url("page", "Please log in.", "https://example.com/login")
        .sample("model", SampleRequest(10).user("Hello"))
        .list_roots("roots")
        .state("asked");
  }
  return text(json::write(answers) + *call.state().as_string());
}

// A server whose log and metrics are kept.
struct Asking : ::testing::Test {
  struct Counted final : Metrics {
    void add(std::string_view name, std::string_view labels, double /*by*/) override {
      text.append(name).append("{").append(labels).append("}\n");
    }
    std::string text;
  };
  Asking() {
    server.tool("model", "Asks the model.", ask_model);
    server.tool("model_with_tools", "Lends it tools.", ask_model_with_tools);
    server.tool("model_with_context", "With context.", ask_model_with_context);
    server.tool("roots", "Asks for the roots.", ask_roots);
    server.tool("page", "Sends to a page.", ask_page);
    server.tool("everything", "All in one round.", ask_everything);
    server.tool("can", "Looks.", ask_what_it_can);
    server.tool("explicit", "Asks explicitly.", explicitly);
    server.resource_template("file:///{path}", "file", [](Call& call, Folder folder) -> Task<ResourceResult> {
      Elicited<Name> who = co_await call.elicit<Name>("name", "Who reads " + folder.path + "?");
      co_return ResourceContents::text(folder.path + " for " + who->name);
    });
  }
  Reply call(std::string_view tool, const Json& capabilities = testing::all_capabilities()) {
    return ask(server, "tools/call", modern(call_params(tool), capabilities));
  }
  Reply answer(std::string_view tool, const Reply& asked, std::string_view responses,
               const Json& capabilities = testing::all_capabilities()) {
    Json params = call_params(tool);
    params.set("requestState", at(asked, {"requestState"}));
    params.set("inputResponses", parsed(responses));
    return ask(server, "tools/call", modern(std::move(params), capabilities));
  }
  static bool asks(const Reply& reply) { return at(reply, {"resultType"}) == Json("input_required"); }
  std::string missing(std::string_view tool, std::string_view capabilities) {
    const Reply reply = call(tool, parsed(capabilities));
    if (reply.ok() || reply.error().code != protocol::missing_capability) return show(reply);
    return json::write(at(reply.error().data, {"requiredCapabilities"}));
  }

  std::string lines;
  Counted metrics;
  Server server{ServerInfo("asking", "1"),
                ServerOptions().metrics(metrics).log(
                    [this](LogLevel, std::string_view event, std::initializer_list<LogField> fields) {
                      lines.append(event);
                      for (const auto& [name, value] : fields)
                        lines.append(" ").append(name).append("=").append(value);
                      lines.append("\n");
                    })};
};

constexpr std::string_view sampled =
    R"({"role":"assistant","content":{"type":"text","text":"42"},"model":"m1","stopReason":"toolUse"})";

std::string under(std::string_view key, std::string_view answer) {
  return "{\"" + std::string(key) + "\":" + std::string(answer) + "}";
}

TEST_F(Asking, TheClientsModel) {
  const Reply asked = call("model");
  ASSERT_TRUE(asks(asked)) << show(asked);
  EXPECT_EQ(at(asked, {"inputRequests", "model"}),
            parsed(R"({"method":"sampling/createMessage","params":{"maxTokens":100,"systemPrompt":"Be short.",
              "messages":[{"role":"user","content":{"type":"text","text":"Six times seven?"}}]}})"));
  EXPECT_EQ(text_of(answer("model", asked, under("model", sampled))), "m1: 42");
  for (const char* wrong : {R"({"action":"accept","content":{"name":"Ada"}})", R"({"roots":[]})", "{}", "5",
                            R"({"role":"system","content":{},"model":"m"})"}) {
    EXPECT_TRUE(asks(answer("model", asked, under("model", wrong)))) << wrong;
  }
}

TEST_F(Asking, TheClientsModelOnlyForWhatTheClientDeclared) {
  EXPECT_EQ(missing("model", "{}"), R"({"sampling":{}})");
  EXPECT_TRUE(asks(call("model", parsed(R"({"sampling":{}})"))));
  EXPECT_EQ(missing("model_with_tools", R"({"sampling":{}})"), R"({"sampling":{"tools":{}}})");
  EXPECT_EQ(missing("model_with_tools", "{}"), R"({"sampling":{"tools":{}}})");
  const Reply with_tools = call("model_with_tools", parsed(R"({"sampling":{"tools":{}}})"));
  ASSERT_TRUE(asks(with_tools)) << show(with_tools);
  EXPECT_EQ(text_of(answer("model_with_tools", with_tools, under("model", sampled))), "toolUse");
  EXPECT_EQ(missing("model_with_context", R"({"sampling":{"tools":{}}})"), R"({"sampling":{"context":{}}})");
  EXPECT_TRUE(asks(call("model_with_context", parsed(R"({"sampling":{"context":{}}})"))));
}

TEST_F(Asking, TheClientsRoots) {
  EXPECT_EQ(missing("roots", R"({"elicitation":{}})"), R"({"roots":{}})");
  const Reply asked = call("roots", parsed(R"({"roots":{}})"));
  EXPECT_EQ(*at(asked, {"inputRequests", "roots", "method"}).as_string(), "roots/list");
  EXPECT_EQ(text_of(answer("roots", asked,
                           R"({"roots":{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}})")),
            "A=file:///a;=file:///b;");
  EXPECT_TRUE(asks(answer("roots", asked, R"({"roots":{"roots":[{"uri":"https://example.com"}]}})")));
  EXPECT_TRUE(asks(answer("roots", asked, under("roots", sampled))));
}

TEST_F(Asking, ForAPageToBeOpened) {
  EXPECT_EQ(missing("page", R"({"elicitation":{}})"), R"({"elicitation":{"url":{}}})");
  EXPECT_EQ(missing("page", R"({"elicitation":{"form":{}}})"), R"({"elicitation":{"url":{}}})");
  const Reply asked = call("page", parsed(R"({"elicitation":{"url":{}}})"));
  EXPECT_EQ(at(asked, {"inputRequests", "page", "params"}),
            parsed(R"({"mode":"url","message":"Please log in.","url":"https://example.com/login"})"));
  EXPECT_EQ(text_of(answer("page", asked, R"({"page":{"action":"accept"}})")), "accepted");
  EXPECT_EQ(text_of(answer("page", asked, R"({"page":{"action":"decline"}})")), "declined");
  EXPECT_EQ(text_of(answer("page", asked, R"({"page":{"action":"cancel"}})")), "cancelled");
  EXPECT_TRUE(asks(answer("page", asked, R"({"page":{}})")));
}

TEST_F(Asking, EverythingInOneRoundAndWhatIsMissingAgain) {
  const Reply asked = call("everything");
  ASSERT_TRUE(asks(asked)) << show(asked);
  EXPECT_EQ(at(asked, {"inputRequests"}).as_object()->size(), 4U);
  const Reply again =
      answer("everything", asked,
             R"({"name":{"action":"accept","content":{"name":"Ada"}},"page":{"action":"decline"},
                                 "model":{"action":"accept"},"folders":{"roots":[]}})");
  ASSERT_TRUE(asks(again)) << show(again);
  EXPECT_EQ(at(again, {"inputRequests"}).as_object()->size(), 1U);
  EXPECT_EQ(text_of(answer("everything", again, under("model", sampled))), "Ada, declined, 42, 0");
}

TEST_F(Asking, EverythingNamesAllThatIsMissingBeforeAnythingIsAsked) {
  EXPECT_EQ(parsed(missing("everything", R"({"roots":{},"elicitation":{"form":{}}})")),
            parsed(R"({"elicitation":{"url":{}},"sampling":{}})"));
}

TEST_F(Asking, NeedsACapabilityOnlyForWhatIsStillToBeAsked) {  // S53
  const Json page = parsed(R"({"elicitation":{"url":{}}})");
  const Reply asked = call("page", page);
  EXPECT_EQ(text_of(answer("page", asked, R"({"page":{"action":"accept"}})", parsed("{}"))), "accepted");
  // An answer that does not count has to be asked for again, and this client can no longer be asked.
  const Reply again = answer("page", asked, R"({"page":{}})", parsed("{}"));
  ASSERT_FALSE(again.ok()) << show(again);
  EXPECT_EQ(again.error().code, protocol::missing_capability);
}

TEST_F(Asking, MayBeLookedIntoBefore) {
  EXPECT_EQ(text_of(call("can")), "form url sampling roots ");
  EXPECT_EQ(text_of(call("can", parsed("{}"))), "");
  EXPECT_EQ(text_of(call("can", parsed(R"({"elicitation":{}})"))), "form ");
  EXPECT_EQ(text_of(call("can", parsed(R"({"elicitation":{"url":{}},"sampling":{}})"))), "url sampling ");
}

TEST_F(Asking, ExplicitlyGoesForEveryKindOfQuestion) {
  EXPECT_EQ(parsed(missing("explicit", R"({"elicitation":{}})")),
            parsed(R"({"elicitation":{"url":{}},"sampling":{},"roots":{}})"));
  const Reply asked = call("explicit");
  ASSERT_TRUE(asks(asked)) << show(asked);
  EXPECT_EQ(at(asked, {"inputRequests"}).as_object()->size(), 3U);
  const Reply done =
      answer("explicit", asked,
             R"({"page":{"action":"accept"},"model":{"action":"accept"},"roots":{"roots":[]},"more":{}})");
  // The model's answer is none, and nobody asked for more.
  EXPECT_EQ(text_of(done), R"({"page":{"action":"accept"},"roots":{"roots":[]}}asked)");
}

TEST_F(Asking, GoesForResourceTemplatesToo) {
  const Json params = parsed(R"({"uri":"file:///notes"})");
  const Reply asked = ask(server, "resources/read", modern(params));
  ASSERT_TRUE(asks(asked)) << show(asked);
  EXPECT_EQ(*at(asked, {"inputRequests", "name", "params", "message"}).as_string(), "Who reads notes?");
  Json again = params;
  again.set("requestState", at(asked, {"requestState"}));
  again.set("inputResponses", parsed(R"({"name":{"action":"accept","content":{"name":"Ada"}}})"));
  EXPECT_EQ(at(ask(server, "resources/read", modern(again)), {"contents", "0", "text"}),
            Json("notes for Ada"));
  again.set("uri", "file:///other");
  EXPECT_EQ(ask(server, "resources/read", modern(again)).error().message, "Invalid or expired requestState");
}

TEST_F(Asking, TellsTheOperatorFlowRoundAndOutcomeAndNothingOfTheContent) {
  const Reply asked = call("everything");
  const std::string flow = lines.substr(lines.find("flow=") + 5, 32);
  const Reply done =
      answer("everything", asked,
             R"({"name":{"action":"accept","content":{"name":"Countess"}},"page":{"action":"decline"},
                                  "model":{"role":"assistant","content":{"type":"text","text":"secretly"},"model":"m"},
                                  "folders":{"roots":[]}})");
  EXPECT_TRUE(done.ok()) << show(done);
  EXPECT_NE(lines.find("round flow=" + flow + " round=1 method=tools/call outcome=asked"), std::string::npos)
      << lines;
  EXPECT_NE(lines.find("round flow=" + flow + " round=2 method=tools/call outcome=complete"),
            std::string::npos)
      << lines;
  EXPECT_NE(metrics.text.find(R"(signet_rounds_total{method="tools/call",outcome="asked"})"),
            std::string::npos);
  EXPECT_NE(metrics.text.find(R"(signet_rounds_total{method="tools/call",outcome="complete"})"),
            std::string::npos);
  const std::string state = *at(asked, {"requestState"}).as_string();
  for (const std::string& content :
       {std::string("Countess"), std::string("secretly"), std::string("example.com"), state.substr(10, 40)}) {
    EXPECT_EQ((lines + metrics.text).find(content), std::string::npos) << content;
  }
}

}  // namespace
}  // namespace signet
