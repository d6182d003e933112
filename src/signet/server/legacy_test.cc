#include <signet/server/server.h>

#include <signet/protocol/errors.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <set>

namespace signet {
namespace {

using namespace testing;

struct Name {
  std::string name;
};

Task<ToolResult> ask_name(Call& call) {
  Elicited<Name> who = co_await call.elicit<Name>("user_name", "Who are you?");
  if (!who.accepted()) co_return text("nobody");
  co_return text("Hello, " + who->name + "!");
}

Task<ToolResult> ask_two(Call& call) {
  auto a = call.elicit("a", form("A?").string("v"));
  auto b = call.elicit<Name>("b", "B?");
  auto [first, second] = co_await all(a, b);
  co_return text(first.string("v") + "&" + second->name);
}

Task<ToolResult> visit(Call& call) {
  ElicitResult visited = co_await call.elicit_url("visit", "Please look.", "https://example.com/");
  co_return text(visited.accepted() ? "visited" : "not visited");
}

Task<ToolResult> pick(Call& call) {
  const std::vector<Option> rooms{Option("a", "Attic"), Option("b", "Ball room")};
  auto question = form("Where?").choice("room", rooms, Field().title("Room"));
  ElicitResult answer = co_await call.elicit("where", question);
  co_return text(answer.string("room"));
}

Task<ToolResult> days(Call& call) {
  const std::vector<Option> choices{Option("mo", "Monday"), Option("tu", "Tuesday"), Option("we")};
  const Field field = Field().title("Days").items(1, 3).value(parsed(R"(["tu"])"));
  auto question = form("When?").choices("days", choices, field).integer("n");
  ElicitResult answer = co_await call.elicit("when", question);
  co_return text(json::write(answer.content()));
}

Form nested_form() { return form("Where?").custom("address", parsed(R"({"type":"object"})")); }

Task<ToolResult> nested(Call& call) {
  ElicitResult answer = co_await call.elicit("where", nested_form());
  co_return text(json::write(answer.content()));
}

// A connection of a handshake revision.
class LegacyTest : public ::testing::Test {
 protected:
  LegacyTest() {
    server_.tool("ask_name", "Asks.", ask_name);
    server_.tool("ask_two", "Asks twice.", ask_two);
    server_.tool("explicit_ask", "Asks explicitly.", [](PlainCall& call) -> ToolResult {
      const Json name = at(Json(call.input_responses()), {"n", "content", "v"});
      if (name.is_null()) return InputRequired().elicit("n", form("N?").string("v")).state(1);
      return text(*name.as_string() + " after " + json::write(call.state()));
    });
    server_.tool(
        "list", "A list.", [] { return parsed("[1,2]"); },
        ToolOptions().output_schema(parsed(R"({"type":"array"})")));
    server_.tool("logs", "Logs.", [](Call& call) -> Task<ToolResult> {
      call.log("debug", "quiet");
      call.log("warning", "loud", "here");
      co_return text("logged");
    });
    server_.tool("visit", "Sends somewhere.", visit);
    server_.tool("pick", "Lets choose one.", pick);
    server_.tool("days", "Lets choose several.", days);
    server_.tool("nested", "Asks what no form has.", nested);
    server_.tool("nested_explicit", "The same.",
                 [](PlainCall&) -> ToolResult { return InputRequired().elicit("where", nested_form()); });
    server_.resource("test://static", "static", [] { return ResourceContents::text("x"); });
    session_.outlet = &stream_;
  }

  Reply send(std::string method, Json params = Json::object()) {
    Exchanged exchanged(server_, executor_, Request(1, std::move(method), std::move(params)),
                        [this](Exchange& e) {
                          e.session = &session_;
                          static_cast<testing::RecordingOutlet*>(e.outlet)->answer = answer_;
                        });
    while (!exchanged.reply) {
      executor_.run();
      std::this_thread::yield();
    }
    requests_ = std::move(exchanged.outlet.requests);
    sent_ = std::move(exchanged.outlet.sent);
    return std::move(*exchanged.reply);
  }

  Reply initialize(std::string_view version = "2025-11-25",
                   std::string_view capabilities = R"({"elicitation":{}})") {
    Json params = parsed(R"({"clientInfo":{"name":"old","version":"1"}})");
    params.set("protocolVersion", version);
    params.set("capabilities", parsed(capabilities));
    return send("initialize", params);
  }

