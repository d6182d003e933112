#include <signet/server/tasks.h>

#include <signet/protocol/errors.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <atomic>

namespace signet {
namespace {

using namespace testing;

Task<ToolResult> confirm(Call& call) {
  auto question = form("Delete it?").boolean("confirm");
  ElicitResult answer = co_await call.elicit("confirm", question);
  co_return text(answer.boolean("confirm") ? "deleted" : "kept");
}

Task<ToolResult> two_questions(Call& call) {
  auto a = call.elicit("a", form("A?").string("v"));
  auto b = call.elicit("b", form("B?").string("v"));
  auto [first, second] = co_await all(a, b);
  co_return text(first.string("v") + "&" + second.string("v"));
}

Task<ToolResult> ask_then_task(Call& call) {
  auto question = form("Who?").string("name");
  ElicitResult who = co_await call.elicit("name", question);
  co_await call.start_task();
  co_return text("worked for " + who.string("name"));
}

class TasksTest : public ::testing::Test {
 protected:
  TasksTest() {
    server_.tool("plain", "No task.", [] { return std::string("plain"); });
    server_.tool(
        "optional", "A task where it can be.", [] { return std::string("done"); },
        ToolOptions().task(TaskSupport::optional));
    server_.tool(
        "failing", "Must be a task.", [] { return error("It failed."); },
        ToolOptions().task(TaskSupport::required));
    server_.tool(
        "faulty", "Ends in an error.", []() -> ToolResult { return Fault(-32603, "Broken."); },
        ToolOptions().task(TaskSupport::required));
    server_.tool("confirm", "Asks.", confirm, ToolOptions().task(TaskSupport::required));
    server_.tool("two", "Asks two.", two_questions, ToolOptions().task(TaskSupport::required));
    server_.tool("later", "Asks, then works.", ask_then_task,
                 ToolOptions().task(TaskSupport::optional, TaskStart::by_handler));
    server_.tool(
        "endless", "Works until it is told to stop.",
        [this](PlainCall& call) {
          const std::stop_token stop = call.stop_token();
          while (!stop.stop_requested()) std::this_thread::yield();
          stopped_ = true;
          return text("never seen");
        },
        ToolOptions().task(TaskSupport::required));
  }
  Reply call(const Json& params) { return ask(server_, "tools/call", modern(params, with_tasks())); }
  Reply task(const std::string& method, const Json& id, const Json& responses = Json()) {
    return ask_task(server_, method, id, responses);
  }
  Reply wait_for(const Json& id, std::string_view status) { return wait_for_task(server_, id, status); }
  Json begin(std::string_view tool) { return at(call(call_params(tool)), {"taskId"}); }

  std::atomic<bool> stopped_{false};
  ManualClock clock_{Timestamp(std::chrono::milliseconds(1'800'000'000'000))};
  Server server_{ServerInfo("tasks", "1"), ServerOptions().clock(clock_)};
};

TEST_F(TasksTest, IsAnnouncedAndCreatesTasksOnlyForClientsThatKnowThem) {
  const Reply discovered = ask(server_, "server/discover", modern());
  EXPECT_EQ(at(discovered, {"capabilities", "extensions"}),
            parsed(R"({"io.modelcontextprotocol/tasks":{}})"));
  EXPECT_EQ(text_of(ask(server_, "tools/call", modern(call_params("optional")))), "done");
  EXPECT_EQ(text_of(call(call_params("plain"))), "plain");
  const Reply refused = ask(server_, "tools/call", modern(call_params("failing")));
  EXPECT_EQ(refused.error().code, protocol::missing_capability);
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    EXPECT_EQ(ask(server_, method, modern(parsed(R"({"taskId":"x"})"))).error().code,
              protocol::missing_capability);
  }
  Server without(ServerInfo("none", "1"));
  EXPECT_EQ(ask(without, "tasks/get", modern(Json::object(), with_tasks())).error().code,
            protocol::method_not_found);
}

TEST_F(TasksTest, GoesFromItsCreationToItsResult) {
  const Reply created = call(call_params("optional"));
  EXPECT_EQ(at(created, {"resultType"}), Json("task")) << show(created);
  EXPECT_EQ(at(created, {"status"}), Json("working"));
  for (const char* member : {"createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs", "taskId"}) {
    EXPECT_TRUE(created->contains(member)) << member;
  }
  for (const char* member : {"task", "result", "error", "inputRequests", "requestState"}) {
    EXPECT_FALSE(created->contains(member)) << member;
  }
  const Reply done = wait_for(at(created, {"taskId"}), "completed");
  EXPECT_EQ(at(done, {"resultType"}), Json("complete"));
  EXPECT_EQ(at(done, {"result", "content", "0", "text"}), Json("done"));
}

TEST_F(TasksTest, TellsFailuresOfTheToolFromErrors) {
  const Reply failed = wait_for(begin("failing"), "completed");
  EXPECT_EQ(at(failed, {"result", "isError"}), Json(true));
  const Reply broken = wait_for(begin("faulty"), "failed");
  EXPECT_EQ(at(broken, {"error"}), parsed(R"({"code":-32603,"message":"Broken."})"));
  EXPECT_FALSE(broken->contains("result"));
}

TEST_F(TasksTest, AsksInsideTheTask) {
  const Json id = begin("confirm");
  const Reply asking = wait_for(id, "input_required");
  EXPECT_EQ(at(asking, {"inputRequests", "confirm", "method"}), Json("elicitation/create"));
  const Reply wrong =
      task("tasks/update", id, parsed(R"({"confirm":{"action":"accept","content":{"confirm":5}},"x":{}})"));
  EXPECT_EQ(at(wrong, {"resultType"}), Json("complete"));
  EXPECT_EQ(at(task("tasks/get", id), {"status"}), Json("input_required"));
  EXPECT_TRUE(
      task("tasks/update", id, parsed(R"({"confirm~2":{"action":"accept","content":{"confirm":true}}})"))
          .ok());
  EXPECT_EQ(at(wait_for(id, "completed"), {"result", "content", "0", "text"}), Json("deleted"));
}

TEST_F(TasksTest, TakesAnswersOneByOne) {
  const Json id = begin("two");
  EXPECT_TRUE(wait_for(id, "input_required").ok());
  EXPECT_TRUE(task("tasks/update", id, parsed(R"({"a":{"action":"accept","content":{"v":"1"}}})")).ok());
  const Reply half = task("tasks/get", id);
  EXPECT_EQ(at(half, {"status"}), Json("input_required"));
  EXPECT_TRUE(at(half, {"inputRequests", "a"}).is_null());
  EXPECT_FALSE(at(half, {"inputRequests", "b"}).is_null());
  EXPECT_TRUE(task("tasks/update", id, parsed(R"({"b":{"action":"accept","content":{"v":"2"}}})")).ok());
  EXPECT_EQ(at(wait_for(id, "completed"), {"result", "content", "0", "text"}), Json("1&2"));
}

TEST_F(TasksTest, MayBeginAfterRoundsOfQuestions) {
  Json params = call_params("later");
  const Reply asked = call(params);
  ASSERT_EQ(at(asked, {"resultType"}), Json("input_required")) << show(asked);
  params.set("requestState", at(asked, {"requestState"}));
  params.set("inputResponses", parsed(R"({"name":{"action":"accept","content":{"name":"Alice"}}})"));
  const Reply created = call(params);
  EXPECT_EQ(at(created, {"resultType"}), Json("task")) << show(created);
  EXPECT_EQ(at(wait_for(at(created, {"taskId"}), "completed"), {"result", "content", "0", "text"}),
            Json("worked for Alice"));
}

TEST_F(TasksTest, IsCancelledAndStaysSo) {
  const Json id = begin("endless");
  EXPECT_EQ(at(task("tasks/cancel", id), {"resultType"}), Json("complete"));
  EXPECT_EQ(at(task("tasks/get", id), {"status"}), Json("cancelled"));
  while (!stopped_) std::this_thread::yield();
  EXPECT_EQ(at(task("tasks/get", id), {"status"}), Json("cancelled"));
  EXPECT_TRUE(task("tasks/cancel", id).ok());
}

TEST_F(TasksTest, DoesNotExistForOthers) {
  const Json id = begin("confirm");
  Json params;
  params.set("taskId", id);
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const Reply reply = ask(server_, method, modern(params, with_tasks()),
                            [](Exchange& exchange) { exchange.principal = Principal::authenticated("eve"); });
    EXPECT_EQ(reply.error().code, protocol::invalid_params);
  }
  EXPECT_EQ(task("tasks/get", "unknown").error().code, protocol::invalid_params);
}

