// What SEP-2663 (tasks) wants of a server, number by number: doc/requirements.md.
#include <signet/server/call.h>
#include <signet/server/content.h>
#include <signet/server/server.h>

#include <signet/protocol/errors.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace signet {
namespace {

using namespace testing;

Task<ToolResult> two_questions(Call& call) {
  auto a = call.elicit("a", form("A?").string("v"));
  auto b = call.elicit("b", form("B?").string("v"));
  auto [first, second] = co_await all(a, b);
  co_return text(first.string("v") + second.string("v"));
}

class TaskRequirementsTest : public ::testing::Test {
 protected:
  TaskRequirementsTest() {
    server_.tool(
        "optional", "A task where it can be.", [] { return std::string("done"); },
        ToolOptions().task(TaskSupport::optional));
    server_.tool(
        "required", "Always a task.", [] { return error("It failed."); },
        ToolOptions().task(TaskSupport::required));
    server_.tool(
        "faulty", "Ends in an error.", []() -> ToolResult { return Fault(-32603, "Broken."); },
        ToolOptions().task(TaskSupport::required));
    server_.tool("two", "Asks two.", two_questions, ToolOptions().task(TaskSupport::required));
    server_.tool(
        "talks", "Tells much.",
        [](PlainCall& call) {
          call.progress(1, 2);
          call.log("error", "said");
          return text("told");
        },
        ToolOptions().task(TaskSupport::required));
    // In the explicit style, the same key in two rounds; and one that looks like the second of it.
    server_.tool(
        "insists", "Asks again.",
        [](PlainCall& call) -> ToolResult {
          if (call.state() == Json(2)) return text("asked twice");
          InputRequired questions;
          questions.elicit("k", form("K?").string("v"));
          if (call.state().is_null()) questions.elicit("k~2", form("Another?").string("v"));
          questions.state(call.state().is_null() ? Json(1) : Json(2));
          return questions;
        },
        ToolOptions().task(TaskSupport::required));
    server_.prompt("p", "A prompt.", [] { return PromptResult().user("p"); });
  }
  Reply call(std::string_view tool, const Json& capabilities = with_tasks()) {
    return ask(server_, "tools/call", modern(call_params(tool), capabilities));
  }
  Json begin(std::string_view tool) { return at(call(tool), {"taskId"}); }
  Reply task(const std::string& method, const Json& id, const Json& capabilities = with_tasks()) {
    Json params;
    params.set("taskId", id);
    if (method == "tasks/update") params.set("inputResponses", Json::object());
    return ask(server_, method, modern(params, capabilities));
  }
  Reply wait_for(const Json& id, std::string_view status) { return wait_for_task(server_, id, status); }
  static Request listen(const Json& ids) {
    Json wanted;
    wanted.set("notifications", Json::object({{"taskIds", ids}}));
    return Request(5, "subscriptions/listen", modern(wanted, with_tasks()));
  }
  static Json required_extension() {
    return parsed(R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})");
  }

  Server server_{ServerInfo("tasks", "1")};
};

TEST_F(TaskRequirementsTest, OnlyAClientThatDeclaresThemOnThisRequestGetsTasks) {  // X1, X3, X16, X17
  for (const char* capabilities : {"{}", R"({"extensions":{"com.example/tasks":{}}})",
                                   R"({"tasks":{"requests":{"tools":{"call":{}}}}})"}) {
    EXPECT_EQ(text_of(call("optional", parsed(capabilities))), "done") << capabilities;
    const Reply refused = call("required", parsed(capabilities));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, protocol::missing_capability);
    EXPECT_EQ(refused.error().data, required_extension());
    for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
      const Reply reply = task(method, "x", parsed(capabilities));
      ASSERT_FALSE(reply.ok());
      EXPECT_EQ(reply.error().code, protocol::missing_capability) << method;
    }
  }
  EXPECT_EQ(task("tasks/get", "x").error().code, protocol::invalid_params);
}

TEST_F(TaskRequirementsTest, ATaskIsCreatedForToolCallsAlone) {  // B3, X2, X4
  EXPECT_EQ(at(call("optional"), {"resultType"}), Json("task"));
  Json prompt;
  prompt.set("name", "p");
  EXPECT_EQ(at(ask(server_, "prompts/get", modern(prompt, with_tasks())), {"resultType"}), Json("complete"));
  EXPECT_EQ(at(ask(server_, "tools/list", modern(Json::object(), with_tasks())), {"resultType"}),
            Json("complete"));
}

TEST_F(TaskRequirementsTest, ATaskIsThereAtOnceAndTellsEachStatusInItsForm) {  // X6, X7, X8
  const Json id = begin("optional");
  ASSERT_TRUE(id.is_string());
  EXPECT_TRUE(task("tasks/get", id).ok());
  const Reply done = wait_for(id, "completed");
  EXPECT_EQ(at(done, {"resultType"}), Json("complete"));
  EXPECT_TRUE(done->contains("result") && !done->contains("error"));
  EXPECT_EQ(at(wait_for(begin("required"), "completed"), {"result", "isError"}), Json(true));
  const Reply failed = wait_for(begin("faulty"), "failed");
  EXPECT_EQ(at(failed, {"error"}), parsed(R"({"code":-32603,"message":"Broken."})"));
  EXPECT_TRUE(!failed->contains("result"));
}

