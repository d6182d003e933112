// The tasks extension, seen from the client: made, polled, asked, ended.
#include <gtest/gtest.h>

#include <signet/client/testing_client.h>
#include <signet/protocol/errors.h>

namespace signet {
namespace {

using namespace std::chrono_literals;

class FollowTask : public ClientTest {
 protected:
  FollowTask() { options.tasks = true; }

  // The call makes a task; the n-th tasks/get, from 1, is answered by `state`.
  void serve_task(std::function<Json(int)> state) {
    service.script = [this, state = std::move(state)](Request request, Exchange&) {
      if (request.method == "server/discover") return reply(discovery());
      if (request.method == "tools/call") {
        return reply(
            parsed(R"({"resultType":"task","taskId":"t1","status":"working","pollIntervalMs":200})"));
      }
      EXPECT_EQ(*request.params.find_string("taskId"), "t1");
      if (request.method == "tasks/get") return reply(state(++polls));
      return reply(parsed(R"({"resultType":"complete"})"));
    };
  }

  static Json working() {
    return parsed(R"({"resultType":"complete","status":"working","pollIntervalMs":300})");
  }
  static Json completed() {
    Json task = parsed(R"({"resultType":"complete","status":"completed"})");
    task.set("result", text_result("done"));
    return task;
  }
  static Json asks_for(const std::vector<std::string>& keys) {
    Json task = parsed(R"({"resultType":"complete","status":"input_required"})");
    task.set("inputRequests", *asking(keys, Json()).find("inputRequests"));
    return task;
  }

  int polls = 0;
};

TEST_F(FollowTask, PollsAtTheServersIntervalUntilItIsOver) {
  std::vector<Timestamp> at;
  serve_task([&](int n) {
    at.push_back(clock.now());
    return n < 4 ? working() : completed();
  });
  const Called<ToolOutcome> outcome = call();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->text(), "done");
  ASSERT_EQ(at.size(), 4u);
  for (std::size_t i = 1; i < at.size(); ++i) EXPECT_EQ(at[i] - at[i - 1], 300ms);
}

TEST_F(FollowTask, IsDeclaredOnlyWhereWantedAndUnaskedForTasksAreAnError) {  // B3 B15 X2
  serve_task([](int) { return completed(); });
  ASSERT_TRUE(call().ok());
  const Json capabilities = *service.of("tools/call")
                                 .at(0)
                                 .params.find("_meta")
                                 ->find("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(capabilities, parsed(R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})"));
  // Not where questions are answered elsewhere.
  const Called<Step> once = executor.run(client().call_once("t", Json()));
  ASSERT_FALSE(once.ok());
  EXPECT_EQ(once.error().kind, CallError::Kind::invalid_reply);

  options.tasks = false;
  Client without(service, executor, options);
  const Called<ToolOutcome> outcome = executor.run(without.call_tool("t", Json()));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::invalid_reply);
}

TEST_F(FollowTask, OtherRequestsMayNotBecomeTasks) {  // X2
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    return reply(parsed(R"({"resultType":"task","taskId":"t1","status":"working"})"));
  };
  EXPECT_FALSE(executor.run(client().read_resource("x:y")).ok());
  EXPECT_TRUE(service.of("tasks/get").empty());
}

TEST_F(FollowTask, AnswersEachQuestionOnceHoweverOftenItIsListed) {  // X5 X9 X10
  int asked = 0;
  options.on_form = answer_with([&](const Question& question) {
    ++asked;
    return Answer::accept(Json::object({{"name", question.key}}));
  });
  serve_task([](int n) {
    if (n <= 2) return asks_for({"a"});
    if (n == 3) return asks_for({"a", "b"});
    return completed();
  });
  ASSERT_TRUE(call().ok());
  EXPECT_EQ(asked, 2);
  const std::vector<Request> updates = service.of("tasks/update");
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(*updates[0].params.find("inputResponses"),
            parsed(R"({"a":{"action":"accept","content":{"name":"a"}}})"));
  EXPECT_EQ(*updates[1].params.find("inputResponses"),
            parsed(R"({"b":{"action":"accept","content":{"name":"b"}}})"));
  EXPECT_EQ(service.of("tools/call").size(), 1u);
}

TEST_F(FollowTask, AFailedOneIsARefusalAndACancelledOneIsCancelled) {  // X6
  serve_task([](int) {
    return parsed(R"({"resultType":"complete","status":"failed","error":{"code":-32603,"message":"broke"}})");
  });
  const Called<ToolOutcome> failed = call();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, CallError::Kind::refused);
  EXPECT_EQ(failed.error().fault->code, protocol::internal_error);
  serve_task([](int) { return parsed(R"({"resultType":"complete","status":"cancelled"})"); });
  EXPECT_EQ(call().error().kind, CallError::Kind::cancelled);
}

TEST_F(FollowTask, WhoLeavesCancelsTheTaskByItsName) {  // X12
  std::stop_source stop;
  serve_task([&](int n) {
    if (n == 2) stop.request_stop();
    return working();
  });
  CallOptions stoppable;
  stoppable.stop = stop.get_token();
  EXPECT_EQ(call(stoppable).error().kind, CallError::Kind::cancelled);
  EXPECT_EQ(service.of("tasks/cancel").size(), 1u);
  EXPECT_TRUE(service.notified.empty());

  serve_task([](int) { return working(); });
  CallOptions quick;
  quick.timeout = 2s;
  EXPECT_EQ(call(quick).error().kind, CallError::Kind::timed_out);
  EXPECT_EQ(service.of("tasks/cancel").size(), 2u);

  options.on_form = answer_with([](const Question&) { return Answer::abandon(); });
  Client leaving(service, executor, options);
  serve_task([](int) { return asks_for({"a"}); });
  EXPECT_EQ(executor.run(leaving.call_tool("t", Json())).error().kind, CallError::Kind::cancelled);
  EXPECT_EQ(service.of("tasks/cancel").size(), 3u);
  EXPECT_TRUE(service.of("tasks/update").empty());
}

TEST_F(FollowTask, RefusesStatesThatAreNone) {
  answer_forms();
  for (const char* state :
       {R"({"status":"dreaming"})", R"({"resultType":"complete"})", R"({"status":"completed"})",
        R"({"status":"completed","result":7})",
        R"({"status":"completed","result":{"resultType":"task","taskId":"t2"}})", R"({"status":"failed"})",
        R"({"status":"failed","error":{"code":"x","message":"m"}})", R"({"status":"input_required"})",
        R"({"status":"input_required","inputRequests":{"k":{"method":"tools/call"}}})"}) {
    serve_task([state](int) { return parsed(state); });
    const Called<ToolOutcome> outcome = call();
    EXPECT_FALSE(outcome.ok()) << state;
  }
  int key = 0;
  serve_task([&](int) { return asks_for({"k" + std::to_string(++key)}); });
  EXPECT_EQ(call().error().kind, CallError::Kind::rounds_exceeded);
}

}  // namespace
}  // namespace signet