  ManualExecutor executor_;
  testing::RecordingOutlet stream_;
  std::string logged_;  // above the server, whose log writes it
  Server server_{
      ServerInfo("test", "1.0"),
      ServerOptions().log([this](LogLevel, std::string_view event, std::initializer_list<LogField> fields) {
        logged_.append(event);
        for (const auto& field : fields) logged_.append(" ").append(field.second);
      })};
  Session session_;
  std::function<Reply(const std::string&, const Json&)> answer_;
  std::vector<Request> requests_;
  std::vector<Notification> sent_;
};

TEST_F(LegacyTest, ShakesHandsAndAnswersWithoutModernMembers) {
  const Reply reply = initialize();
  EXPECT_EQ(at(reply, {"protocolVersion"}), Json("2025-11-25"));
  EXPECT_EQ(at(reply, {"serverInfo", "name"}), Json("test"));
  EXPECT_FALSE(reply->contains("resultType"));
  EXPECT_EQ(session_.protocol_version, "2025-11-25");
  EXPECT_EQ(*send("ping"), Json::object());
  const Reply list = send("tools/list");
  for (const char* member : {"resultType", "ttlMs", "cacheScope", "_meta"})
    EXPECT_FALSE(list->contains(member));
  EXPECT_EQ(send("initialize").error().code, protocol::invalid_request);
}

TEST_F(LegacyTest, NegotiatesAVersionItSpeaks) {
  EXPECT_EQ(at(initialize("1999-01-01"), {"protocolVersion"}), Json("2025-11-25"));
}

TEST_F(LegacyTest, KeepsNoMoreOfAClientThanItsLimit) {
  Json params =
      parsed(R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}})");
  Json capabilities;
  capabilities.set("filler", std::string(std::size_t{64} << 10, 'x'));
  params.set("capabilities", capabilities);
  EXPECT_EQ(send("initialize", params).error().code, protocol::invalid_params);
  EXPECT_TRUE(session_.client_capabilities.is_null());
  capabilities.set("filler", std::string(std::size_t{60} << 10, 'x'));
  params.set("capabilities", capabilities);
  EXPECT_TRUE(send("initialize", params).ok());
}

TEST_F(LegacyTest, LimitsWhatASessionSubscribesTo) {
  EXPECT_TRUE(initialize().ok());
  const auto uri = [](int number) {
    Json params;
    params.set("uri", "test://" + std::to_string(number) + std::string(8'000, 'x'));
    return params;
  };
  int taken = 0;
  while (taken < 100 && send("resources/subscribe", uri(taken)).ok()) ++taken;
  EXPECT_EQ(taken, 16);
  EXPECT_TRUE(send("resources/subscribe", uri(0)).ok());
  EXPECT_TRUE(send("resources/unsubscribe", uri(0)).ok());
  EXPECT_TRUE(send("resources/subscribe", uri(16)).ok());
}

TEST_F(LegacyTest, SubscribesToUrisOnly) {  // S71
  EXPECT_TRUE(initialize().ok());
  for (const char* uri : {"", "not a uri", "test://a b", "test://\xc3\xa9"}) {
    Json params;
    params.set("uri", uri);
    EXPECT_EQ(send("resources/subscribe", params).error().code, protocol::invalid_params) << uri;
    EXPECT_EQ(send("resources/read", params).error().code, protocol::invalid_params) << uri;
  }
}

TEST_F(LegacyTest, ServesNothingBeforeTheHandshakeExceptModernRequests) {
  EXPECT_EQ(send("tools/list").error().code, protocol::invalid_request);
  EXPECT_EQ(*send("ping"), Json::object());
  EXPECT_EQ(at(send("tools/list", modern()), {"resultType"}), Json("complete"));
}

TEST_F(LegacyTest, AsksThePersonDuringTheCall) {
  EXPECT_TRUE(initialize().ok());
  answer_ = [](const std::string&, const Json&) {
    return parsed(R"({"action":"accept","content":{"name":"Ada"}})");
  };
  const Reply reply = send("tools/call", call_params("ask_name"));
  EXPECT_EQ(text_of(reply), "Hello, Ada!");
  EXPECT_FALSE(reply->contains("resultType"));
  EXPECT_FALSE(reply->contains("requestState"));
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].method, "elicitation/create");
  EXPECT_EQ(at(requests_[0].params, {"message"}), Json("Who are you?"));
}

TEST_F(LegacyTest, SendsAnUrlWithAnIdOfItsOwn) {
  EXPECT_TRUE(initialize("2025-11-25", R"({"elicitation":{"form":{},"url":{}}})").ok());
  answer_ = [](const std::string&, const Json&) { return parsed(R"({"action":"accept"})"); };
  std::set<std::string> ids;
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(text_of(send("tools/call", call_params("visit"))), "visited");
    ASSERT_EQ(requests_.size(), 1U);
    const Json& params = requests_[0].params;
    EXPECT_EQ(at(params, {"mode"}), Json("url"));
    const std::string* id = params.find_string("elicitationId");
    ASSERT_NE(id, nullptr);
    EXPECT_EQ(id->size(), 32U);
    ids.insert(*id);
  }
  EXPECT_EQ(ids.size(), 3U);

  // 2026-07-28 has no such member.
  const Reply modern_reply = ask(server_, "tools/call", modern(call_params("visit")));
  const Json question = at(modern_reply, {"inputRequests", "visit", "params"});
  EXPECT_EQ(at(question, {"mode"}), Json("url"));
  EXPECT_FALSE(question.contains("elicitationId"));
}

