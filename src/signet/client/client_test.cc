#include <signet/client/client.h>

#include <gtest/gtest.h>

#include <signet/client/testing_client.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/transport_failure.h>

namespace signet {
namespace {

using namespace std::chrono_literals;
using protocol::TransportFailure;

constexpr std::string_view state_path = "requestState";

TEST_F(ClientTest, RepeatsTheCallWithANewIdTheAnswersAndTheState) {  // C25, C27, C28
  answer_forms();
  const std::string state = "\"\\/\xc3\xa9\xf0\x9f\x98\x80\n\t =%2B";
  serve([&](const Request&, int n) {
    return n == 1 ? reply(asking({"k"}, state)) : reply(text_result("done"));
  });
  const Called<ToolOutcome> outcome = call();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->text(), "done");
  const std::vector<Request> sent = service.of("tools/call");
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_FALSE(sent[0].params.contains("inputResponses"));
  EXPECT_FALSE(sent[0].params.contains(state_path));
  EXPECT_FALSE(sent[0].id == sent[1].id);
  EXPECT_EQ(*sent[1].params.find_string(state_path), state);
  EXPECT_EQ(*sent[1].params.find("arguments"), *sent[0].params.find("arguments"));
  EXPECT_EQ(*sent[1].params.find("inputResponses"),
            parsed(R"({"k":{"action":"accept","content":{"name":"Ada"}}})"));
}

TEST_F(ClientTest, SendsAStateOnlyWhereOneWasGivenAndAnEmptyOneIsOne) {  // C26
  answer_forms();
  serve([](const Request&, int n) {
    if (n == 1) return reply(asking({"k"}, ""));
    return n == 2 ? reply(asking({"k"}, Json())) : reply(text_result("done"));
  });
  ASSERT_TRUE(call().ok());
  const std::vector<Request> sent = service.of("tools/call");
  ASSERT_EQ(sent.size(), 3u);
  ASSERT_NE(sent[1].params.find_string(state_path), nullptr);
  EXPECT_EQ(*sent[1].params.find_string(state_path), "");
  EXPECT_FALSE(sent[2].params.contains(state_path));
}

TEST_F(ClientTest, SendsOnlyTheAnswersOfThisRound) {  // C29
  answer_forms();
  serve([](const Request&, int n) {
    if (n == 1) return reply(asking({"a"}, "1"));
    return n == 2 ? reply(asking({"b", "c"}, "2")) : reply(text_result("done"));
  });
  ASSERT_TRUE(call().ok());
  const Json* last = service.of("tools/call").at(2).params.find("inputResponses");
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->as_object()->size(), 2u);
  EXPECT_FALSE(last->contains("a"));
}

TEST_F(ClientTest, BacksOffWhereOnlyAStateComes) {  // C27
  std::vector<Timestamp> at;
  serve([&](const Request& request, int n) {
    at.push_back(clock.now());
    EXPECT_FALSE(request.params.contains("inputResponses"));
    return n <= 5 ? reply(asking({}, "only")) : reply(text_result("done"));
  });
  ASSERT_TRUE(call().ok());
  ASSERT_EQ(at.size(), 6u);
  const std::array<std::chrono::milliseconds, 5> expected{50ms, 100ms, 200ms, 250ms, 250ms};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(at[i + 1] - at[i], expected[i]);
}

TEST_F(ClientTest, GivesUpAServerThatAsksForEver) {
  answer_forms();
  serve([](const Request&, int) { return reply(asking({"k"}, "s")); });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::rounds_exceeded);
  EXPECT_EQ(calls, 11);
}

TEST_F(ClientTest, TakesAnAbsentResultTypeAsCompleteAndAnUnknownOneAsAnError) {  // C3, C4, B3
  serve([](const Request&, int n) {
    return reply(n == 1 ? parsed(R"({"content":[]})") : parsed(R"({"resultType":"mystery","content":[]})"));
  });
  EXPECT_TRUE(call().ok());
  const Called<ToolOutcome> second = call();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, CallError::Kind::invalid_reply);
}

TEST_F(ClientTest, StaysShortAboutAHugeResultTypeWithControlCharacters) {
  serve([](const Request&, int) {
    Json result = Json::object({{"resultType", "\x1b[31m" + std::string(1 << 20, 'x')}});
    return reply(std::move(result));
  });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_LT(outcome.error().message.size(), 200u);
  EXPECT_EQ(outcome.error().message.find('\x1b'), std::string::npos);
}

