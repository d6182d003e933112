#include <signet/server/server.h>

#include <signet/protocol/errors.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

namespace signet {
namespace {

using namespace testing;

struct EchoArgs {
  std::string text;
};
struct Weather {
  std::string city;
  int degrees;
};
struct Place {
  std::string city;
  std::string street;
};
struct NoInput {};

Task<ToolResult> coroutine_echo(Call& /*call*/, EchoArgs args) { co_return text("echo:" + args.text); }

void fill(Server& server) {
  server.tool("echo", "Says it again.", coroutine_echo);
  server.tool("plain_echo", "The same on a thread.",
              [](EchoArgs args) { return text("plain:" + args.text); });
  server.tool("no_args", "Takes nothing.", [] { return std::string("nothing"); });
  server.tool("weather", "Structured.", [](EchoArgs args) { return Weather{args.text, 21}; });
  server.tool("may_fail", "A Result.", [](EchoArgs args) -> Result<Weather> {
    if (args.text.empty()) return failure("No such city.");
    return Weather{args.text, 3};
  });
  server.tool("raw", "Any object.", [](Json arguments) { return text(json::canonical(arguments)); });
  server.tool("boom", "Throws.",
              []() -> ToolResult { throw std::runtime_error("secret-detail /srv/private.pem"); });
  server.tool("boom_later", "Throws in a coroutine.", [](Call&) -> Task<ToolResult> {
    throw std::runtime_error("secret-detail");
    co_return text("");
  });
  server.tool("faulty", "A JSON-RPC error.",
              [](Call&) -> Task<ToolResult> { co_return Fault(-32602, "Not so."); });
  server.tool(
      "bad_output", "Breaks its schema.",
      [](PlainCall&) {
        ToolResult result = text("x");
        result.structured(parsed(R"({"n":"NaN"})"));
        return result;
      },
      ToolOptions().output_schema(
          parsed(R"({"type":"object","properties":{"n":{"type":"number"}},"required":["n"]})")));
  server.tool(
      "region", "Mirrored.", [](Json) { return text("ok"); },
      ToolOptions().input_schema(
          parsed(R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}})")));
  server.prompt("greet", "Greets.", [](EchoArgs args) { return PromptResult().user("greet " + args.text); });
  server.prompt_completion("greet", "text", [](const CompletionRequest& request) {
    std::vector<std::string> values;
    for (int i = 0; i < 150; ++i) {
      std::string name = "n" + std::to_string(i);
      if (name.starts_with(request.value)) values.push_back(std::move(name));
    }
    return values;
  });
  server.resource("test://static", "static", [] { return ResourceContents::text("static-text"); });
  server.resource_template("test://item/{id}", "item", [](Json variables) -> ResourceResult {
    const std::string id = *variables.find_string("id");
    if (id == "none") return ResourceResult::not_found();
    return ResourceContents::text("item " + id);
  });
}

class DispatchTest : public ::testing::Test {
 protected:
  DispatchTest() { fill(server_); }
  Reply tool(std::string_view name, std::string_view arguments = "{}") {
    return ask(server_, "tools/call", modern(call_params(name, arguments)));
  }
  Server server_{ServerInfo("test", "1.0"), ServerOptions().instructions("Be kind.").page_size(4)};
};

TEST_F(DispatchTest, DiscoversWhatItHas) {  // S13, S14, S15, S16, S17, S18
  const Reply reply = ask(server_, "server/discover", modern());
  ASSERT_TRUE(reply.ok()) << show(reply);
  EXPECT_EQ(at(reply, {"supportedVersions"}), parsed(R"(["2026-07-28"])"));
  EXPECT_EQ(at(reply, {"capabilities"}),
            parsed(R"({"logging":{},"tools":{"listChanged":true},"prompts":{"listChanged":true},
                       "resources":{"listChanged":true,"subscribe":true},"completions":{}})"));
  EXPECT_EQ(at(reply, {"instructions"}), Json("Be kind."));
  EXPECT_EQ(at(reply, {"resultType"}), Json("complete"));
  EXPECT_EQ(at(reply, {"ttlMs"}), Json(60'000));
  EXPECT_EQ(at(reply, {"cacheScope"}), Json("private"));
  EXPECT_EQ(at(reply, {"_meta", "io.modelcontextprotocol/serverInfo", "name"}), Json("test"));
}

TEST_F(DispatchTest, HasNoMethodForWhatIsNotRegistered) {  // S13
  Server empty(ServerInfo("empty", "1"));
  for (const char* method : {"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list",
                             "resources/read", "resources/templates/list", "completion/complete",
                             "initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"}) {
    const Reply reply = ask(empty, method, modern());
    ASSERT_FALSE(reply.ok()) << method;
    EXPECT_EQ(reply.error().code, protocol::method_not_found) << method;
    EXPECT_EQ(reply.error().stage, Fault::Stage::dispatch) << method;
  }
  EXPECT_EQ(at(ask(empty, "server/discover", modern()), {"capabilities"}), parsed(R"({"logging":{}})"));
}

TEST_F(DispatchTest, RefusesEnvelopesThatAreIncompleteOrOfAnotherVersion) {  // S9, S12
  const Reply missing = ask(server_, "tools/list", Json::object());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, protocol::invalid_params);
  Json other = modern();
  other.find("_meta")->set("io.modelcontextprotocol/protocolVersion", "2099-01-01");
  const Reply unsupported = ask(server_, "tools/list", std::move(other));
  ASSERT_FALSE(unsupported.ok());
  EXPECT_EQ(unsupported.error().code, protocol::unsupported_version);
  EXPECT_EQ(at(unsupported.error().data, {"requested"}), Json("2099-01-01"));
}

TEST_F(DispatchTest, CallsEveryKindOfHandler) {  // S2
  EXPECT_EQ(text_of(tool("echo", R"({"text":"x"})")), "echo:x");
  EXPECT_EQ(text_of(tool("plain_echo", R"({"text":"x"})")), "plain:x");
  EXPECT_EQ(text_of(tool("no_args")), "nothing");
  EXPECT_EQ(text_of(tool("raw", R"({"b":1,"a":2})")), R"({"a":2,"b":1})");
  const Reply weather = tool("weather", R"({"text":"Oslo"})");
  EXPECT_EQ(at(weather, {"structuredContent"}), parsed(R"({"city":"Oslo","degrees":21})"));
  EXPECT_EQ(text_of(weather), R"({"city":"Oslo","degrees":21})");
  EXPECT_EQ(at(weather, {"resultType"}), Json("complete"));
  EXPECT_EQ(text_of(tool("may_fail", R"({"text":"Rome"})")), R"({"city":"Rome","degrees":3})");
  const Reply failed = tool("may_fail", R"({"text":""})");
  EXPECT_EQ(text_of(failed), "No such city.");
  EXPECT_EQ(at(failed, {"isError"}), Json(true));
}

TEST_F(DispatchTest, TakesAbsentArgumentsForNoneAndRefusesNull) {
  Json absent;
  absent.set("name", "no_args");
  EXPECT_EQ(text_of(ask(server_, "tools/call", modern(absent))), "nothing");
  for (const char* arguments : {"null", "[]", "5", "\"x\""}) {
    const Reply reply = tool("no_args", arguments);
    ASSERT_FALSE(reply.ok()) << arguments;
    EXPECT_EQ(reply.error().code, protocol::invalid_params);
  }
}

TEST_F(DispatchTest, AnswersArgumentsThatDoNotFitWithoutRepeatingThem) {  // S66
  for (const char* arguments : {R"({"text":12345})", "{}"}) {
    const Reply reply = tool("echo", arguments);
    ASSERT_TRUE(reply.ok()) << show(reply);
    EXPECT_EQ(at(reply, {"isError"}), Json(true));
    EXPECT_EQ(show(reply).find("12345"), std::string::npos);
    EXPECT_EQ(show(reply).find("echo:"), std::string::npos);
  }
}

TEST_F(DispatchTest, KeepsTheTextOfExceptionsToItself) {
  for (const char* name : {"boom", "boom_later"}) {
    const Reply reply = tool(name);
    ASSERT_TRUE(reply.ok()) << show(reply);
    EXPECT_EQ(at(reply, {"isError"}), Json(true));
    EXPECT_EQ(show(reply).find("secret"), std::string::npos);
  }
}

TEST_F(DispatchTest, SendsAFaultOfAHandlerAsAnError) {
  const Reply reply = tool("faulty");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().message, "Not so.");
  EXPECT_EQ(reply.error().stage, Fault::Stage::handler);
}

TEST_F(DispatchTest, KeepsStructuredOutputBackThatBreaksItsSchema) {  // S65
  const Reply reply = tool("bad_output");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, protocol::internal_error);
  EXPECT_EQ(show(reply).find("NaN"), std::string::npos);
}

TEST_F(DispatchTest, RefusesUnknownNamesAsInvalidParams) {
  EXPECT_EQ(tool("nope").error().code, protocol::invalid_params);
  EXPECT_EQ(ask(server_, "tools/call", modern()).error().code, protocol::invalid_params);
  Json prompt;
  prompt.set("name", "nope");
  EXPECT_EQ(ask(server_, "prompts/get", modern(prompt)).error().code, protocol::invalid_params);
}

TEST_F(DispatchTest, ComparesMirroredHeadersWithTheArguments) {  // S41, S42
  const auto with_header = [this](std::optional<std::string> value) {
    return ask(server_, "tools/call", modern(call_params("region", R"({"region":"eu"})")),
               [value](Exchange& exchange) {
                 exchange.header = [value](std::string_view name) -> std::optional<std::string> {
                   if (name == "Mcp-Param-Region") return value;
                   return std::nullopt;
                 };
               });
  };
  EXPECT_EQ(text_of(with_header("eu")), "ok");
  EXPECT_EQ(with_header("us").error().code, protocol::header_mismatch);
  EXPECT_EQ(with_header(std::nullopt).error().code, protocol::header_mismatch);
  EXPECT_EQ(text_of(tool("region", R"({"region":"eu"})")), "ok");  // without HTTP there are no headers
}

TEST_F(DispatchTest, GivesListsPageByPageInTheOrderOfRegistration) {  // S63, S64, S74, S75, S76
  std::vector<std::string> names;
  Json cursor;
  for (int pages = 0; pages < 10; ++pages) {
    Json params = Json::object();
    if (!cursor.is_null()) params.set("cursor", cursor);
    const Reply page = ask(server_, "tools/list", modern(params));
    ASSERT_TRUE(page.ok()) << show(page);
    EXPECT_EQ(at(page, {"ttlMs"}), Json(60'000));
    EXPECT_EQ(at(page, {"cacheScope"}), Json("private"));
    for (const Json& listed : *page->find("tools")->as_array()) {
      names.push_back(*listed.find_string("name"));
      EXPECT_EQ(at(listed, {"inputSchema", "type"}), Json("object"));
    }
    cursor = at(page, {"nextCursor"});
    if (cursor.is_null()) break;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"echo", "plain_echo", "no_args", "weather", "may_fail", "raw",
                                             "boom", "boom_later", "faulty", "bad_output", "region"}));
}

TEST_F(DispatchTest, RefusesCursorsItNeverGave) {
  for (const char* method : {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}) {
    for (const char* cursor : {R"("@@invented@@")", R"("")", "5", "null"}) {
      Json params;
      params.set("cursor", parsed(cursor));
      const Reply reply = ask(server_, method, modern(params));
      ASSERT_FALSE(reply.ok()) << method << cursor;
      EXPECT_EQ(reply.error().code, protocol::invalid_params);
    }
  }
}

TEST_F(DispatchTest, ServesPromptsAndTheirArguments) {  // S72, B25
  EXPECT_EQ(at(ask(server_, "prompts/list", modern()), {"prompts", "0", "arguments"}),
            parsed(R"([{"name":"text","required":true}])"));
  Json params = call_params("greet", R"({"text":"Ada"})");
  EXPECT_EQ(at(ask(server_, "prompts/get", modern(params)), {"messages", "0"}),
            parsed(R"({"role":"user","content":{"type":"text","text":"greet Ada"}})"));
  EXPECT_EQ(ask(server_, "prompts/get", modern(call_params("greet"))).error().code, protocol::invalid_params);
  EXPECT_EQ(ask(server_, "prompts/get", modern(call_params("greet", R"({"text":1})"))).error().code,
            protocol::invalid_params);
}

TEST_F(DispatchTest, ReadsResourcesAndTemplates) {  // S5, S69, S70, S74
  const auto read = [this](std::string_view uri) {
    Json params;
    params.set("uri", uri);
    return ask(server_, "resources/read", modern(params));
  };
  const Reply fixed = read("test://static");
  EXPECT_EQ(at(fixed, {"contents"}),
            parsed(R"([{"mimeType":"text/plain","text":"static-text","uri":"test://static"}])"));
  EXPECT_EQ(at(fixed, {"ttlMs"}), Json(0));
  EXPECT_EQ(at(fixed, {"cacheScope"}), Json("private"));
  EXPECT_EQ(at(read("test://item/a%20b"), {"contents", "0", "text"}), Json("item a b"));
  for (const char* uri : {"test://nope", "file:///etc/passwd", "test://item/", "test://item/../static",
                          "test://item/%2e%2e", "test://item/none"}) {
    const Reply missing = read(uri);
    ASSERT_FALSE(missing.ok()) << uri;
    EXPECT_EQ(missing.error().code, protocol::invalid_params);
    EXPECT_EQ(at(missing.error().data, {"uri"}), Json(uri));
  }
  for (const char* malformed :
       {"", "not a uri", "test://item/a b", "test://item/\xc3\xa9", "test://item/{id}", "test://item/%zz"}) {
    const Reply refused = read(malformed);
    ASSERT_FALSE(refused.ok()) << malformed;
    EXPECT_EQ(refused.error().code, protocol::invalid_params);
    EXPECT_TRUE(refused.error().data.is_null()) << malformed;
  }
}

TEST(ResourceTemplate, IsNotReadWithAPathThatClimbsUnlessItTakesThem) {  // S71
  Server server(ServerInfo("s", "1"));
  const auto echo = [](Json variables) { return ResourceContents::text(*variables.find_string("path")); };
  server.resource_template("file:///{+path}", "files", echo);
  server.resource_template("name:{+path}", "names", echo, ResourceOptions().variables_may_climb());
  const auto read = [&server](std::string_view uri) {
    Json params;
    params.set("uri", uri);
    const Reply reply = ask(server, "resources/read", modern(params));
    return reply.ok() ? at(reply, {"contents", "0", "text"}) : Json(reply.error().code);
  };
  EXPECT_EQ(read("file:///a/b.txt"), Json("a/b.txt"));
  EXPECT_EQ(read("file:///../../etc/passwd"), Json(protocol::invalid_params));
  EXPECT_EQ(read("file:///a/%2e%2e/%2e%2e/b"), Json(protocol::invalid_params));
  EXPECT_EQ(read("name:../a"), Json("../a"));
}

TEST_F(DispatchTest, CompletesAtMostAHundredValues) {  // S78
  const auto complete = [this](std::string_view prompt, std::string_view value) {
    Json params = parsed(R"({"ref":{"type":"ref/prompt"},"argument":{"name":"text"}})");
    params.find("ref")->set("name", prompt);
    params.find("argument")->set("value", value);
    return ask(server_, "completion/complete", modern(params));
  };
  const Reply all = complete("greet", "");
  EXPECT_EQ(all->find("completion")->find("values")->as_array()->size(), 100U);
  EXPECT_EQ(at(all, {"completion", "hasMore"}), Json(true));
  EXPECT_EQ(at(all, {"completion", "total"}), Json(150));
  EXPECT_EQ(at(complete("greet", "n14"), {"completion", "values", "0"}), Json("n14"));
  EXPECT_EQ(at(complete("greet", "zzz"), {"completion", "values"}), Json::array());
  EXPECT_EQ(complete("nope", "").error().code, protocol::invalid_params);
}

TEST(Completion, MayBlockWithoutHoldingTheLoop) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  Server server(ServerInfo("s", "1"));
  server.prompt(
      "p", "P.", [](Json) { return PromptResult().user("x"); }, PromptOptions().argument("x", "X."));
  server.prompt_completion("p", "x", [released](const CompletionRequest&) -> std::vector<std::string> {
    released.wait();
    return {"late"};
  });
  const Json params =
      modern(parsed(R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":""}})"));
  ManualExecutor executor;
  Exchanged blocked(server, executor, Request(1, "completion/complete", params));
  EXPECT_FALSE(blocked.reply);
  EXPECT_TRUE(ask(server, "prompts/list", modern()).ok());
  {
    Exchanged dropped(server, executor, Request(2, "completion/complete", params));
    dropped.drop();
  }
  release.set_value();
  while (!blocked.reply) executor.run_one();
  EXPECT_EQ(at(*blocked.reply, {"completion", "values"}), parsed(R"(["late"])"));
}

TEST(Completion, ThatThrowsIsAnErrorAndSoIsOneTooMany) {
  std::promise<void> begun;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::string logged;
  const auto log = [&logged](LogLevel, std::string_view event, std::initializer_list<LogField>) {
    logged = event;
  };
  Server server(ServerInfo("s", "1"), ServerOptions().worker_threads(1, 1).log(log));
  server.prompt(
      "p", "P.", [](Json) { return PromptResult().user("x"); }, PromptOptions().argument("x", "X."));
  server.prompt_completion("p", "x",
                           [&begun, released](const CompletionRequest& asked) -> std::vector<std::string> {
                             if (asked.value == "throw") throw std::runtime_error("secret");
                             if (asked.value == "first") begun.set_value();
                             released.wait();
                             return {asked.value};
                           });
  const auto params = [](std::string_view value) {
    Json asked = parsed(R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x"}})");
    asked.find("argument")->set("value", value);
    return modern(asked);
  };
  const Reply threw = ask(server, "completion/complete", params("throw"));
  ASSERT_FALSE(threw.ok());
  EXPECT_EQ(threw.error().code, protocol::internal_error);
  EXPECT_EQ(threw.error().message.find("secret"), std::string::npos);
  EXPECT_EQ(logged, "completion_threw");

  ManualExecutor executor;
  Exchanged first(server, executor, Request(1, "completion/complete", params("first")));
  begun.get_future().wait();
  Exchanged second(server, executor, Request(2, "completion/complete", params("second")));
  Exchanged third(server, executor, Request(3, "completion/complete", params("third")));
  ASSERT_TRUE(third.reply);
  EXPECT_EQ(third.reply->error().message, "The server is busy");
  release.set_value();
  while (!first.reply || !second.reply) executor.run_one();
  EXPECT_EQ(at(*second.reply, {"completion", "values"}), parsed(R"(["second"])"));
}

TEST_F(DispatchTest, TakesAContextOfCompletionThatIsAnObjectOfStrings) {  // S78
  const auto complete = [this](std::string_view context) {
    Json params =
        parsed(R"({"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"text","value":"n14"}})");
    params.set("context", parsed(context));
    return ask(server_, "completion/complete", modern(params));
  };
  for (const char* good : {"{}", R"({"arguments":{}})", R"({"arguments":{"a":"b"},"more":1})"}) {
    EXPECT_TRUE(complete(good).ok()) << good;
  }
  for (const char* bad : {"null", "[]", R"("x")", R"({"arguments":[]})", R"({"arguments":{"a":1}})"}) {
    const Reply refused = complete(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code, protocol::invalid_params) << bad;
  }
}

