#include <signet/client/client.h>

#include <gtest/gtest.h>

#include <signet/client/testing_client.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/transport_failure.h>

namespace signet {
namespace {

using namespace std::chrono_literals;
using protocol::TransportFailure;

Json initialized() {
  return parsed(
      R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}})");
}

Fault with_stage(Fault fault, Fault::Stage stage) {
  fault.stage = stage;
  return fault;
}

Fault status(int code) {
  TransportFailure failed(TransportFailure::Kind::http_status, "status", false);
  failed.http_status = code;
  return protocol::to_fault(failed);
}

class DiscoveryTest : public ::testing::Test {
 protected:
  // The first question is answered by `probe`, `initialize` by an old server.
  Called<ServerDescription> connect_to(std::function<Task<Reply>()> probe) {
    service.script = [probe = std::move(probe)](Request request, Exchange&) {
      if (request.method == "server/discover") return probe();
      if (request.method == "initialize") return reply(initialized());
      return reply(Json::object({{"content", Json::array()}}));
    };
    service.seen.clear();
    options.clock = &clock;
    Client client(service, executor, options);
    return executor.run(client.connect());
  }

  ManualClock clock{Timestamp(1'000'000ms)};
  ManualExecutor executor{clock};
  ScriptedService service;
  ClientOptions options;
};

// C12: no single code decides.
TEST_F(DiscoveryTest, FallsBackToInitializeOnAnythingThatIsNotModern) {
  const std::vector<std::function<Task<Reply>()>> old_servers{
      [] { return refuse(Fault(protocol::method_not_found, "no")); },
      [] { return refuse(Fault(protocol::invalid_params, "no")); },
      [] { return refuse(Fault(-32000, "no session")); },
      [] { return refuse(with_stage(Fault(-32000, "no session"), Fault::Stage::envelope)); },
      [] { return refuse(Fault(-1, "what?")); },
      [] { return refuse(status(400)); },
      [] { return refuse(status(404)); },
      [] { return refuse(status(405)); },
      [] {
        return refuse(protocol::to_fault(TransportFailure(TransportFailure::Kind::not_mcp, "html", true)));
      },
      [] { return silence(); },
      [] { return reply(Json::object()); },
      [] { return reply(parsed(R"({"supportedVersions":["2025-11-25"]})")); },
      [] {
        return refuse(Fault(protocol::unsupported_version, "no", parsed(R"({"supported":["2025-11-25"]})")));
      },
  };
  for (std::size_t i = 0; i < old_servers.size(); ++i) {
    const Called<ServerDescription> server = connect_to(old_servers[i]);
    ASSERT_TRUE(server.ok()) << i << ": " << server.error().message;
    EXPECT_FALSE(server->modern) << i;
    EXPECT_EQ(server->protocol_version, "2025-06-18") << i;
    EXPECT_EQ(service.of("initialize").size(), 1u) << i;
  }
}

TEST_F(DiscoveryTest, StaysModernOnTheErrorsOfModernServers) {
  const std::vector<std::function<Task<Reply>()>> modern_servers{
      [] { return reply(discovery()); },
      [] { return refuse(Fault(protocol::header_mismatch, "no")); },
      [] { return refuse(Fault(protocol::missing_capability, "no")); },
      [] { return refuse(with_stage(Fault(protocol::method_not_found, "no"), Fault::Stage::envelope)); },
  };
  for (std::size_t i = 0; i < modern_servers.size(); ++i) {
    const Called<ServerDescription> server = connect_to(modern_servers[i]);
    ASSERT_TRUE(server.ok()) << i;
    EXPECT_TRUE(server->modern) << i;
    EXPECT_TRUE(service.of("initialize").empty()) << i;
  }
}