TEST_F(TaskRequirementsTest, AllQuestionsAreListedUnderKeysOfTheirOwn) {  // X5, X10
  const Json id = begin("two");
  const Reply asking = wait_for(id, "input_required");
  EXPECT_EQ(at(asking, {"inputRequests"}).as_object()->size(), 2U);
  EXPECT_FALSE(at(asking, {"inputRequests", "a"}).is_null());
  EXPECT_FALSE(at(asking, {"inputRequests", "b"}).is_null());
  Json params;
  params.set("taskId", id);
  params.set("inputResponses", parsed(R"({"a":{"action":"accept","content":{"v":"1"}}})"));
  EXPECT_TRUE(ask(server_, "tasks/update", modern(params, with_tasks())).ok());
  // What is answered is not asked again, and its key names nothing else.
  params.set("inputResponses", parsed(R"({"a":{"action":"accept","content":{"v":"9"}},
                                          "b":{"action":"accept","content":{"v":"2"}}})"));
  EXPECT_TRUE(ask(server_, "tasks/update", modern(params, with_tasks())).ok());
  EXPECT_EQ(at(wait_for(id, "completed"), {"result", "content", "0", "text"}), Json("12"));
}

TEST_F(TaskRequirementsTest, UpdatesAndCancellationsAreAcknowledgedAndNoMore) {  // X11
  const Json id = begin("two");
  EXPECT_TRUE(wait_for(id, "input_required").ok());
  for (const char* method : {"tasks/update", "tasks/cancel"}) {
    Reply reply = task(method, id);
    ASSERT_TRUE(reply.ok()) << show(reply);
    reply->erase("_meta");
    EXPECT_EQ(*reply, parsed(R"({"resultType":"complete"})")) << method;
  }
}

TEST_F(TaskRequirementsTest, ATaskIsNotCancelledByNotification) {  // X12
  const Json id = begin("two");
  EXPECT_TRUE(wait_for(id, "input_required").ok());
  ManualExecutor executor;
  testing::RecordingOutlet outlet;
  Exchange exchange;
  exchange.executor = &executor;
  exchange.outlet = &outlet;
  for (const Json& named : {id, Json(1)}) {
    server_.notify(Notification("notifications/cancelled", Json::object({{"requestId", named}})), exchange);
    executor.run();
  }
  EXPECT_EQ(at(task("tasks/get", id), {"status"}), Json("input_required"));
}

TEST_F(TaskRequirementsTest, AStreamRefusesWhoDidNotDeclareTasks) {  // X13
  ManualExecutor executor;
  const Json wanted = parsed(R"({"notifications":{"taskIds":["x"]}})");
  for (const char* capabilities : {"{}", R"({"tasks":{"requests":{"tools":{"call":{}}}}})"}) {
    Exchanged refused(server_, executor,
                      Request(1, "subscriptions/listen", modern(wanted, parsed(capabilities))));
    ASSERT_TRUE(refused.reply);
    EXPECT_EQ(refused.reply->error().code, protocol::missing_capability);
    EXPECT_EQ(refused.reply->error().data, required_extension());
    EXPECT_TRUE(refused.outlet.sent.empty());
  }
}

TEST_F(TaskRequirementsTest, AStreamGrantsTheTasksOfItsCallerAndNoOthers) {
  const Json mine = begin("two");
  EXPECT_TRUE(wait_for(mine, "input_required").ok());
  ManualExecutor executor;
  Exchanged heard(server_, executor, listen(Json::array({mine, "x"})));
  ASSERT_EQ(heard.outlet.sent.size(), 2U);
  EXPECT_EQ(heard.outlet.sent[0].method, "notifications/subscriptions/acknowledged");
  EXPECT_EQ(at(heard.outlet.sent[0].params, {"notifications"}),
            Json::object({{"taskIds", Json::array({mine})}}));
  Exchanged spying(server_, executor, listen(Json::array({mine})),
                   [](Exchange& exchange) { exchange.principal = Principal::authenticated("eve"); });
  ASSERT_EQ(spying.outlet.sent.size(), 1U);
  EXPECT_EQ(at(spying.outlet.sent[0].params, {"notifications"}), Json::object());
  EXPECT_TRUE(task("tasks/cancel", mine).ok());
  executor.run();
  EXPECT_EQ(spying.outlet.sent.size(), 1U);
  EXPECT_EQ(heard.outlet.sent.size(), 3U);
}