TEST_F(DispatchTest, RejectsMistakesOfRegistration) {  // S8, S37, S64, S68
  const auto nothing = [] { return std::string(); };
  EXPECT_THROW(server_.tool("echo", "Again.", nothing), std::invalid_argument);
  EXPECT_THROW(server_.tool("a b", "A blank.", nothing), std::invalid_argument);
  EXPECT_THROW(server_.tool(std::string(129, 'a'), "Long.", nothing), std::invalid_argument);
  EXPECT_NO_THROW(server_.tool(std::string(128, 'a'), "Just so.", nothing));
  EXPECT_THROW(
      server_.tool("s", "No object.", nothing, ToolOptions().input_schema(parsed(R"({"type":"string"})"))),
      std::invalid_argument);
  EXPECT_THROW(
      server_.tool("h", "Bad header.", nothing,
                   ToolOptions().input_schema(parsed(
                       R"({"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}})"))),
      std::invalid_argument);
  EXPECT_THROW(
      server_.tool("o", "Once without a store.", nothing, ToolOptions().redemption(Redemption::once)),
      std::invalid_argument);
  EXPECT_THROW(server_.resource("no uri", "x", [] { return ResourceContents::text(""); }),
               std::invalid_argument);
  EXPECT_THROW(
      server_.resource_template("test://{a}/{a}", "x", [](Json) { return ResourceContents::text(""); }),
      std::invalid_argument);
  EXPECT_THROW(server_.prompt("n", "A number.", [](Weather) { return PromptResult(); }),
               std::invalid_argument);
  EXPECT_THROW(server_.prompt_completion("nope", "x", nullptr), std::invalid_argument);
}