TEST_F(ClientTest, RefusesInputRequestsThatAreMalformed) {  // S48
  answer_forms();
  const std::vector<const char*> bad{
      R"({"resultType":"input_required"})",
      R"({"resultType":"input_required","requestState":1})",
      R"({"resultType":"input_required","inputRequests":[]})",
      R"({"resultType":"input_required","inputRequests":{"k":{}}})",
      R"({"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}})",
      R"({"resultType":"input_required","inputRequests":{"k":{"method":"tools/call","params":{}}}})",
      R"({"resultType":7})"};
  for (const char* text : bad) {
    serve([text](const Request&, int) { return reply(parsed(text)); });
    calls = 0;
    EXPECT_FALSE(call().ok()) << text;
    EXPECT_EQ(calls, 1) << text;
  }
}

TEST_F(ClientTest, RefusesInputRequestsOfMethodsThatMayNotAsk) {
  answer_forms();
  serve([](const Request&, int) { return reply(asking({"k"}, "s")); });
  const auto listed = executor.run(client().list_tools());
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().kind, CallError::Kind::invalid_reply);
}

TEST_F(ClientTest, AnswersNothingThatItDidNotDeclare) {  // C41, C46, C50
  serve([](const Request&, int) { return reply(asking({"k"}, "s")); });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::unsupported_input);
  ASSERT_EQ(calls, 1);
  const Json* meta = service.of("tools/call")[0].params.find("_meta");
  EXPECT_EQ(*meta->find("io.modelcontextprotocol/clientCapabilities"), Json::object());
}

TEST_F(ClientTest, DeclaresWhatItHasHandlersFor) {  // C41, C42, C50, C5, C46
  answer_forms();
  options.on_roots =
      answer_with([](const Question&) { return Answer::result(Json::object({{"roots", Json::array()}})); });
  serve([](const Request&, int) { return reply(text_result("x")); });
  ASSERT_TRUE(call().ok());
  const Json* meta = service.of("tools/call")[0].params.find("_meta");
  EXPECT_EQ(*meta->find("io.modelcontextprotocol/clientCapabilities"),
            parsed(R"({"elicitation":{"form":{}},"roots":{}})"));
}

TEST_F(ClientTest, RefusesSamplingWithToolsThatWasNotDeclared) {  // C45
  options.on_sampling = answer_with([](const Question&) { return Answer::result(Json::object()); });
  serve([](const Request&, int) {
    return reply(
        parsed(R"({"resultType":"input_required","inputRequests":{"s":{"method":"sampling/createMessage",
      "params":{"messages":[],"maxTokens":5,"tools":[]}}}})"));
  });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::unsupported_input);
}

TEST_F(ClientTest, AQuestionWithoutAModeIsAForm) {  // C43
  answer_forms();
  for (const char* mode : {"", R"("mode":"form",)"}) {
    calls = 0;
    serve([mode](const Request&, int n) {
      return n == 1
                 ? reply(parsed(
                       std::string(
                           R"({"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{)") +
                       mode + R"("message":"m","requestedSchema":{"type":"object","properties":{}}}}}})"))
                 : reply(text_result("x"));
    });
    EXPECT_TRUE(call().ok()) << mode;
    EXPECT_EQ(calls, 2) << mode;
  }
}

TEST_F(ClientTest, OpensNoUrlByItselfAndShowsItWhole) {  // C40, C44
  const std::string url = "https://example.com/pay?who=ada#now";
  const auto asks = [&url](const Request&, int n) {
    Json params = Json::object({{"mode", "url"}, {"message", "Pay?"}, {"url", url}});
    Json question = Json::object({{"method", "elicitation/create"}, {"params", std::move(params)}});
    Json result = Json::object({{"resultType", "input_required"}});
    result.set("inputRequests", Json::object({{"k", std::move(question)}}));
    return n % 2 == 1 ? reply(std::move(result)) : reply(text_result("x"));
  };
  serve(asks);
  const Called<ToolOutcome> refused = call();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, CallError::Kind::unsupported_input);

  std::string shown;
  ClientOptions with_url;
  with_url.clock = &clock;
  with_url.on_url = answer_with([&shown](const Question& question) {
    shown = question.server_name + " " + question.url();
    return Answer::decline();
  });
  calls = 0;
  Client asking_client(service, executor, with_url);
  EXPECT_TRUE(executor.run(asking_client.call_tool("t", Json::object())).ok());
  EXPECT_EQ(shown, "scripted " + url);
}