TEST_F(TaskRequirementsTest, AStreamTakesAsManyIdsAsItMayAndNothingElse) {
  ManualExecutor executor;
  JsonArray ids;
  for (int i = 0; i < 64; ++i) ids.push_back("task " + std::to_string(i));
  Exchanged taken(server_, executor, listen(ids));
  EXPECT_FALSE(taken.reply);
  ids.push_back("one more");
  for (const Json& wrong :
       {Json(ids), Json("x"), Json(JsonArray(1, Json(5))), Json(JsonArray(1, Json(std::string(129, 'x'))))}) {
    Exchanged refused(server_, executor, listen(wrong));
    ASSERT_TRUE(refused.reply);
    EXPECT_EQ(refused.reply->error().code, protocol::invalid_params);
  }
}

TEST_F(TaskRequirementsTest, EachChangeOfATaskIsToldAsTasksGetTellsIt) {
  const Json id = begin("two");
  EXPECT_TRUE(wait_for(id, "input_required").ok());
  ManualExecutor executor;
  Exchanged heard(server_, executor, listen(Json::array({id})));
  const auto is_told = [&] {
    Json asked = *task("tasks/get", id);
    asked.erase("resultType");
    asked.erase("_meta");
    executor.run();
    Json told = heard.outlet.sent.back().params;
    EXPECT_EQ(heard.outlet.sent.back().method, "notifications/tasks");
    EXPECT_EQ(at(told, {"_meta", "io.modelcontextprotocol/subscriptionId"}), Json(5));
    told.erase("_meta");
    return told == asked;
  };
  EXPECT_TRUE(is_told());
  Json params;
  params.set("taskId", id);
  params.set("inputResponses", parsed(R"({"a":{"action":"accept","content":{"v":"1"}}})"));
  EXPECT_TRUE(ask(server_, "tasks/update", modern(params, with_tasks())).ok());
  EXPECT_TRUE(is_told());
  params.set("inputResponses", parsed(R"({"b":{"action":"accept","content":{"v":"2"}}})"));
  EXPECT_TRUE(ask(server_, "tasks/update", modern(params, with_tasks())).ok());
  EXPECT_TRUE(wait_for(id, "completed").ok());
  while (at(heard.outlet.sent.back().params, {"status"}) != Json("completed")) executor.run();
  EXPECT_TRUE(is_told());
  // The stream goes on until it is ended.
  EXPECT_FALSE(heard.reply);
  server_.shut_down();
  executor.run();
  ASSERT_TRUE(heard.reply);
  EXPECT_TRUE(heard.reply->ok());
}

TEST_F(TaskRequirementsTest, AStreamTellsNoProgressAndNoLogOfATask) {  // X14
  ManualExecutor executor;
  Json params = modern(call_params("talks"), with_tasks());
  params.find("_meta")->set("progressToken", 1);
  params.find("_meta")->set("io.modelcontextprotocol/logLevel", "debug");
  const Json id = at(ask(server_, "tools/call", params), {"taskId"});
  Exchanged heard(server_, executor, listen(Json::array({id})));
  while (at(heard.outlet.sent.back().params, {"status"}) != Json("completed")) executor.run();
  for (const Notification& sent : heard.outlet.sent) {
    EXPECT_TRUE(sent.method == "notifications/subscriptions/acknowledged" ||
                sent.method == "notifications/tasks")
        << sent.method;
  }
}

TEST_F(TaskRequirementsTest, AKeyNamesOneQuestionForTheLifeOfATask) {  // X10
  const Json id = begin("insists");
  std::set<std::string> keys;
  std::vector<std::string> words;
  for (int round = 0; round < 4; ++round) {
    const Reply asking = wait_for(id, "input_required");
    ASSERT_TRUE(asking.ok()) << show(asking);
    const Json requests = at(asking, {"inputRequests"});
    Json answers = Json::object();
    for (const JsonMember& request : *requests.as_object()) {
      EXPECT_TRUE(keys.insert(request.first).second) << request.first;
      words.push_back(request.first);
      // The first answer to each does not fit.
      answers.set(request.first, parsed(round % 2 == 0 ? R"({"action":"accept","content":{"v":1}})"
                                                       : R"({"action":"accept","content":{"v":"1"}})"));
    }
    Json params;
    params.set("taskId", id);
    params.set("inputResponses", answers);
    EXPECT_TRUE(ask(server_, "tasks/update", modern(params, with_tasks())).ok());
  }
  EXPECT_EQ(at(wait_for(id, "completed"), {"result", "content", "0", "text"}), Json("asked twice"));
  const std::vector<std::string> expected = {"k", "k~2~1", "k~2", "k~2~2", "k~3", "k~4"};
  EXPECT_EQ(words, expected);
}

TEST_F(TaskRequirementsTest, IdsAreLongAndNeverTheSameAndBelongToTheirOwner) {  // X18
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(*begin("optional").as_string());
  EXPECT_EQ(ids.size(), 100U);
  for (const std::string& id : ids) EXPECT_GE(id.size(), 22U);  // 128 bits in Base64
  Json params;
  params.set("taskId", *ids.begin());
  params.set("inputResponses", Json::object());
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const Reply reply = ask(server_, method, modern(params, with_tasks()),
                            [](Exchange& exchange) { exchange.principal = Principal::authenticated("eve"); });
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, protocol::invalid_params) << method;
  }
}

}  // namespace
}  // namespace signet