// What registering says about the template; empty where it takes it.
template <typename F>
std::string objection_to(Server& server, const std::string& uri_template, F handler) {
  try {
    server.resource_template(uri_template, "x", handler);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_F(DispatchTest, TakesTemplatesWhoseVariablesAreTheMembersOfTheInput) {
  const auto place = [](Place asked) { return ResourceContents::text(asked.city + "/" + asked.street); };
  EXPECT_EQ(objection_to(server_, "place://{city}/{+street}", place), "");
  const Reply read = ask(server_, "resources/read", modern(Json::object({{"uri", "place://rome/a/b"}})));
  EXPECT_EQ(at(read, {"contents", "0", "text"}), Json("rome/a/b"));

  const std::string missing = objection_to(server_, "place://{city}", place);
  EXPECT_NE(missing.find("'place://{city}'"), std::string::npos) << missing;
  EXPECT_NE(missing.find("'street'"), std::string::npos) << missing;
  const std::string unread = objection_to(server_, "place://{city}/{street}/{door}", place);
  EXPECT_NE(unread.find("'door'"), std::string::npos) << unread;
  const std::string misspelt = objection_to(server_, "place://{City}/{street}", place);
  EXPECT_NE(misspelt.find("'city'"), std::string::npos) << misspelt;
  const std::string number =
      objection_to(server_, "weather://{city}/{degrees}", [](Weather) { return ResourceContents::text(""); });
  EXPECT_NE(number.find("'degrees'"), std::string::npos) << number;
  const std::string empty =
      objection_to(server_, "none://{city}", [](NoInput) { return ResourceContents::text(""); });
  EXPECT_NE(empty.find("'city'"), std::string::npos) << empty;

  EXPECT_EQ(objection_to(server_, "json://{city}", [](Json) { return ResourceContents::text(""); }), "");
  EXPECT_EQ(objection_to(server_, "nothing://{city}", [] { return ResourceContents::text(""); }), "");
}

TEST_F(DispatchTest, ForgetsWhatIsTakenAway) {
  EXPECT_TRUE(server_.remove_tool("echo"));
  EXPECT_FALSE(server_.remove_tool("echo"));
  EXPECT_EQ(tool("echo", R"({"text":"x"})").error().code, protocol::invalid_params);
}

}  // namespace
}  // namespace signet