TEST_F(DiscoveryTest, WhoIsStoppedMeanwhileLeavesAndWhoWaitsTriesAgain) {
  std::stop_source stop;
  service.script = [&](Request request, Exchange&) {
    EXPECT_EQ(request.method, "server/discover");
    if (service.seen.size() > 1) return reply(discovery());
    executor.post([&] { stop.request_stop(); });
    return silence();
  };
  options.clock = &clock;
  Client client(service, executor, options);
  CallOptions stoppable;
  stoppable.stop = stop.get_token();
  Task<Called<ServerDescription>> impatient = client.connect(stoppable);
  bool left = false;
  impatient.start([&] { left = true; });
  const Called<ServerDescription> server = executor.run(client.connect());
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_TRUE(server->modern);
  ASSERT_TRUE(left);
  const Called<ServerDescription> gone = impatient.take();
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().kind, CallError::Kind::cancelled);
  EXPECT_EQ(clock.now(), Timestamp(1'000'000ms)) << "at once";
}

TEST_F(DiscoveryTest, TriesAgainWithAVersionThatTheServerOffers) {
  int asked = 0;
  const Called<ServerDescription> server = connect_to([&] {
    if (++asked > 1) return reply(discovery());
    return refuse(Fault(protocol::unsupported_version, "no",
                        parsed(R"({"supported":["2026-07-28"],"requested":"x"})")));
  });
  ASSERT_TRUE(server.ok());
  EXPECT_TRUE(server->modern);
  EXPECT_EQ(asked, 2);
}

TEST_F(DiscoveryTest, GivesUpWhereNoVersionIsCommon) {
  const Called<ServerDescription> server =
      connect_to([] { return reply(parsed(R"({"supportedVersions":["2031-01-01"]})")); });
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().kind, CallError::Kind::no_version);
}

TEST_F(DiscoveryTest, DoesNotTryInitializeWhereTheCallerIsRefused) {
  for (const int code : {401, 403, 429}) {
    const Called<ServerDescription> server = connect_to([code] { return refuse(status(code)); });
    ASSERT_FALSE(server.ok());
    EXPECT_EQ(server.error().transport->http_status, code);
    EXPECT_TRUE(service.of("initialize").empty());
  }
}

TEST_F(DiscoveryTest, AsksOnceForManyCallsAndAgainAfterAFailure) {
  int probes = 0;
  service.script = [&](Request request, Exchange&) {
    if (request.method != "server/discover") return reply(text_result("x"));
    return ++probes == 1 ? refuse(status(401)) : reply(discovery());
  };
  options.clock = &clock;
  Client client(service, executor, options);
  EXPECT_FALSE(executor.run(client.connect()).ok());
  EXPECT_TRUE(executor.run(client.call_tool("t", Json())).ok());
  EXPECT_TRUE(executor.run(client.call_tool("t", Json())).ok());
  EXPECT_EQ(probes, 2);
}

TEST_F(DiscoveryTest, WhoWaitsForADroppedAttemptMakesItsOwn) {
  int probes = 0;
  service.script = [&](Request request, Exchange&) {
    if (request.method != "server/discover") return reply(text_result("x"));
    return ++probes == 1 ? silence() : reply(discovery());
  };
  options.clock = &clock;
  Client client(service, executor, options);
  Task<Called<ServerDescription>> first = client.connect();
  first.start([] {});
  Task<Called<ServerDescription>> second = client.connect();
  bool done = false;
  second.start([&done] { done = true; });
  first = Task<Called<ServerDescription>>();
  while (!done && executor.step()) {
  }
  ASSERT_TRUE(done);
  EXPECT_TRUE(second.take().ok());
  EXPECT_EQ(probes, 2);
}

Task<Reply> ask_then_reply(Exchange& exchange) {
  Json params = parsed(
      R"({"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"d"}}}})");
  const Task<Reply> asking = exchange.outlet->request("elicitation/create", std::move(params));
  const Reply answer = co_await asking;
  co_return text_result(answer ? json::write(*answer) : answer.error().message);
}

