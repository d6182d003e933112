// The client's duties that no other test names (C...), and servers that mean harm.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include <signet/client/testing_client.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/transport_failure.h>

namespace signet {
namespace {

using ClientDuties = ClientTest;
using HostileServer = ClientTest;

const Json& meta_of(const Request& request) { return *request.params.find("_meta"); }

Json one_question(std::string_view method, std::string_view params) {
  return parsed(R"({"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":")" +
                std::string(method) + R"(","params":)" + std::string(params) + "}}}");
}

TEST_F(ClientDuties, EveryRequestSaysWhoCallsInWhichRevisionAndWhatItCanDo) {  // C5
  answer_forms();
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    if (request.method == "completion/complete") return reply(parsed(R"({"completion":{"values":[]}})"));
    return reply(parsed(R"({"tools":[],"prompts":[],"resources":[],"resourceTemplates":[],"contents":[],
                            "messages":[],"content":[]})"));
  };
  Client& calling = client();
  EXPECT_TRUE(executor.run(calling.list_tools()).ok());
  EXPECT_TRUE(executor.run(calling.list_prompts()).ok());
  EXPECT_TRUE(executor.run(calling.list_resources()).ok());
  EXPECT_TRUE(executor.run(calling.list_resource_templates()).ok());
  EXPECT_TRUE(executor.run(calling.call_tool("t", Json())).ok());
  EXPECT_TRUE(executor.run(calling.get_prompt("p", Json())).ok());
  EXPECT_TRUE(executor.run(calling.read_resource("x:y")).ok());
  EXPECT_TRUE(executor.run(calling.complete(parsed(R"({"type":"ref/prompt","name":"p"})"), "a", "v")).ok());
  EXPECT_TRUE(executor.run(calling.listen(ListenFilter(), [](const Notification&) {})).ok());
  ASSERT_EQ(service.seen.size(), 10u);
  for (const Request& request : service.seen) {
    const Json& meta = meta_of(request);
    EXPECT_EQ(*meta.find_string("io.modelcontextprotocol/protocolVersion"), "2026-07-28") << request.method;
    EXPECT_EQ(*meta.find("io.modelcontextprotocol/clientInfo"),
              Json::object({{"name", options.name}, {"version", options.version}}));
    EXPECT_EQ(*meta.find("io.modelcontextprotocol/clientCapabilities"),
              parsed(R"({"elicitation":{"form":{}}})"));
  }
}

TEST_F(ClientDuties, ProgressTokensAreUniqueOverActiveRequests) {  // C31
  std::vector<std::string> tokens;
  service.script = [&](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    tokens.push_back(json::write(*meta_of(request).find("progressToken")));
    return silence();
  };
  std::vector<Task<Called<ToolOutcome>>> running;
  for (int i = 0; i < 50; ++i) {
    CallOptions watching;
    watching.on_progress = [](const Progress&) {};
    running.push_back(client().call_tool("t", Json(), watching));
    running.back().start([] {});
  }
  while (tokens.size() < 50 && executor.step()) {
  }
  std::sort(tokens.begin(), tokens.end());
  EXPECT_EQ(std::unique(tokens.begin(), tokens.end()), tokens.end());
  EXPECT_EQ(tokens.size(), 50u);
}

TEST_F(ClientDuties, NothingIsTakenFromACache) {  // C34 C35 C36 C37
  answer_forms();
  int reads = 0;
  service.script = [&](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    if (!request.params.contains("inputResponses")) return reply(asking({"k"}, "s"));
    return reply(parsed(R"({"ttlMs":60000,"cacheScope":"public","contents":[{"uri":"x:y","text":")" +
                        std::to_string(++reads) + "\"}]}"));
  };
  for (const char* expected : {"1", "2"}) {
    const Called<ReadResourceResult> read = executor.run(client().read_resource("x:y"));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read->contents.at(0).find_string("text"), expected);
  }
  while (executor.step()) {
  }
  EXPECT_EQ(service.of("resources/read").size(), 4u);  // and nothing polls
}