TEST_F(ClientTest, SendsNoRootsButFiles) {  // C50, C51
  std::string uri;
  options.on_roots = answer_with([&uri](const Question&) {
    Json root = Json::object({{"uri", uri}});
    return Answer::result(Json::object({{"roots", Json::array({std::move(root)})}}));
  });
  serve([](const Request&, int n) {
    return n % 2 == 1
               ? reply(parsed(
                     R"({"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}})"))
               : reply(text_result("x"));
  });
  uri = "file:///home/ada";
  EXPECT_TRUE(call().ok());
  uri = "https://example.com/";
  const Called<ToolOutcome> refused = call();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, CallError::Kind::invalid_call);
  EXPECT_EQ(calls, 3);
}

TEST_F(ClientTest, TakesNoSamplingThatIsNoConversation) {  // B26
  options.on_sampling = answer_with([](const Question&) { return Answer::result(Json::object()); });
  serve([](const Request&, int) {
    return reply(
        parsed(R"({"resultType":"input_required","inputRequests":{"s":{"method":"sampling/createMessage",
      "params":{"maxTokens":5,"messages":[{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t",
      "input":{}}}]}}}})"));
  });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::invalid_reply);
}

TEST_F(ClientTest, FillsDefaultsInWhereTheyAreLeftOut) {
  options.on_form = answer_with([](const Question&) { return Answer::accept(Json::object({{"a", 5}})); });
  serve([](const Request&, int n) {
    return n == 1 ? reply(parsed(
                        R"({"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create",
      "params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"integer","default":1},
      "b":{"type":"boolean","default":false},"c":{"type":"string"}}}}}}})"))
                  : reply(text_result("x"));
  });
  ASSERT_TRUE(call().ok());
  const Json* answers = service.of("tools/call")[1].params.find("inputResponses");
  EXPECT_EQ(*answers, parsed(R"({"k":{"action":"accept","content":{"a":5,"b":false}}})"));
}

TEST_F(ClientTest, PassesOnThatThePersonDeclined) {  // C40
  options.on_form = answer_with([](const Question&) { return Answer::decline(); });
  serve([](const Request&, int n) { return n == 1 ? reply(asking({"k"}, "s")) : reply(text_result("x")); });
  ASSERT_TRUE(call().ok());
  EXPECT_EQ(*service.of("tools/call")[1].params.find("inputResponses"),
            parsed(R"({"k":{"action":"decline"}})"));
}

TEST_F(ClientTest, SendsNothingMoreWhenThePersonLeaves) {
  options.on_form = answer_with([](const Question&) { return Answer::abandon(); });
  serve([](const Request&, int) { return reply(asking({"k"}, "s")); });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::cancelled);
  EXPECT_EQ(calls, 1);
}

Task<Answer> slow_answer(Executor& executor, std::chrono::milliseconds delay) {
  const OneShot<int> over;
  const std::shared_ptr<void> timer = executor.post_after(delay, [over] { over.set(0); });
  co_await over;
  co_return Answer::accept(Json::object({{"name", "Ada"}}));
}

TEST_F(ClientTest, DoesNotCountTheTimeAPersonThinks) {
  options.on_form = [this](Question) { return slow_answer(executor, 1h); };
  options.call_timeout = 1000ms;
  serve([](const Request&, int n) { return n == 1 ? reply(asking({"k"}, "s")) : reply(text_result("x")); });
  EXPECT_TRUE(call().ok());
}

TEST_F(ClientTest, EndsACallWhoseTimeIsOverAndDropsIt) {
  const long before = detail::frames_alive();
  serve([](const Request&, int) { return silence(); });
  CallOptions quick;
  quick.timeout = 700ms;
  const Timestamp started = clock.now();
  const Called<ToolOutcome> outcome = call(quick);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::timed_out);
  EXPECT_EQ(clock.now() - started, 700ms);
  EXPECT_EQ(detail::frames_alive(), before);
}

TEST_F(ClientTest, CountsTheTimeOfAllRoundsTogether) {
  answer_forms();
  serve([this](const Request&, int) {
    clock.advance(400ms);
    return reply(asking({"k"}, "s"));
  });
  CallOptions quick;
  quick.timeout = 1000ms;
  const Called<ToolOutcome> outcome = call(quick);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::timed_out);
  EXPECT_LE(calls, 4);
}

TEST_F(ClientTest, EndsACallThatIsStopped) {
  std::stop_source stop;
  serve([&](const Request&, int) {
    executor.post([&] { stop.request_stop(); });
    return silence();
  });
  CallOptions stoppable;
  stoppable.stop = stop.get_token();
  const Called<ToolOutcome> outcome = call(stoppable);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::cancelled);
}