TEST_F(DiscoveryTest, AnswersTheQuestionsOfASessionWithTheSameHandlers) {
  service.script = [](Request request, Exchange& exchange) {
    if (request.method == "server/discover") return refuse(Fault(protocol::method_not_found, "no"));
    if (request.method == "initialize") return reply(initialized());
    return ask_then_reply(exchange);
  };
  options.clock = &clock;
  {
    Client without(service, executor, options);
    const auto outcome = executor.run(without.call_tool("t", Json()));
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->text(), "Not supported by this client");
  }
  options.on_form = answer_with([](const Question&) { return Answer::accept(); });
  Client with(service, executor, options);
  const auto outcome = executor.run(with.call_tool("t", Json()));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->text(), R"({"action":"accept","content":{"a":"d"}})");
  EXPECT_EQ(service.notified.back(), "notifications/initialized");
  EXPECT_FALSE(service.of("tools/call").back().params.contains("_meta"));
}

Fault session_gone() {
  return protocol::to_fault(TransportFailure(TransportFailure::Kind::session_ended, "gone", false));
}

TEST_F(DiscoveryTest, ASessionThatTheServerForgotIsBegunAnewAndTheRequestSentAgain) {
  int calls = 0;
  service.script = [&calls](Request request, Exchange&) {
    if (request.method == "server/discover") return refuse(Fault(protocol::method_not_found, "no"));
    if (request.method == "initialize") return reply(initialized());
    return ++calls == 2 ? refuse(session_gone()) : reply(text_result("x"));
  };
  options.clock = &clock;
  Client client(service, executor, options);
  EXPECT_TRUE(executor.run(client.call_tool("t", Json())).ok());
  EXPECT_TRUE(executor.run(client.call_tool("t", Json())).ok());
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(service.of("server/discover").size(), 1u);
  EXPECT_EQ(service.of("initialize").size(), 2u);
  EXPECT_EQ(service.notified.size(), 2u);
}

TEST_F(DiscoveryTest, CallsThatLoseTheSameSessionShareTheNextOne) {
  std::vector<const Session*> forgotten;
  service.script = [&forgotten](Request request, Exchange& exchange) {
    if (request.method == "server/discover") return refuse(Fault(protocol::method_not_found, "no"));
    if (request.method == "initialize") return reply(initialized());
    const bool gone = forgotten.empty() || forgotten.front() == exchange.session;
    if (gone) forgotten.push_back(exchange.session);
    return gone ? refuse(session_gone()) : reply(text_result("x"));
  };
  options.clock = &clock;
  Client client(service, executor, options);
  ASSERT_TRUE(executor.run(client.connect()).ok());
  std::vector<Task<Called<ToolOutcome>>> running;
  int finished = 0;
  for (int i = 0; i < 20; ++i) {
    running.push_back(client.call_tool("t", Json()));
    running.back().start([&finished] { ++finished; });
  }
  while (finished < 20 && executor.step()) {
  }
  ASSERT_EQ(finished, 20);
  for (Task<Called<ToolOutcome>>& one : running) EXPECT_TRUE(one.take().ok());
  EXPECT_EQ(service.of("initialize").size(), 2u);
}

TEST_F(DiscoveryTest, AServerThatForgetsEverySessionIsGivenUpAndSubscriptionsEnd) {
  service.script = [](Request request, Exchange&) {
    if (request.method == "server/discover") return refuse(Fault(protocol::method_not_found, "no"));
    return request.method == "initialize" ? reply(initialized()) : refuse(session_gone());
  };
  options.clock = &clock;
  Client client(service, executor, options);
  ASSERT_TRUE(executor.run(client.connect()).ok());
  ListenFilter filter;
  filter.tools = true;
  Task<Called<Json>> listening = client.listen(filter, [](const Notification&) {});
  bool ended = false;
  listening.start([&ended] { ended = true; });
  const auto outcome = executor.run(client.call_tool("t", Json()));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().transport->kind, TransportFailure::Kind::session_ended);
  EXPECT_EQ(service.of("tools/call").size(), 2u);
  while (!ended && executor.step()) {
  }
  ASSERT_TRUE(ended);
  EXPECT_EQ(listening.take().error().transport->kind, TransportFailure::Kind::session_ended);
}

}  // namespace
}  // namespace signet