TEST_F(LegacyTest, DoesNotAskByUrlBeforeTheRevisionThatHasIt) {
  for (const char* version : {"2025-06-18", "2025-03-26"}) {
    session_ = Session();
    EXPECT_TRUE(initialize(version, R"({"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}})").ok());
    EXPECT_EQ(session_.client_capabilities, parsed(R"({"elicitation":{"form":{}},"sampling":{}})"));
    EXPECT_EQ(send("tools/call", call_params("visit")).error().code, protocol::invalid_request) << version;
    EXPECT_TRUE(requests_.empty()) << version;
  }
}

TEST_F(LegacyTest, AsksATitledChoiceAsTheRevisionSaysIt) {
  answer_ = [](const std::string&, const Json&) {
    return parsed(R"({"action":"accept","content":{"room":"b"}})");
  };
  EXPECT_TRUE(initialize("2025-06-18").ok());
  EXPECT_EQ(text_of(send("tools/call", call_params("pick"))), "b");
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(at(requests_[0].params, {"requestedSchema"}), parsed(R"({
      "type":"object","required":["room"],
      "properties":{"room":{"type":"string","title":"Room","enum":["a","b"],"enumNames":["Attic","Ball room"]}}})"));

  session_ = Session();
  EXPECT_TRUE(initialize("2025-11-25").ok());
  EXPECT_EQ(text_of(send("tools/call", call_params("pick"))), "b");
  const Json room = at(requests_.at(0).params, {"requestedSchema", "properties", "room"});
  EXPECT_TRUE(room.contains("oneOf"));
  EXPECT_FALSE(room.contains("enumNames"));
}

TEST_F(LegacyTest, AsksForSeveralChoicesByYesAndNoWhereTheRevisionHasNoLists) {
  EXPECT_TRUE(initialize("2025-06-18").ok());
  answer_ = [](const std::string&, const Json&) {
    return parsed(
        R"({"action":"accept","content":{"days[mo]":true,"days[tu]":false,"days[we]":true,"n":1}})");
  };
  EXPECT_EQ(text_of(send("tools/call", call_params("days"))), R"({"n":1,"days":["mo","we"]})");
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(at(requests_[0].params, {"requestedSchema"}), parsed(R"({
      "type":"object","required":["n"],"properties":{
        "days[mo]":{"type":"boolean","title":"Days: Monday","default":false},
        "days[tu]":{"type":"boolean","title":"Days: Tuesday","default":true},
        "days[we]":{"type":"boolean","title":"Days: we","default":false},
        "n":{"type":"integer"}}})"));
}

TEST_F(LegacyTest, AsksAgainWhereTheYesAndNoAreTooFewOrNone) {
  EXPECT_TRUE(initialize("2025-06-18").ok());
  int asked = 0;
  answer_ = [&asked](const std::string&, const Json&) {
    ++asked;
    if (asked == 1) return parsed(R"({"action":"accept","content":{"n":1}})");  // one at least
    if (asked == 2) return parsed(R"({"action":"accept","content":{"days[mo]":"yes","n":1}})");
    return parsed(R"({"action":"accept","content":{"days[tu]":true,"n":1}})");
  };
  EXPECT_EQ(text_of(send("tools/call", call_params("days"))), R"({"n":1,"days":["tu"]})");
  EXPECT_EQ(asked, 3);
}

TEST_F(LegacyTest, NamesTheFieldThatTheRevisionHasNoFormFor) {
  EXPECT_TRUE(initialize("2025-06-18").ok());
  for (const char* tool : {"nested", "nested_explicit"}) {
    const Reply reply = send("tools/call", call_params(tool));
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, protocol::internal_error);
    EXPECT_TRUE(requests_.empty());
    EXPECT_NE(logged_.find("handler_misused"), std::string::npos) << logged_;
    EXPECT_NE(logged_.find("'address'"), std::string::npos) << logged_;
    logged_.clear();
  }
}

TEST_F(LegacyTest, AsksAgainInTheSameCallForWhatIsNoAnswer) {
  EXPECT_TRUE(initialize("2025-06-18").ok());
  int asked = 0;
  answer_ = [&asked](const std::string&, const Json& params) {
    EXPECT_FALSE(params.contains("mode"));
    if (++asked == 1) return parsed(R"({"action":"accept","content":{"name":5}})");
    return parsed(R"({"action":"accept","content":{"name":"Bo"}})");
  };
  EXPECT_EQ(text_of(send("tools/call", call_params("ask_name"))), "Hello, Bo!");
  EXPECT_EQ(asked, 2);
}