TEST_F(TasksTest, IsItsCallersWhateverOctetsNameTheCaller) {
  const auto as = [this](const std::string& method, const Json& params, const std::string& caller) {
    return ask(server_, method, modern(params, with_tasks()),
               [&caller](Exchange& exchange) { exchange.principal = Principal::authenticated(caller); });
  };
  const std::string caller = "caller \xff";
  Json params;
  params.set("taskId", at(as("tools/call", call_params("confirm"), caller), {"taskId"}));
  EXPECT_TRUE(as("tasks/get", params, caller).ok());
  for (const char* other : {"caller \xfe", "caller \xef\xbf\xbd", "caller "}) {  // the second is U+FFFD
    EXPECT_FALSE(as("tasks/get", params, other).ok()) << other;
  }
}

TEST_F(TasksTest, IsForgottenWhereNobodyAnswersIt) {
  const Json left = begin("confirm");
  EXPECT_TRUE(wait_for(left, "input_required").ok());
  clock_.advance(std::chrono::minutes(59));
  const Json later = begin("confirm");
  EXPECT_TRUE(wait_for(later, "input_required").ok());
  EXPECT_TRUE(task("tasks/get", left).ok());
  clock_.advance(std::chrono::minutes(2));
  EXPECT_FALSE(task("tasks/get", left).ok());
  EXPECT_TRUE(task("tasks/get", later).ok());
  const Json answers = parsed(R"({"confirm":{"action":"accept","content":{"confirm":true}}})");
  EXPECT_TRUE(task("tasks/update", later, answers).ok());
  EXPECT_EQ(at(wait_for(later, "completed"), {"result", "content", "0", "text"}), Json("deleted"));
}

TEST_F(TasksTest, KeepsNoMoreThanItsLimitOfWhatClientsSend) {
  Json params = call_params("confirm");
  Json arguments;
  arguments.set("filler", std::string(std::size_t{4} << 20, 'x'));
  params.set("arguments", arguments);
  int taken = 0;
  while (taken < 100 && call(params).ok()) ++taken;
  EXPECT_GT(taken, 1);
  EXPECT_LT(taken, 17);
  const Json small = begin("confirm");
  EXPECT_TRUE(wait_for(small, "input_required").ok());
  // What is forgotten counts no more.
  clock_.advance(std::chrono::minutes(61));
  EXPECT_TRUE(call(params).ok());
}

TEST(Tasks, LeaveNothingBehindWhenTheServerEnds) {
  const long frames = detail::frames_alive();
  {
    Server server(ServerInfo("s", "1"));
    server.tool("confirm", "Asks.", confirm, ToolOptions().task(TaskSupport::required));
    EXPECT_TRUE(ask(server, "tools/call", modern(call_params("confirm"), with_tasks())).ok());
  }
  EXPECT_EQ(detail::frames_alive(), frames);
}

}  // namespace
}  // namespace signet
