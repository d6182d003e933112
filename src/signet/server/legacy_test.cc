#include <signet/server/server.h>

#include <signet/protocol/errors.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

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
  Server server_{ServerInfo("test", "1.0")};
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