TEST_F(LegacyTest, AsksAllAndTheExplicitStyleToo) {
  EXPECT_TRUE(initialize().ok());
  answer_ = [](const std::string&, const Json& params) {
    const std::string& message = *params.find_string("message");
    return parsed(message == "B?" ? R"({"action":"accept","content":{"name":"2"}})"
                                  : R"({"action":"accept","content":{"v":"1"}})");
  };
  EXPECT_EQ(text_of(send("tools/call", call_params("ask_two"))), "1&2");
  EXPECT_EQ(text_of(send("tools/call", call_params("explicit_ask"))), "1 after 1");
}

TEST_F(LegacyTest, EndsTheCallWhereTheClientCannotOrDoesNotAnswer) {
  EXPECT_TRUE(initialize("2025-11-25", "{}").ok());
  EXPECT_EQ(send("tools/call", call_params("ask_name")).error().code, protocol::invalid_request);
  session_.client_capabilities = parsed(R"({"elicitation":{}})");
  answer_ = [](const std::string&, const Json&) -> Reply { return failure(Fault(-1, "no")); };
  const long frames = detail::frames_alive();
  EXPECT_EQ(send("tools/call", call_params("ask_name")).error().code, protocol::internal_error);
  EXPECT_EQ(detail::frames_alive(), frames);
}

TEST_F(LegacyTest, LogsFromTheLevelOfTheSessionOn) {
  EXPECT_TRUE(initialize().ok());
  EXPECT_EQ(text_of(send("tools/call", call_params("logs"))), "logged");
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].params, parsed(R"({"level":"warning","logger":"here","data":"loud"})"));
  EXPECT_EQ(*send("logging/setLevel", parsed(R"({"level":"debug"})")), Json::object());
  EXPECT_TRUE(send("tools/call", call_params("logs")).ok());
  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_EQ(send("logging/setLevel", parsed(R"({"level":"loud"})")).error().code, protocol::invalid_params);
}

TEST_F(LegacyTest, ShowsStructuredContentAsObjectsOnly) {
  EXPECT_TRUE(initialize().ok());
  const Reply reply = send("tools/call", call_params("list"));
  EXPECT_EQ(text_of(reply), "[1,2]");
  EXPECT_FALSE(reply->contains("structuredContent"));
  const Reply tools = send("tools/list");
  for (const Json& tool : *tools->find("tools")->as_array()) EXPECT_FALSE(tool.contains("outputSchema"));
}

TEST_F(LegacyTest, SaysMinus32002ForAResourceThatIsNotThere) {  // S5
  EXPECT_TRUE(initialize().ok());
  EXPECT_EQ(send("resources/read", parsed(R"({"uri":"test://nope"})")).error().code,
            protocol::legacy_resource_not_found);
  const Reply read = send("resources/read", parsed(R"({"uri":"test://static"})"));
  EXPECT_FALSE(read->contains("ttlMs"));
}

TEST_F(LegacyTest, TellsASessionOfChangesItAskedFor) {
  EXPECT_TRUE(initialize().ok());
  EXPECT_EQ(*send("resources/subscribe", parsed(R"({"uri":"test://static"})")), Json::object());
  server_.notify_tools_changed();
  server_.notify_resource_updated("test://static");
  server_.notify_resource_updated("test://other");
  executor_.run();
  ASSERT_EQ(stream_.sent.size(), 2U);
  EXPECT_EQ(stream_.sent[0].method, "notifications/tools/list_changed");
  EXPECT_EQ(stream_.sent[0].params, Json::object());
  EXPECT_EQ(stream_.sent[1].params, parsed(R"({"uri":"test://static"})"));
  EXPECT_EQ(*send("resources/unsubscribe", parsed(R"({"uri":"test://static"})")), Json::object());
  server_.notify_resource_updated("test://static");
  session_.outlet = nullptr;
  server_.notify_tools_changed();
  executor_.run();
  EXPECT_EQ(stream_.sent.size(), 2U);
}

TEST_F(LegacyTest, ForgetsASessionThatIsGone) {
  auto session = std::make_unique<Session>();
  session->outlet = &stream_;
  Exchanged hello(
      server_, executor_,
      Request(
          1, "initialize",
          parsed(
              R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}})")),
      [&session](Exchange& e) { e.session = session.get(); });
  ASSERT_TRUE(hello.reply && hello.reply->ok());
  server_.notify_tools_changed();
  session.reset();
  executor_.run();
  EXPECT_TRUE(stream_.sent.empty());
}

}  // namespace
}  // namespace signet