TEST_F(ClientDuties, TheHandlerHearsWhoAsksForWhat) {  // C40 C43
  std::vector<Question> asked;
  options.on_form = answer_with([&](const Question& question) {
    asked.push_back(question);
    return Answer::accept();
  });
  serve([](const Request&, int n) {
    if (n == 1) return reply(one_question("elicitation/create", R"({"message":"Sure?"})"));
    if (n == 2) {
      return reply(one_question("elicitation/create",
                                R"({"mode":"form","message":"Sure?","requestedSchema":{"type":"object"}})"));
    }
    return reply(text_result("done"));
  });
  ASSERT_TRUE(call().ok());
  ASSERT_EQ(asked.size(), 2u);
  for (int round = 1; round <= 2; ++round) {
    const Question& question = asked[static_cast<std::size_t>(round - 1)];
    EXPECT_EQ(question.kind, Question::Kind::form);
    EXPECT_EQ(question.server_name, "scripted");
    EXPECT_EQ(question.method, "tools/call");
    EXPECT_EQ(question.target, "t");
    EXPECT_EQ(question.round, round);
    EXPECT_EQ(question.message(), "Sure?");
    EXPECT_TRUE(question.schema().is_object());
  }
}

TEST_F(ClientDuties, RefusesAModeAndASchemaThatAreNone) {  // C43
  answer_forms();
  for (const char* params : {R"({"message":"m","mode":"telepathy"})",
                             R"({"message":"m","requestedSchema":7})", R"({"mode":"form"})"}) {
    calls = 0;
    serve([params](const Request&, int) { return reply(one_question("elicitation/create", params)); });
    EXPECT_FALSE(call().ok()) << params;
    EXPECT_EQ(calls, 1) << params;
  }
}

TEST_F(ClientDuties, AUrlIsHandedOverAsItIsAndNothingElseIsDoneWithIt) {  // C41 C42 C44
  std::string shown;
  options.on_url = answer_with([&](const Question& question) {
    shown = question.url();
    return Answer::decline();
  });
  serve([](const Request&, int n) {
    if (n > 1) return reply(text_result("done"));
    return reply(one_question("elicitation/create",
                              R"({"mode":"url","message":"m","url":"https://a.example/x?y=%20#z"})"));
  });
  ASSERT_TRUE(call().ok());
  EXPECT_EQ(shown, "https://a.example/x?y=%20#z");
  EXPECT_EQ(*service.of("tools/call").at(1).params.find("inputResponses"),
            parsed(R"({"k":{"action":"decline"}})"));
  EXPECT_EQ(*meta_of(service.of("tools/call").at(0)).find("io.modelcontextprotocol/clientCapabilities"),
            parsed(R"({"elicitation":{"url":{}}})"));
  EXPECT_EQ(service.seen.size(), 3u);
}

TEST_F(ClientDuties, SamplingReachesTheHandlerUntouched) {  // C45 C46 C47 C48 C49
  const char* params = R"({"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":7,
    "tools":[{"name":"x","inputSchema":{}}],"toolChoice":{"mode":"required"},
    "modelPreferences":{"hints":[{"name":"b"},{"name":"a"}]}})";
  Json seen;
  options.sampling_tools = true;
  options.on_sampling = answer_with([&](const Question& question) {
    seen = question.params;
    return Answer::result(
        parsed(R"({"role":"assistant","model":"m","content":{"type":"text","text":"yes"}})"));
  });
  serve([params](const Request&, int n) {
    return n == 1 ? reply(one_question("sampling/createMessage", params)) : reply(text_result("done"));
  });
  ASSERT_TRUE(call().ok());
  EXPECT_EQ(seen, parsed(params));
  EXPECT_EQ(*meta_of(service.of("tools/call").at(0)).find("io.modelcontextprotocol/clientCapabilities"),
            parsed(R"({"sampling":{"tools":{}}})"));
}

