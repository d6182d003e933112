#include <signet/server/subscriptions.h>

#include <signet/protocol/errors.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

namespace signet {
namespace {

using namespace testing;

Json filter(std::string_view text) {
  Json params;
  params.set("notifications", parsed(text));
  return modern(params);
}

class SubscriptionsTest : public ::testing::Test {
 protected:
  SubscriptionsTest() {
    server_.tool("t", "T.", [] { return std::string(); });
    server_.resource("test://static", "static", [] { return ResourceContents::text("x"); });
  }
  std::unique_ptr<Exchanged> listen(Json id, std::string_view text) {
    return std::make_unique<Exchanged>(server_, executor_,
                                       Request(std::move(id), "subscriptions/listen", filter(text)));
  }
  ManualExecutor executor_;
  Server server_{ServerInfo("test", "1.0"), ServerOptions().subscriptions_max(2)};
};

TEST_F(SubscriptionsTest, AcknowledgesFirstAndTellsWhatWasAskedFor) {  // S11, S56, S57
  const auto one = listen(7, R"({"toolsListChanged":true,"promptsListChanged":true,"future":1})");
  const auto two = listen("L", R"({"resourceSubscriptions":["test://static"]})");
  server_.notify_tools_changed();
  server_.notify_prompts_changed();
  server_.notify_resources_changed();
  server_.notify_resource_updated("test://static");
  server_.notify_resource_updated("test://other");
  executor_.run();

  ASSERT_EQ(one->outlet.sent.size(), 2U);
  EXPECT_EQ(one->outlet.sent[0].method, "notifications/subscriptions/acknowledged");
  // There are no prompts, so nothing of them is granted.
  EXPECT_EQ(at(one->outlet.sent[0].params, {"notifications"}), parsed(R"({"toolsListChanged":true})"));
  EXPECT_EQ(one->outlet.sent[1].method, "notifications/tools/list_changed");
  for (const Notification& sent : one->outlet.sent) {
    EXPECT_EQ(at(sent.params, {"_meta", "io.modelcontextprotocol/subscriptionId"}), Json(7));
  }
  ASSERT_EQ(two->outlet.sent.size(), 2U);
  EXPECT_EQ(two->outlet.sent[1].method, "notifications/resources/updated");
  EXPECT_EQ(at(two->outlet.sent[1].params, {"uri"}), Json("test://static"));
  EXPECT_EQ(at(two->outlet.sent[1].params, {"_meta", "io.modelcontextprotocol/subscriptionId"}), Json("L"));
}

TEST_F(SubscriptionsTest, GrantsAnEmptyFilterAndRefusesNone) {  // S71
  const auto empty = listen(1, "{}");
  EXPECT_FALSE(empty->reply);
  ASSERT_EQ(empty->outlet.sent.size(), 1U);
  EXPECT_EQ(at(empty->outlet.sent[0].params, {"notifications"}), Json::object());
  Exchanged none(server_, executor_, Request(2, "subscriptions/listen", modern()));
  ASSERT_TRUE(none.reply);
  EXPECT_EQ(none.reply->error().code, protocol::invalid_params);
  EXPECT_TRUE(none.outlet.sent.empty());
  for (const char* malformed :
       {R"({"resourceSubscriptions":[5]})", R"({"resourceSubscriptions":null})",
        R"({"resourceSubscriptions":[""]})", R"({"resourceSubscriptions":["test://x","not a uri"]})",
        R"({"toolsListChanged":"yes"})", R"({"promptsListChanged":1})", R"({"resourcesListChanged":null})"}) {
    const auto refused = listen(3, malformed);
    ASSERT_TRUE(refused->reply) << malformed;
    EXPECT_EQ(refused->reply->error().code, protocol::invalid_params) << malformed;
    EXPECT_TRUE(refused->outlet.sent.empty()) << malformed;
  }
}

TEST_F(SubscriptionsTest, CarriesNoLogMessagesAndNoProgress) {  // S80
  server_.tool("tells", "Tells.", [](Call& call) -> Task<ToolResult> {
    call.log("emergency", "loud");
    call.progress(1);
    co_return text("told");
  });
  const char* const meta = R"({"_meta":{"io.modelcontextprotocol/logLevel":"debug","progressToken":"p"}})";
  Json params = parsed(meta);
  params.set("notifications", parsed(R"({"toolsListChanged":true})"));
  Exchanged listening(server_, executor_, Request(1, "subscriptions/listen", modern(params)));
  Json call = call_params("tells");
  call.set("_meta", *parsed(meta).find("_meta"));
  Exchanged telling(server_, executor_, Request(2, "tools/call", modern(call)));
  ASSERT_TRUE(telling.reply);
  ASSERT_EQ(telling.outlet.sent.size(), 2U);
  EXPECT_EQ(telling.outlet.sent[0].method, "notifications/message");
  EXPECT_EQ(telling.outlet.sent[1].method, "notifications/progress");
  ASSERT_EQ(listening.outlet.sent.size(), 1U);
  EXPECT_EQ(listening.outlet.sent[0].method, "notifications/subscriptions/acknowledged");
}

TEST_F(SubscriptionsTest, IsSilentAfterTheClientHasGone) {
  const auto one = listen(1, R"({"toolsListChanged":true})");
  server_.notify_tools_changed();
  one->drop();
  server_.notify_tools_changed();
  executor_.run();
  EXPECT_EQ(one->outlet.sent.size(), 1U);
}

TEST_F(SubscriptionsTest, TakesAsManyStreamsAsItMay) {
  const auto one = listen(1, "{}");
  const auto two = listen(2, "{}");
  const auto three = listen(3, "{}");
  ASSERT_TRUE(three->reply);
  EXPECT_FALSE(three->reply->ok());
  one->drop();
  EXPECT_FALSE(listen(4, "{}")->reply);
}

TEST_F(SubscriptionsTest, EndsEveryStreamWithItsResultAtShutDown) {  // S61, S62
  const auto pipe = listen(1, "{}");
  Exchanged http(server_, executor_, Request("h", "subscriptions/listen", filter("{}")),
                 [](Exchange& e) { e.header = [](std::string_view) { return std::nullopt; }; });
  server_.shut_down();
  server_.shut_down();
  executor_.run();
  ASSERT_TRUE(pipe->reply && http.reply);
  EXPECT_EQ(**pipe->reply,
            parsed(R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}})"));
  EXPECT_EQ(at(*http.reply, {"_meta", "io.modelcontextprotocol/subscriptionId"}), Json("h"));
  // That it is the server who ended them, a pipe adds (transport/stdio_server.cc).
  EXPECT_EQ(pipe->outlet.sent.size(), 1U);
  EXPECT_EQ(http.outlet.sent.size(), 1U);
  EXPECT_FALSE(listen(2, "{}")->reply->ok());
}

}  // namespace
}  // namespace signet