TEST_F(ClientTest, KeepsTheAnswersOfAThousandCallsApart) {  // C1, C2, C29
  options.on_form = answer_with(
      [](const Question& question) { return Answer::accept(Json::object({{"name", question.key}})); });
  std::vector<std::string> ids;
  service.script = [&](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    ids.push_back(json::write(request.id));
    const std::string k = json::write(*request.params.find("arguments")->find("k"));
    const Json* answers = request.params.find("inputResponses");
    if (answers == nullptr) return reply(asking({"q" + k}, "s" + k));
    const std::string name = *answers->find("q" + k)->find("content")->find_string("name");
    return reply(text_result(k + "|" + name + "|" + *request.params.find_string("requestState")));
  };
  constexpr int count = 1000;
  std::vector<Task<Called<ToolOutcome>>> running;
  int finished = 0;
  for (int k = 0; k < count; ++k) {
    running.push_back(client().call_tool("t", Json::object({{"k", k}})));
    running.back().start([&finished] { ++finished; });
  }
  while (finished < count && executor.step()) {
  }
  ASSERT_EQ(finished, count);
  for (int k = 0; k < count; ++k) {
    const Called<ToolOutcome> outcome = running[static_cast<std::size_t>(k)].take();
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    const std::string number = std::to_string(k);
    EXPECT_EQ(outcome->text(), number + "|q" + number + "|s" + number);
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  EXPECT_EQ(service.of("server/discover").size(), 1u);
}

Fault lost() { return protocol::to_fault(TransportFailure(TransportFailure::Kind::closed, "cut", true)); }

TEST_F(ClientTest, NeverRepeatsALostToolCallUnlessTold) {  // C72
  serve([](const Request&, int n) { return n == 1 ? refuse(lost()) : reply(text_result("x")); });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(outcome.error().transport->may_have_arrived);
  EXPECT_EQ(calls, 1);
  calls = 0;
  CallOptions again;
  again.resend = true;
  EXPECT_TRUE(call(again).ok());
  EXPECT_EQ(calls, 2);
}

TEST_F(ClientTest, RepeatsALostReadOnceWithANewId) {  // C72
  serve([](const Request&, int n) { return n == 1 ? refuse(lost()) : reply(parsed(R"({"contents":[]})")); });
  EXPECT_TRUE(executor.run(client().read_resource("x:y")).ok());
  const std::vector<Request> sent = service.of("resources/read");
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_FALSE(sent[0].id == sent[1].id);
}

TEST_F(ClientTest, FollowsEveryCursorAndAnEmptyOneIsOne) {  // C38, C39
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    const std::string* cursor = request.params.find_string("cursor");
    if (cursor == nullptr)
      return reply(parsed(R"({"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""})"));
    if (cursor->empty()) return reply(parsed(R"({"tools":[],"nextCursor":"empty page"})"));
    if (*cursor == "empty page")
      return reply(parsed(R"({"tools":[{"name":"b","inputSchema":{}}],"nextCursor":"z"})"));
    return reply(parsed(R"({"tools":[{"name":"c","inputSchema":{}}],"nextCursor":null})"));
  };
  const auto tools = executor.run(client().list_tools());
  ASSERT_TRUE(tools.ok());
  ASSERT_EQ(tools->size(), 3u);
  EXPECT_EQ((*tools)[2].name, "c");
}

TEST_F(ClientTest, EndsAListThatRepeatsItsCursor) {
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    return reply(parsed(R"({"tools":[],"nextCursor":"same"})"));
  };
  EXPECT_FALSE(executor.run(client().list_tools()).ok());
  EXPECT_EQ(service.of("tools/list").size(), 2u);
}

TEST_F(ClientTest, LeavesOutToolsWithInvalidHeadersAndNamesThem) {  // C21
  std::string logged;
  options.log = [&](LogLevel, std::string_view, std::initializer_list<LogField> fields) {
    for (const LogField& field : fields) logged += field.second;
  };
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    return reply(
        parsed(R"({"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":
      {"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}},
      {"name":5,"inputSchema":{"type":"object"}},7]})"));
  };
  const auto tools = executor.run(client().list_tools());
  ASSERT_TRUE(tools.ok());
  ASSERT_EQ(tools->size(), 1u);
  EXPECT_EQ(tools->front().name, "good");
  EXPECT_NE(logged.find("bad"), std::string::npos);
  EXPECT_NE(logged.find("it has no name"), std::string::npos);
}