TEST_F(ClientDuties, OnlyPlainFileAddressesAreSentAsRoots) {  // C51 C52
  Json roots;
  options.on_roots =
      answer_with([&](const Question&) { return Answer::result(Json::object({{"roots", roots}})); });
  serve([](const Request&, int n) {
    return n == 1 ? reply(one_question("roots/list", "{}")) : reply(text_result("done"));
  });
  roots = parsed(R"([{"uri":"file:///srv/project%20one","name":"one"},{"uri":"file:///"}])");
  ASSERT_TRUE(call().ok());
  EXPECT_EQ(*service.of("tools/call").at(1).params.find("inputResponses")->find("k")->find("roots"), roots);
  for (const char* bad :
       {R"([{"uri":"https://a.example/"}])", R"([{"uri":"/srv"}])", R"([{"uri":"file:///srv/../etc"}])",
        R"([{"uri":"file:///srv/%2e%2E/etc"}])", R"([{"uri":"file:///a/./b"}])",
        R"([{"uri":"file:///a\u0000b"}])", R"([{"uri":"file:///a b"}])", R"([{"name":"no uri"}])", R"([7])",
        R"({})", "null"}) {
    roots = parsed(bad);
    calls = 0;
    const Called<ToolOutcome> outcome = call();
    ASSERT_FALSE(outcome.ok()) << bad;
    EXPECT_EQ(outcome.error().kind, CallError::Kind::invalid_call) << bad;
    EXPECT_EQ(calls, 1) << bad;
  }
}

TEST_F(ClientDuties, ASubscriptionThatBreaksEndsSoThatTheHostSubscribesAgain) {  // C30
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    return refuse(protocol::to_fault(
        protocol::TransportFailure(protocol::TransportFailure::Kind::closed, "the process ended", true)));
  };
  const Called<Json> ended = executor.run(client().listen(ListenFilter(), [](const Notification&) {}));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().transport->kind, protocol::TransportFailure::Kind::closed);
  EXPECT_EQ(service.of("subscriptions/listen").size(), 1u);
}

TEST_F(ClientDuties, ASubscriptionNamesWhatItIsFor) {
  options.tasks = true;
  service.script = [](Request request, Exchange&) {
    return reply(request.method == "server/discover" ? discovery() : parsed(R"({"resultType":"complete"})"));
  };
  ListenFilter filter;
  filter.prompts = true;
  filter.uris = {"test://a", "test://b"};
  filter.task_ids = {"t1", "t2"};
  EXPECT_TRUE(executor.run(client().listen(filter, [](const Notification&) {})).ok());
  const std::vector<Request> sent = service.of("subscriptions/listen");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(
      *sent[0].params.find("notifications"),
      parsed(
          R"({"promptsListChanged":true,"resourceSubscriptions":["test://a","test://b"],"taskIds":["t1","t2"]})"));
  EXPECT_TRUE(meta_of(sent[0])
                  .find("io.modelcontextprotocol/clientCapabilities")
                  ->find("extensions")
                  ->contains("io.modelcontextprotocol/tasks"));
}

TEST_F(HostileServer, ListsEndWhereTheirBytesOrPagesDo) {
  int pages = 0;
  service.script = [&pages](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    Json page = parsed(R"({"resources":[]})");
    page.set("resources", JsonArray{Json::object({{"uri", "x:y"}, {"name", std::string(1000, 'n')}})});
    page.set("nextCursor", std::to_string(++pages));
    return reply(std::move(page));
  };
  options.list_bytes_max = 10'000;
  const auto many_bytes = executor.run(client().list_resources());
  ASSERT_FALSE(many_bytes.ok());
  EXPECT_EQ(many_bytes.error().message, "the list has more than 10000 bytes");
  EXPECT_LT(pages, 11);
}

TEST_F(ClientDuties, WhatAToolSaysOfItselfChangesNothing) {  // C6 C7 C33
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return reply(discovery());
    if (request.method == "tools/list") {
      return reply(parsed(R"({"tools":[{"name":"t","inputSchema":{},"icons":[{"src":"file:///etc/passwd"}],
        "annotations":{"readOnlyHint":true,"idempotentHint":true}}]})"));
    }
    return refuse(protocol::to_fault(
        protocol::TransportFailure(protocol::TransportFailure::Kind::closed, "cut", true)));
  };
  const auto tools = executor.run(client().list_tools());
  ASSERT_TRUE(tools.ok());
  EXPECT_EQ(*tools->at(0).json.find("icons"), parsed(R"([{"src":"file:///etc/passwd"}])"));
  EXPECT_FALSE(call().ok());
  EXPECT_EQ(service.of("tools/call").size(), 1u);  // not sent again, whatever it promises
  EXPECT_EQ(service.seen.size(), 3u);
}

TEST_F(HostileServer, AStateOfAMebibyteComesBackByteForByte) {  // C25
  answer_forms();
  std::string state;
  for (int i = 1; state.size() < (std::size_t{1} << 20); ++i) {
    state += std::string(1, static_cast<char>(i % 0x80)) + "\xc3\xa9\xe2\x80\xae\xf0\x9f\x98\x80\\u0041";
  }
  state += '\0';
  serve([&](const Request&, int n) {
    return n < 3 ? reply(asking({"k"}, state)) : reply(text_result("done"));
  });
  ASSERT_TRUE(call().ok());
  for (const std::size_t sent : {1u, 2u}) {
    EXPECT_TRUE(*service.of("tools/call").at(sent).params.find_string("requestState") == state);
  }
}

TEST_F(HostileServer, QuestionsThatChangeUnderTheSameKeyAreAskedAnew) {  // C29
  std::vector<std::string> asked;
  options.on_form = answer_with([&](const Question& question) {
    asked.push_back(question.message());
    return Answer::accept(Json::object({{"a", question.message()}}));
  });
  serve([](const Request&, int n) {
    if (n > 3) return reply(text_result("done"));
    return reply(one_question("elicitation/create", R"({"message":"question )" + std::to_string(n) +
                                                        R"(","requestedSchema":{"type":"object"}})"));
  });
  ASSERT_TRUE(call().ok());
  EXPECT_EQ(asked, (std::vector<std::string>{"question 1", "question 2", "question 3"}));
  for (std::size_t n = 1; n <= 3; ++n) {
    const Json* answer = service.of("tools/call").at(n).params.find("inputResponses")->find("k");
    EXPECT_EQ(*answer->find("content")->find_string("a"), "question " + std::to_string(n));
  }
}

