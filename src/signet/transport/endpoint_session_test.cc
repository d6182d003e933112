#include <signet/transport/endpoint_session.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <signet/transport/testing_http.h>

namespace signet::transport {
namespace {

TEST(ReplayLog, AllSessionsTogetherKeepNoMoreThanTheirTotalAndTheOldestGoFirst) {
  const std::string line(1000, 'x');
  const auto budget = std::make_shared<ReplayBudget>(5000);
  ReplayLog first(100, 100'000, budget);
  ReplayLog second(100, 100'000, budget);
  const EventId start;
  first.append(0, line + "1");
  second.append(0, line + "2");
  first.append(0, line + "3");
  second.append(0, line + "4");
  EXPECT_NE(first.since(start).find("x1"), std::string::npos) << "within the total everything stays";
  EXPECT_LE(budget->bytes(), 5000u);
  second.append(0, line + "5");
  EXPECT_LE(budget->bytes(), 5000u);
  EXPECT_EQ(first.since(start).find("x1"), std::string::npos) << "the oldest of all";
  EXPECT_NE(first.since(start).find("x3"), std::string::npos);
  EXPECT_NE(second.since(start).find("x2"), std::string::npos);
  EXPECT_NE(second.since(start).find("x5"), std::string::npos);
}

TEST(ReplayLog, ASessionThatEndsGivesItsShareBack) {
  const auto budget = std::make_shared<ReplayBudget>(100'000);
  {
    ReplayLog log(2, 100'000, budget);
    for (int i = 0; i < 5; ++i) log.append(1, "event");
    EXPECT_GT(budget->bytes(), 0u);
  }
  EXPECT_EQ(budget->bytes(), 0u);
}

TEST(ReplayLog, AnEventLargerThanTheTotalIsNotKept) {
  const auto budget = std::make_shared<ReplayBudget>(100);
  ReplayLog log(100, 100'000, budget);
  log.append(1, std::string(1000, 'x'));
  EventId start;
  start.stream = 1;
  EXPECT_EQ(log.since(start), "");
  EXPECT_EQ(budget->bytes(), 0u);
}

// ---- the handshake revisions ----

class Legacy : public ::testing::Test {
 protected:
  std::string open(const std::string& version = "2025-11-25", const Served* from = nullptr) {
    const Reading reading =
        answer_to(from != nullptr ? *from : served,
                  legacy(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" +
                         version + "\"}}"));
    EXPECT_EQ(reading.status, 200);
    EXPECT_EQ(reading.headers.count("mcp-session-id"), 1u);
    return reading.headers.count("mcp-session-id") > 0 ? reading.headers.at("mcp-session-id") : "";
  }
  static std::string get(const std::string& session, const std::string& more = "") {
    return "GET /mcp HTTP/1.1\r\n" + host + "Accept: text/event-stream\r\nMcp-Session-Id: " + session +
           "\r\n" + more + "\r\n";
  }
  static std::string call(int id, const std::string& method, const std::string& params = "{}") {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" +
           params + "}";
  }

  Served served;
};

TEST_F(Legacy, ASessionOpensServesAndEnds) {
  const std::string session = open();
  EXPECT_EQ(session.size(), 32u);
  EXPECT_EQ(
      answer_to(served, legacy(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session)).status,
      202);
  const Reading reading = answer_to(
      served, legacy(call(2, "echo"), session, "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: x\r\n"));
  EXPECT_EQ(reading.body, R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_EQ(
      answer_to(served, "DELETE /mcp HTTP/1.1\r\n" + host + "Mcp-Session-Id: " + session + "\r\n\r\n").status,
      204);
  EXPECT_EQ(answer_to(served, legacy(call(3, "echo"), session)).status, 404);
}

TEST_F(Legacy, RequestsNeedASessionThatExists) {
  EXPECT_EQ(answer_to(served, legacy(call(2, "echo"))).status, 400);
  EXPECT_EQ(answer_to(served, legacy(call(2, "echo"), "unknown")).status, 404);
  EXPECT_EQ(answer_to(served, get("unknown")).status, 404);
  EXPECT_EQ(answer_to(served, legacy(call(2, "echo"), open(), "MCP-Protocol-Version: 1999-01-01\r\n")).status,
            400);
}

TEST_F(Legacy, FaultsTravelIn200) {
  EXPECT_EQ(answer_to(served, legacy(call(2, "no/such"), open())).status, 200);
}

TEST_F(Legacy, AFailedInitializeLeavesNoSession) {
  const Reading reading = answer_to(
      served, raw("POST", host + json_type + "MCP-Protocol-Version: 2026-07-28\r\n", call(1, "initialize")));
  EXPECT_EQ(reading.status, 400);
  EXPECT_EQ(error_code(reading), protocol::header_mismatch);
  EXPECT_EQ(reading.headers.count("mcp-session-id"), 0u);
}

TEST_F(Legacy, AsksTheClientOnTheStreamOfTheRequest) {
  const std::string session = open();
  Wire wire(served.port());
  wire.send(legacy(call(2, "ask"), session));
  ASSERT_TRUE(wire.read_until("elicitation/create"));
  EXPECT_EQ(
      answer_to(served, legacy(R"({"jsonrpc":"2.0","id":1,"result":{"action":"accept"}})", session)).status,
      202);
  EXPECT_EQ(answer_to(served, legacy(R"({"jsonrpc":"2.0","id":77,"result":{}})", session)).status, 202);
  const Reading reading = wire.read();
  const std::vector<std::string> messages = data_of(reading.body);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0], "");
  EXPECT_EQ(messages[2], R"({"jsonrpc":"2.0","id":2,"result":{"action":"accept"}})");
}

TEST_F(Legacy, OlderRevisionsGetNoEventWithoutData) {
  const std::string session = open("2025-06-18");
  EXPECT_EQ(data_of(answer_to(served, legacy(call(2, "notify", R"({"count":1})"), session)).body).size(), 2u);
}

TEST_F(Legacy, CancelledRequestsEndWithoutAnAnswer) {
  const std::string session = open();
  Wire wire(served.port());
  wire.send(legacy(call(2, "drip"), session));
  ASSERT_TRUE(wire.read_until("notifications/progress"));
  EXPECT_EQ(
      answer_to(
          served,
          legacy(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})", session))
          .status,
      202);
  const Reading reading = wire.read();
  EXPECT_TRUE(reading.complete);
  EXPECT_EQ(reading.body.find("\"id\":2"), std::string::npos);
  served.wait_for(served.service.dropped, 1);
}

TEST_F(Legacy, TheStandaloneStreamCarriesWhatBelongsToNoRequest) {
  const std::string session = open();
  Wire wire(served.port());
  wire.send(get(session));
  ASSERT_TRUE(wire.read_until("data: \n\n"));
  EXPECT_EQ(
      answer_to(served, legacy(R"({"jsonrpc":"2.0","method":"notifications/announce"})", session)).status,
      202);
  EXPECT_TRUE(wire.read_until("notifications/tools/list_changed"));
}

TEST_F(Legacy, WhatHappensWhileTheStandaloneStreamIsBrokenIsKeptForItsClient) {
  const std::string session = open();
  const std::string announce = legacy(R"({"jsonrpc":"2.0","method":"notifications/announce"})", session);
  EXPECT_EQ(answer_to(served, announce).status, 202);  // before there was a stream: for nobody
  {
    Wire wire(served.port());
    wire.send(get(session));
    ASSERT_TRUE(wire.read_until("id: 0-1\n"));
    wire.reset();
  }
  EXPECT_EQ(answer_to(served, announce).status, 202);
  EXPECT_EQ(answer_to(served, announce).status, 202);
  Wire resumed(served.port());
  resumed.send(get(session, "Last-Event-ID: 0-1\r\n"));
  ASSERT_TRUE(resumed.read_until("id: 0-3\n"));
  EXPECT_EQ(answer_to(served, announce).status, 202);
  ASSERT_TRUE(resumed.read_until("id: 0-4\n"));
  ASSERT_TRUE(
      resumed.read_until("0-4\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
}

TEST_F(Legacy, ADetachedStreamIsCollectedWithLastEventId) {
  const std::string session = open();
  const Reading first = answer_to(served, legacy(call(2, "detach"), session));
  EXPECT_TRUE(first.complete);
  EXPECT_EQ(first.body, "id: 1-1\ndata: \n\nretry: 50\n\n");
  const Reading second = answer_to(served, get(session, "Last-Event-ID: 1-1\r\n"));
  EXPECT_EQ(data_of(second.body).at(0), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(answer_to(served, get(session, "Last-Event-ID: 99-1\r\n")).status, 400);
  EXPECT_EQ(answer_to(served, get(session, "Last-Event-ID: nonsense\r\n")).status, 400);
}

TEST_F(Legacy, ABrokenStreamGoesOnAndIsResumed) {
  const std::string session = open();
  {
    Wire wire(served.port());
    wire.send(legacy(call(2, "ask"), session));
    ASSERT_TRUE(wire.read_until("elicitation/create"));
  }
  Wire resumed(served.port());
  resumed.send(get(session, "Last-Event-ID: 1-1\r\n"));
  ASSERT_TRUE(resumed.read_until("elicitation/create"));
  EXPECT_EQ(
      answer_to(served, legacy(R"({"jsonrpc":"2.0","id":1,"result":{"action":"accept"}})", session)).status,
      202);
  EXPECT_TRUE(resumed.read_until(R"("id":2,"result":{"action":"accept"})"));
}

TEST_F(Legacy, SessionsAreBoundedAndTheLongestIdleOneGoes) {
  HttpOptions options = quick();
  options.sessions_max = 1;
  const Served small(options);
  const std::string first = open("2025-11-25", &small);
  const std::string second = open("2025-11-25", &small);
  EXPECT_EQ(answer_to(small, legacy(call(2, "echo"), first)).status, 404);
  Wire busy(small.port());
  busy.send(get(second));
  ASSERT_TRUE(busy.read_until("data: \n\n"));
  EXPECT_EQ(answer_to(small, legacy(call(1, "initialize"))).status, 503);
}

TEST_F(Legacy, IdleSessionsExpire) {
  HttpOptions options = quick();
  options.session_idle_timeout = std::chrono::milliseconds(20);
  std::atomic<int> expired{0};
  options.log = [&](LogLevel, std::string_view event, std::initializer_list<LogField>) {
    if (event == "http_session_expired") ++expired;
  };
  const Served hasty(options);
  const std::string session = open("2025-11-25", &hasty);
  hasty.wait_for(expired, 1);
  EXPECT_EQ(answer_to(hasty, legacy(call(2, "echo"), session)).status, 404);
}

TEST_F(Legacy, ASessionThatOnlyWaitsForAClientThatIsGoneMakesRoom) {
  HttpOptions options = quick();
  options.sessions_max = 1;
  const Served small(options);
  const std::string initialize = legacy(call(1, "initialize"));
  const std::string first = open("2025-11-25", &small);
  {
    Wire wire(small.port());
    wire.send(legacy(call(2, "ask"), first));
    ASSERT_TRUE(wire.read_until("elicitation/create"));
    EXPECT_EQ(answer_to(small, initialize).status, 503) << "its client is there";
  }
  Reading second = answer_to(small, initialize);
  while (second.status == 503)
    second = answer_to(small, initialize);  // until it is known that the client is gone
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(answer_to(small, legacy(call(3, "echo"), first)).status, 404);

  const std::string session = second.headers.at("mcp-session-id");
  {
    Wire wire(small.port());
    wire.send(legacy(call(2, "drip"), session));
    ASSERT_TRUE(wire.read_until("notifications/progress"));
  }
  EXPECT_EQ(answer_to(small, initialize).status, 503) << "something is being done";
  EXPECT_EQ(small.service.dropped, 0);
  EXPECT_EQ(answer_to(small, legacy(call(3, "echo"), session)).status, 200);
}

TEST_F(Legacy, CallsThatGoOnWithoutTheirConnectionsAreBounded) {
  const std::string padding = R"({"padding":")" + std::string(60'000, 'x') + "\"}";
  for (const std::size_t bytes_max : {100'000U, 200'000U}) {
    HttpOptions options = quick();
    options.resumable_calls_bytes_max = bytes_max;
    const Served bounded(options);
    const std::string session = open("2025-11-25", &bounded);
    for (int id : {2, 3}) {
      Wire wire(bounded.port());
      wire.send(legacy(call(id, "drip", padding), session));
      ASSERT_TRUE(wire.read_until("notifications/progress"));
    }
    const bool one_goes = bytes_max == 100'000;
    if (one_goes) bounded.wait_for(bounded.service.dropped, 1);
    EXPECT_EQ(answer_to(bounded, legacy(call(4, "echo"), session)).status, 200);
    EXPECT_EQ(bounded.service.dropped, one_goes ? 1 : 0)
        << "one is within the limit, and two in the second case";
  }
}

// ---- batches ----

TEST_F(Legacy, ABatchIsAnsweredAsOneArray) {
  const std::string session = open("2025-03-26");
  const Reading reading =
      answer_to(served, legacy("[" + call(2, "echo", R"({"x":1})") +
                                   R"(,{"jsonrpc":"2.0","method":"notifications/x"},)" + call(3, "no/such") +
                                   R"(,7,{"jsonrpc":"2.0","id":9,"result":{}}])",
                               session));
  EXPECT_EQ(reading.status, 200);
  EXPECT_EQ(reading.headers.at("content-type"), "application/json");
  const Result<Json, json::ParseError> body = json::parse(reading.body);
  ASSERT_TRUE(body.ok() && body->is_array()) << reading.body;
  ASSERT_EQ(body->as_array()->size(), 3u) << reading.body;
  EXPECT_NE(reading.body.find(R"({"jsonrpc":"2.0","id":2,"result":{"x":1}})"), std::string::npos);
  EXPECT_NE(reading.body.find(R"("id":3,"error":{"code":-32601)"), std::string::npos);
  EXPECT_NE(reading.body.find(R"("code":-32600)"), std::string::npos);
  EXPECT_EQ(served.service.notified, 1);
}

TEST_F(Legacy, ABatchWithoutRequestsIs202) {
  const std::string session = open("2025-03-26");
  const std::string batch =
      R"([{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":9,"result":{}}])";
  const Reading reading = answer_to(served, legacy(batch, session));
  EXPECT_EQ(reading.status, 202);
  EXPECT_EQ(reading.body, "");
}

TEST_F(Legacy, ABatchThatAsksBecomesAStreamThatEndsWithItsArray) {
  const std::string session = open("2025-03-26");
  Wire wire(served.port());
  wire.send(
      legacy("[" + call(2, "ask") + "," + call(3, "notify", R"({"count":2})") + "," + call(4, "later") + "]",
             session));
  ASSERT_TRUE(wire.read_until("elicitation/create"));
  ASSERT_TRUE(wire.read_until("\r\n\r\n"));
  EXPECT_EQ(
      answer_to(served, legacy(R"([{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}])", session)).status,
      202);
  const Reading reading = wire.read();
  EXPECT_TRUE(reading.complete);
  EXPECT_NE(reading.body.find(R"({"jsonrpc":"2.0","id":2,"result":{"action":"accept"}})"), std::string::npos);
  EXPECT_NE(reading.body.find(R"({"jsonrpc":"2.0","id":3,"result":{"sent":2}})"), std::string::npos);
  const std::vector<std::string> data = data_of(reading.body);
  ASSERT_FALSE(data.empty());
  EXPECT_EQ(data.back(), R"([{"jsonrpc":"2.0","id":4,"result":{"later":true}}])");
  std::size_t events_with_id = 0;
  for (std::size_t at = reading.body.find("id: "); at != std::string::npos;
       at = reading.body.find("id: ", at + 1))
    ++events_with_id;
  EXPECT_EQ(events_with_id, data.size()) << reading.body;
}

TEST_F(Legacy, AClientThatGoesCancelsItsWholeBatch) {
  const std::string session = open("2025-03-26");
  Wire wire(served.port());
  wire.send(legacy("[" + call(2, "hang") + "," + call(3, "hang") + "]", session));
  served.wait_for(served.service.started, 3);
  wire.reset();
  served.wait_for(served.service.dropped, 2);
  EXPECT_EQ(served.service.stopped, 2);
}

TEST_F(Legacy, BatchesAreBounded) {
  HttpOptions options = quick();
  options.batch_messages_max = 2;
  const Served bounded(options);
  const std::string session = open("2025-03-26", &bounded);
  EXPECT_EQ(answer_to(bounded, legacy("[" + call(2, "echo") + "," + call(3, "echo") + "]", session)).status,
            200);
  const Reading reading = answer_to(
      bounded, legacy("[" + call(2, "echo") + "," + call(3, "echo") + "," + call(4, "echo") + "]", session));
  EXPECT_EQ(reading.status, 400);
  EXPECT_EQ(error_code(reading), -32600);
  EXPECT_EQ(answer_to(bounded, legacy("[]", session)).status, 400);
  EXPECT_EQ(error_code(answer_to(bounded, legacy("[1", session))), -32700);
}

TEST_F(Legacy, NeitherInitializeNorModernRequestsGoInABatch) {
  const std::string session = open("2025-03-26");
  for (const std::string& alone : {call(2, "initialize"), modern_request("2", "echo")}) {
    const Reading reading = answer_to(served, legacy("[" + alone + "]", session));
    EXPECT_EQ(reading.status, 200);
    EXPECT_NE(reading.body.find(R"([{"jsonrpc":"2.0","id":2,"error":{"code":-32600)"), std::string::npos)
        << reading.body;
  }
}

TEST_F(Legacy, OtherRevisionsHaveNoBatches) {
  for (const char* version : {"2025-11-25", "2025-06-18", "2024-11-05"}) {
    const std::string session = open(version);
    const int before = served.service.started;
    const Reading reading = answer_to(served, legacy("[" + call(2, "echo") + "]", session));
    EXPECT_EQ(reading.status, 400) << version;
    EXPECT_EQ(error_code(reading), -32600) << version;
    EXPECT_EQ(served.service.started, before) << version;
  }
  const std::string session = open("2025-03-26");
  const Reading modern =
      answer_to(served, legacy("[" + call(2, "echo") + "]", session, "MCP-Protocol-Version: 2026-07-28\r\n"));
  EXPECT_EQ(modern.status, 400);
  EXPECT_EQ(error_code(answer_to(served, legacy("[" + call(2, "echo") + "]"))), -32600);
}

}  // namespace
}  // namespace signet::transport