TEST_F(ClientTest, JudgesStructuredContentByTheOutputSchema) {
  service.script = [this](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    if (request.method == "tools/list") {
      return reply(parsed(R"({"tools":[{"name":"t","inputSchema":{},"outputSchema":{"type":"object",
        "properties":{"n":{"type":"number"}},"required":["n"]}}]})"));
    }
    const std::array<const char*, 4> results{R"({"content":[],"structuredContent":{"n":1}})",
                                             R"({"content":[],"structuredContent":{"n":"x"}})",
                                             R"({"content":[]})", R"({"content":[],"isError":true})"};
    return reply(parsed(results.at(static_cast<std::size_t>(calls++))));
  };
  ASSERT_TRUE(executor.run(client().list_tools()).ok());
  EXPECT_TRUE(call().ok());
  EXPECT_FALSE(call().ok());
  EXPECT_FALSE(call().ok());
  EXPECT_TRUE(call().ok());
}

TEST_F(ClientTest, ListsTheToolsAndTriesAgainWhereAHeaderWasMissing) {
  service.script = [this](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    if (request.method == "tools/list") return reply(parsed(R"({"tools":[]})"));
    if (++calls == 1) return refuse(Fault(protocol::header_mismatch, "Mcp-Param-Region is missing"));
    return reply(text_result("x"));
  };
  EXPECT_TRUE(call().ok());
  EXPECT_EQ(service.of("tools/list").size(), 1u);
}

TEST_F(ClientTest, ReportsProgressOfItsOwnCallOnly) {  // C31
  std::vector<double> seen;
  service.script = [](Request request, Exchange& exchange) {
    if (request.method == "server/discover") return reply(discovery());
    const Json token = *request.params.find("_meta")->find("progressToken");
    for (const Json& one : {Json("other"), token}) {
      exchange.outlet->notify(Notification(
          "notifications/progress", Json::object({{"progressToken", one}, {"progress", 0.5}, {"total", 2}})));
    }
    return reply(text_result("x"));
  };
  CallOptions watching;
  watching.on_progress = [&](const Progress& progress) { seen.push_back(progress.progress); };
  EXPECT_TRUE(call(watching).ok());
  EXPECT_EQ(seen, std::vector<double>{0.5});
}

TEST_F(ClientTest, AContinuationIsFinishedByAnotherClient) {
  serve([](const Request& request, int n) {
    return n == 1 ? reply(asking({"k"}, "st\xc3\xa4te"))
                  : reply(text_result(*request.params.find_string("requestState")));
  });
  const Called<Step> first = executor.run(client().call_once("t", Json::object({{"x", 1}})));
  ASSERT_TRUE(first.ok());
  ASSERT_FALSE(first->finished);
  ASSERT_EQ(first->questions.size(), 1u);
  const std::string kept = first->continuation.serialize();

  const Result<Continuation> loaded = Continuation::parse(kept);
  ASSERT_TRUE(loaded.ok());
  Client other(service, executor, options);
  EXPECT_FALSE(executor.run(other.resume(*loaded, Answers())).ok());
  Answers answers;
  answers.insert_or_assign("k", Answer::accept(Json::object({{"name", "Ada"}})));
  const Called<Step> last = executor.run(other.resume(*loaded, answers));
  ASSERT_TRUE(last.ok());
  ASSERT_TRUE(last->finished);
  EXPECT_EQ(*(*last->result.find("content")->as_array())[0].find_string("text"), "st\xc3\xa4te");
  EXPECT_EQ(*service.of("tools/call").back().params.find("arguments"), Json::object({{"x", 1}}));
}

TEST(Continuation, RefusesWhatIsNone) {
  for (const char* text :
       {"", "{}", "[]",
        R"({"signetContinuation":2,"method":"m","params":{},"rounds":0,"inputRequests":null})",
        R"({"signetContinuation":1,"method":"m","params":[],"rounds":0,"inputRequests":null})",
        R"({"signetContinuation":1,"method":"m","params":{},"rounds":-1,"inputRequests":null})",
        R"({"signetContinuation":1,"method":"m","params":{},"rounds":0,"inputRequests":{"k":1}})"}) {
    EXPECT_FALSE(Continuation::parse(text).ok()) << text;
  }
  EXPECT_TRUE(Continuation::parse(
                  R"({"signetContinuation":1,"method":"m","params":{},"rounds":0,"inputRequests":null})")
                  .ok());
}

}  // namespace
}  // namespace signet