TEST_F(HostileServer, ThatShedsLoadForEverIsGivenUp) {
  serve([](const Request&, int) { return reply(asking({}, "again")); });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::rounds_exceeded);
  EXPECT_EQ(calls, 11);
}

TEST_F(HostileServer, ThatAsksTooMuchAtOnceIsRefused) {
  answer_forms();
  std::vector<std::string> keys;
  for (int i = 0; i < 257; ++i) keys.push_back("k" + std::to_string(i));
  serve([&](const Request&, int) { return reply(asking(keys, "s")); });
  const Called<ToolOutcome> outcome = call();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, CallError::Kind::invalid_reply);
  EXPECT_EQ(calls, 1);
}

// Whatever a server writes, the sentence for a person stays short and has no control characters.
TEST_F(HostileServer, PutsNoControlCharactersIntoOurSentences) {
  answer_forms();
  const std::string evil = "\x1b]0;owned\x07\x1b[2J\r\n" + std::string(100'000, 'x');
  const std::vector<std::function<Task<Reply>()>> replies{
      [&] { return refuse(Fault(-32000, evil)); },
      [&] { return reply(Json::object({{"resultType", evil}})); },
      [&] { return reply(asking({evil}, 7)); },
      [&] {
        Json requests = Json::object({{evil, Json::object({{"method", evil}})}});
        return reply(
            Json::object({{"resultType", "input_required"}, {"inputRequests", std::move(requests)}}));
      },
      [&] {
        Json request = Json::object({{"method", "roots/list"}});
        Json requests = Json::object({{evil, std::move(request)}});
        return reply(
            Json::object({{"resultType", "input_required"}, {"inputRequests", std::move(requests)}}));
      },
  };
  for (std::size_t i = 0; i < replies.size(); ++i) {
    serve([&](const Request&, int) { return replies[i](); });
    const Called<ToolOutcome> outcome = call();
    ASSERT_FALSE(outcome.ok()) << i;
    EXPECT_LT(outcome.error().message.size(), 400u) << i;
    EXPECT_TRUE(std::none_of(outcome.error().message.begin(), outcome.error().message.end(),
                             [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
        << i << outcome.error().message;
  }
}

}  // namespace
}  // namespace signet
