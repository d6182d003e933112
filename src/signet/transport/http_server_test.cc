#include <signet/transport/http_server.h>

#include <map>

#include <gtest/gtest.h>

#include <signet/transport/server_gate.h>
#include <signet/transport/server_head.h>
#include <signet/transport/testing_http.h>

namespace signet::transport {
namespace {

// ---- answers ----

TEST(HttpServer, AnswersAModernRequestWithOneJsonBody) {  // S1, S22, S28
  const Served served;
  const Reading reading = answer_to(served, modern("\"a\"", "echo", R"("x":1)"));
  EXPECT_EQ(reading.status, 200);
  EXPECT_EQ(reading.headers.at("content-type"), "application/json");
  EXPECT_EQ(reading.body, R"({"jsonrpc":"2.0","id":"a","result":{"x":1}})");
  EXPECT_EQ(reading.headers.count("mcp-session-id"), 0u);
  EXPECT_EQ(reading.headers.count("date"), 1u);
}

TEST(HttpServer, NotificationsComeFirstAndTheReplyLastOnAStream) {  // S29
  const Served served;
  const Reading reading = answer_to(served, modern("7", "notify", R"("count":3)"));
  EXPECT_EQ(reading.headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(reading.headers.at("x-accel-buffering"), "no");
  EXPECT_TRUE(reading.complete);
  const std::vector<std::string> messages = data_of(reading.body);
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_NE(messages[0].find("\"progress\":1"), std::string::npos);
  EXPECT_EQ(messages[3], R"({"jsonrpc":"2.0","id":7,"result":{"sent":3}})");
}

TEST(HttpServer, AClientThatTakesNoEventsGetsTheReplyAlone) {
  const Served served;
  const std::string headers = host +
                              "Content-Type: application/json\r\nAccept: application/json\r\n"
                              "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: notify\r\n";
  const Reading reading =
      answer_to(served, raw("POST", headers, modern_request("7", "notify", R"("count":3)")));
  EXPECT_EQ(reading.headers.at("content-type"), "application/json");
  EXPECT_EQ(reading.body, R"({"jsonrpc":"2.0","id":7,"result":{"sent":3}})");
}

TEST(HttpServer, AClientThatTakesOnlyEventsGetsEvents) {
  const Served served;
  const std::string headers =
      host +
      "Content-Type: application/json\r\nAccept: text/event-stream, application/json;q=0\r\n"
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: echo\r\n";
  const Reading reading = answer_to(served, raw("POST", headers, modern_request("7", "echo")));
  EXPECT_EQ(data_of(reading.body).at(0), R"({"jsonrpc":"2.0","id":7,"result":{}})");
}

TEST(HttpServer, ASlowAnswerBecomesAStreamThatIsKeptAlive) {
  HttpOptions options = quick();
  options.json_answer_max = std::chrono::milliseconds(20);
  options.keepalive_interval = std::chrono::milliseconds(20);
  const Served served(options);
  Wire wire(served.port());
  wire.send(modern("1", "hang"));
  EXPECT_TRUE(wire.read_until("text/event-stream"));
  EXPECT_TRUE(wire.read_until("\n: keep-alive\n\n"));
}

TEST(HttpServer, AModernRequestCannotAskTheClient) {  // B17, S30
  const Served served;
  EXPECT_EQ(error_code(answer_to(served, modern("1", "ask"))), protocol::method_not_found);
}

TEST(HttpServer, StatusFollowsTheFault) {  // S9, S10, S33
  const Served served;
  EXPECT_EQ(answer_to(served, modern("1", "no/such")).status, 404);
  EXPECT_EQ(answer_to(served, modern("1", "fault", R"("code":-32021)")).status, 400);
  EXPECT_EQ(answer_to(served, modern("1", "fault", R"("code":-32602)")).status, 200);
  const Reading bare =
      answer_to(served, raw("POST", modern_headers("echo"), R"({"jsonrpc":"2.0","id":1,"method":"echo"})"));
  EXPECT_EQ(bare.status, 400);
  EXPECT_EQ(error_code(bare), protocol::invalid_params);
}

TEST(HttpServer, RefusesMismatchedHeadersBeforeAnythingRuns) {  // S32, S35
  const Served served;
  const std::string body = modern_request("1", "echo");
  for (const std::string& headers :
       {host + json_type + "Mcp-Method: echo\r\n", host + json_type + "MCP-Protocol-Version: 2026-07-28\r\n",
        modern_headers("other")}) {
    const Reading reading = answer_to(served, raw("POST", headers, body));
    EXPECT_EQ(reading.status, 400) << headers;
    EXPECT_EQ(error_code(reading), protocol::header_mismatch) << headers;
  }
  EXPECT_EQ(served.service.started, 0);
}

TEST(HttpServer, ADoubledStandardHeaderIsAMismatchUnderTheIdOfItsRequest) {  // S32, S35
  const Served served;
  for (const char* header :
       {"Mcp-Method: echo\r\n", "Mcp-Method: other\r\n", "Mcp-Name: a\r\nMcp-Name: a\r\n",
        "MCP-Protocol-Version: 2026-07-28\r\n", "mcp-protocol-version: 2025-11-25\r\n"}) {
    const Reading reading = answer_to(served, modern("\"seven\"", "echo", "", header));
    EXPECT_EQ(reading.status, 400) << header;
    EXPECT_EQ(error_code(reading), protocol::header_mismatch) << header;
    EXPECT_NE(reading.body.find("\"id\":\"seven\""), std::string::npos) << reading.body;
  }
  const std::string twice = modern_headers("notifications/x") + "Mcp-Method: notifications/x\r\n";
  const Reading notified =
      answer_to(served, raw("POST", twice, R"({"jsonrpc":"2.0","method":"notifications/x"})"));
  EXPECT_EQ(notified.status, 400);
  EXPECT_EQ(error_code(notified), protocol::header_mismatch);
  const std::string versions = "MCP-Protocol-Version: 2025-11-25\r\nMCP-Protocol-Version: 2026-07-28\r\n";
  EXPECT_EQ(answer_to(served, "GET /mcp HTTP/1.1\r\n" + host + versions + "\r\n").status, 400);
  EXPECT_EQ(served.service.started, 0);
}

TEST(HttpServer, ADoubledHeaderOfAParameterIsAMismatchWhateverTheBodyHolds) {
  const Served served;
  EXPECT_EQ(
      answer_to(served, modern("1", "echo", "", "Mcp-Param-Region: eu\r\nMcp-Param-Zone: eu\r\n")).status,
      200);
  for (const char* twice : {"Mcp-Param-Region: eu\r\nMcp-Param-Region: us\r\n",
                            "Mcp-Param-Region: eu\r\nMcp-Param-Zone: a\r\nmcp-param-REGION: eu\r\n"}) {
    const Reading reading = answer_to(served, modern("\"seven\"", "echo", "", twice));
    EXPECT_EQ(reading.status, 400) << twice;
    EXPECT_EQ(error_code(reading), protocol::header_mismatch) << twice;
    EXPECT_NE(reading.body.find("\"id\":\"seven\""), std::string::npos) << reading.body;
  }
  EXPECT_EQ(served.service.started, 1);
}

TEST(HttpServer, InvalidMessagesAre400WithoutANullId) {  // S25
  const Served served;
  for (const char* body :
       {"{", "[]", "3", R"({"jsonrpc":"1.0","id":1,"method":"echo"})",
        R"([{"jsonrpc":"2.0","id":1,"method":"echo"}])", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":null,"method":"echo"})"}) {
    const Reading reading = answer_to(served, raw("POST", modern_headers("echo"), body));
    EXPECT_EQ(reading.status, 400) << body;
    EXPECT_NE(error_code(reading), 0) << body;
    EXPECT_EQ(reading.body.find("\"id\":null"), std::string::npos) << body;
  }
  EXPECT_EQ(served.service.started, 0);
}

TEST(HttpServer, ARequestOfNeitherEraIsToldHowToBecomeOneAndWhichItWas) {
  const Served served;
  const std::string body = R"({"jsonrpc":"2.0","id":"first-7","method":"echo"})";
  const Reading lost = answer_to(served, raw("POST", host + json_type, body));
  EXPECT_EQ(lost.status, 400);
  EXPECT_EQ(error_code(lost), -32600);
  for (const char* part : {"\"id\":\"first-7\"", "Mcp-Session-Id", "initialize", "_meta", "2026-07-28"}) {
    EXPECT_NE(lost.body.find(part), std::string::npos) << part << " in " << lost.body;
  }
  const Reading stranger =
      answer_to(served, raw("POST", host + json_type + "Mcp-Session-Id: none\r\n", body));
  EXPECT_EQ(stranger.status, 404);
  EXPECT_NE(stranger.body.find("\"id\":\"first-7\""), std::string::npos) << stranger.body;
  EXPECT_EQ(served.service.started, 0);
}

TEST(HttpServer, ANotificationIs202WithoutABody) {  // S26, S27
  const Served served;
  const Reading reading = answer_to(served, raw("POST", modern_headers("notifications/x"),
                                                R"({"jsonrpc":"2.0","method":"notifications/x"})"));
  EXPECT_EQ(reading.status, 202);
  EXPECT_EQ(reading.body, "");
  served.wait_for(served.service.notified, 1);
}

TEST(HttpServer, ANotificationThatIsNotAcceptedIsAnErrorStatus) {  // S27
  const Served served;
  for (const char* headers : {"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: notifications/y\r\n",
                              "MCP-Protocol-Version: 2099-01-01\r\n", "MCP-Protocol-Version: 1999-01-01\r\n",
                              "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: none\r\n"}) {
    const Reading reading = answer_to(
        served, raw("POST", host + json_type + headers, R"({"jsonrpc":"2.0","method":"notifications/x"})"));
    EXPECT_GE(reading.status, 400) << headers;
    EXPECT_EQ(reading.body.find("\"id\""), std::string::npos) << reading.body;
  }
  EXPECT_EQ(served.service.notified, 0);
}

TEST(HttpServer, NamesOfHeadersHaveNoCaseAndTheirValuesHave) {  // B21
  const Served served;
  const std::string body = modern_request("1", "echo");
  const std::string loud =
      "HOST: localhost\r\nCONTENT-TYPE: application/json\r\naccept: application/json, text/event-stream\r\n"
      "mcp-protocol-version: 2026-07-28\r\n";
  EXPECT_EQ(answer_to(served, raw("POST", loud + "MCP-METHOD:  echo \r\n", body)).status, 200);
  const Reading other = answer_to(served, raw("POST", loud + "MCP-METHOD: Echo\r\n", body));
  EXPECT_EQ(other.status, 400);
  EXPECT_EQ(error_code(other), -32020);
}

TEST(HttpServer, NestingBeyondTheLimitIsRefused) {
  HttpOptions options = quick();
  options.json_depth_max = 8;
  const Served served(options);
  EXPECT_EQ(answer_to(served, modern("1", "echo", R"("x":[[[[[]]]]])")).status, 200);
  EXPECT_EQ(answer_to(served, modern("1", "echo", "\"x\":" + std::string(100'000, '['))).status, 400);
}

// ---- HTTP itself ----

TEST(HttpServer, RefusesAmbiguousFramingAndCloses) {
  const Served served;
  const std::string body = modern_request("1", "echo");
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string head = "POST /mcp HTTP/1.1\r\n" + modern_headers("echo");
  const std::map<std::string, int> cases{
      {head + "Content-Length: 5\r\n" + length + "\r\n" + body, 400},
      {head + length + length + "\r\n" + body, 400},
      {head + "Content-Length: 5, 5\r\n\r\n" + body, 400},
      {head + "Content-Length: +5\r\n\r\n" + body, 400},
      {head + "Transfer-Encoding: chunked\r\n" + length + "\r\n" + body, 400},
      {head + "Transfer-Encoding: xchunked\r\n\r\n" + body, 501},
      {head + "Transfer-Encoding: chunked, identity\r\n\r\n" + body, 501},
      {head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + body, 400},
      {head + "Content-Type : x\r\n" + length + "\r\n" + body, 400},
      {head + "X-Folded: a\r\n b\r\n" + length + "\r\n" + body, 400},
      {head + "X-Folded: a\r\n\tb\r\n" + length + "\r\n" + body, 400},
      {"POST /mcp HTTP/1.1\r\n " + modern_headers("echo") + length + "\r\n" + body, 400},
      {head + "Content-Length: -1\r\n\r\n" + body, 400},
      {head + "Content-Length: 0x10\r\n\r\n" + body, 400},
      {head + host + length + "\r\n" + body, 400},
      {head + "Content-Type: application/json\r\n" + length + "\r\n" + body, 400},
      {"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400},
      {"nonsense\r\n\r\n", 400},
  };
  for (const auto& [request, status] : cases) {
    Wire wire(served.port());
    wire.send(request);
    EXPECT_EQ(wire.read().status, status) << request;
    EXPECT_TRUE(wire.ends()) << request;
  }
  EXPECT_EQ(served.service.started, 0);
}

TEST(HttpServer, TakesBodiesInChunksAndByteByByte) {
  const Served served;
  const std::string body = modern_request("1", "echo");
  Wire chunked(served.port());
  chunked.send("POST /mcp HTTP/1.1\r\n" + modern_headers("echo") + "Transfer-Encoding: Chunked\r\n\r\n");
  for (std::size_t at = 0; at < body.size(); at += 7) {
    std::string chunk;
    append_chunk(chunk, std::string_view(body).substr(at, 7));
    chunked.send(chunk);
  }
  chunked.send("0\r\n\r\n");
  EXPECT_EQ(chunked.read().status, 200);
  Wire dripping(served.port());
  for (const char byte : modern("1", "echo")) dripping.send(std::string_view(&byte, 1));
  EXPECT_EQ(dripping.read().status, 200);
}

// A request in one chunk, whose head ends in `extension`, and a trailer behind it.
std::string chunked(const std::string& headers, const std::string& extension, const std::string& trailer) {
  const std::string body = modern_request("1", "echo");
  std::string chunk;
  append_chunk(chunk, body);
  chunk.insert(chunk.find("\r\n"), extension);
  return "POST /mcp HTTP/1.1\r\n" + headers + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "0\r\n" +
         trailer + "\r\n";
}

TEST(HttpServer, ATrailerIsReadAndSaysNothing) {
  const Served served;
  const std::string headers = modern_headers("echo");
  for (const char* trailer : {"X-Sum: 1\r\n", "Host: evil.example\r\n", "Origin: https://evil.example\r\n",
                              "Mcp-Method: other\r\n"}) {
    EXPECT_EQ(answer_to(served, chunked(headers, "", trailer)).status, 200) << trailer;
  }
  const std::string nameless = host + json_type + "MCP-Protocol-Version: 2026-07-28\r\n";
  const Reading reading = answer_to(served, chunked(nameless, "", "Mcp-Method: echo\r\n"));
  EXPECT_EQ(error_code(reading), protocol::header_mismatch);
  EXPECT_EQ(answer_to(served, chunked(headers, "", "Content-Length: 3\r\n")).status, 400);
}

TEST(HttpServer, TrailersAndChunkExtensionsHaveLimits) {
  const Served served;
  const std::string headers = modern_headers("echo");
  EXPECT_EQ(answer_to(served, chunked(headers, ";a=b", "")).status, 200);
  EXPECT_EQ(answer_to(served, chunked(headers, ";" + std::string(100'000, 'x'), "")).status, 431);
  for (const std::size_t size : {20'000u, 65'533u, 65'534u, 1'000'000u}) {
    EXPECT_EQ(answer_to(served, chunked(headers, "", "X: " + std::string(size, 'x') + "\r\n")).status, 431)
        << size;
    EXPECT_EQ(answer_to(served, chunked(headers, "", std::string(size, 'x') + ": x\r\n")).status, 431)
        << size;
  }
  // Small ones, but many.
  std::string drops = "POST /mcp HTTP/1.1\r\n" + headers + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20; ++i) drops += "1;" + std::string(1'000, 'x') + "\r\n \r\n";
  EXPECT_EQ(answer_to(served, drops).status, 431);
  EXPECT_EQ(answer_to(served, modern("1", "echo")).status, 200);
}

TEST(HttpServer, AHeaderLimitAboveWhatAFieldCanHoldIsNoTrap) {
  HttpOptions options = quick();
  options.header_bytes_max = std::size_t{1} << 20;
  const Served served(options);
  const auto with = [](std::size_t size) {
    return modern("1", "echo", "", "X: " + std::string(size, 'x') + "\r\n");
  };
  EXPECT_EQ(answer_to(served, with(65'000)).status, 200);
  EXPECT_EQ(answer_to(served, with(65'533)).status, 200);
  EXPECT_EQ(answer_to(served, with(65'534)).status, 431);
  EXPECT_EQ(answer_to(served, with(500'000)).status, 431);
  EXPECT_EQ(answer_to(served, chunked(modern_headers("echo"), "", "X: " + std::string(500'000, 'x') + "\r\n"))
                .status,
            431);
}

TEST(HttpServer, ServesPipelinedRequestsInOrderOnOneConnection) {
  const Served served;
  Wire wire(served.port());
  wire.send(modern("1", "later") + modern("2", "echo") + modern("3", "notify", R"("count":1)") +
            modern("4", "echo"));
  EXPECT_EQ(wire.read().body, R"({"jsonrpc":"2.0","id":1,"result":{"later":true}})");
  EXPECT_EQ(wire.read().body, R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_EQ(data_of(wire.read().body).size(), 2u);
  EXPECT_EQ(wire.read().body, R"({"jsonrpc":"2.0","id":4,"result":{}})");
  wire.send(modern("5", "echo"));
  EXPECT_EQ(wire.read().body, R"({"jsonrpc":"2.0","id":5,"result":{}})");
}

TEST(HttpServer, LineBreaksBetweenRequestsAreNoRequests) {
  const Served served;
  Wire wire(served.port());
  const std::string request = modern("1", "echo");
  for (const std::string& between : {std::string("\r\n"), std::string("\r\n\r\n"), std::string()}) {
    wire.send(between + request);
    EXPECT_EQ(wire.read().status, 200) << between.size();
  }
  // Also where they come in pieces.
  wire.send("\r");
  wire.send("\n" + request.substr(0, 1));
  wire.send(request.substr(1));
  EXPECT_EQ(wire.read().status, 200);
  wire.send("\n" + request);
  EXPECT_EQ(wire.read().status, 400);
}

TEST(HttpServer, WhatIsReadWhileARequestIsServedIsNotLost) {
  const Served served;
  Wire wire(served.port());
  wire.send(modern("1", "later") + modern("2", "later"));
  EXPECT_EQ(wire.read().body, R"({"jsonrpc":"2.0","id":1,"result":{"later":true}})");
  EXPECT_EQ(wire.read().body, R"({"jsonrpc":"2.0","id":2,"result":{"later":true}})");
  for (int id = 3; id < 100; ++id) {
    const std::string request = modern(std::to_string(id), "later");
    wire.send(std::string_view(request).substr(0, 50));
    wire.send(std::string_view(request).substr(50));
    EXPECT_EQ(wire.read().body,
              R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"later":true}})");
  }
}

TEST(HttpServer, AnswersExpectContinue) {
  const Served served;
  Wire wire(served.port());
  const std::string body = modern_request("1", "echo");
  wire.send("POST /mcp HTTP/1.1\r\n" + modern_headers("echo") +
            "Expect: 100-continue\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_TRUE(wire.read_until("HTTP/1.1 100 Continue\r\n\r\n"));
  wire.send(body);
  EXPECT_EQ(wire.read().status, 100);
  EXPECT_EQ(wire.read().status, 200);
  EXPECT_EQ(answer_to(served, modern("1", "echo", "", "Expect: magic\r\n")).status, 417);
}

TEST(HttpServer, ServesHttp10AndCloses) {
  const Served served;
  for (const char* method : {"echo", "notify"}) {
    const std::string body = modern_request("1", method, R"("count":1)");
    Wire wire(served.port());
    wire.send(std::string("POST /mcp HTTP/1.0\r\n") + modern_headers(method) +
              "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    const Reading reading = wire.read();
    EXPECT_EQ(reading.status, 200);
    EXPECT_EQ(reading.headers.at("connection"), "close");
    EXPECT_EQ(reading.headers.count("transfer-encoding"), 0u);
    EXPECT_TRUE(wire.ends());
  }
}

TEST(HttpServer, OtherPathsAreNotTheEndpoint) {
  const Served served;
  for (const char* target :
       {"/", "/mcpx", "/mcp/../etc", "/%6dcp%00", "/mcp/", "*", "mcp", "http://localhost/mcpx"}) {
    EXPECT_EQ(
        answer_to(served, raw("POST", modern_headers("echo"), modern_request("1", "echo"), target)).status,
        404)
        << target;
  }
  EXPECT_EQ(
      answer_to(served, raw("POST", modern_headers("echo"), modern_request("1", "echo"), "/mcp?x=1")).status,
      200);
}

TEST(HttpServer, OtherMethodsAre405AndSayWhatIsAllowed) {
  HttpOptions options = quick();
  options.modern_only = true;
  const Served modern_only(options);
  const Served both;
  for (const char* method : {"GET", "DELETE", "OPTIONS", "PUT", "HEAD"}) {
    const std::string request =
        std::string(method) + " /mcp HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n";
    Wire wire(modern_only.port());
    wire.send(request);
    EXPECT_TRUE(wire.read_until("HTTP/1.1 405 ")) << method;
    EXPECT_TRUE(wire.read_until("Allow: POST\r\n")) << method;
  }
  for (const char* method : {"OPTIONS", "PUT"}) {
    EXPECT_EQ(answer_to(both, std::string(method) + " /mcp HTTP/1.1\r\n" + host + "\r\n").headers.at("allow"),
              "POST, GET, DELETE");
  }
}

TEST(HttpServer, WhatIsRefusedBehindAHeadRequestHasItsBody) {
  const Served served;
  Wire wire(served.port());
  wire.send("HEAD /mcp HTTP/1.1\r\n" + host + "\r\n");
  EXPECT_TRUE(wire.read_until("\r\n\r\n"));
  wire.send("GET /mcp HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n");
  EXPECT_TRUE(wire.read_until("this Host is not ours"));
}

TEST(HttpServer, AHeadRequestHasNoBodyInItsAnswer) {
  const Served served;
  Wire wire(served.port());
  wire.send("HEAD /mcp HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n");
  EXPECT_TRUE(wire.read_until("\r\n\r\n"));
  while (wire.read_until("never sent")) {
  }
  EXPECT_TRUE(wire.buffer().ends_with("\r\n\r\n"));
}

TEST(HttpServer, PreflightsAreAnsweredOnlyWhereSwitchedOn) {
  HttpOptions options = quick();
  options.cors = true;
  const Served served(options);
  const Reading reading =
      answer_to(served, "OPTIONS /mcp HTTP/1.1\r\n" + host +
                            "Origin: http://localhost:3000\r\nAccess-Control-Request-Method: POST\r\n"
                            "Access-Control-Request-Headers: content-type, mcp-method\r\n\r\n");
  EXPECT_EQ(reading.status, 204);
  EXPECT_EQ(reading.headers.at("access-control-allow-origin"), "http://localhost:3000");
  EXPECT_EQ(reading.headers.at("access-control-allow-headers"), "content-type, mcp-method");
  EXPECT_EQ(answer_to(served, modern("1", "echo", "", "Origin: http://localhost:3000\r\n"))
                .headers.at("access-control-allow-origin"),
            "http://localhost:3000");
}

TEST(HttpGate, TheMostSpecificRangeOfAcceptCounts) {  // RFC 9110, section 12.5.1
  const auto both = [](const char* accept) {
    const Accepts accepts = accepts_of(std::string(accept));
    return std::string(accepts.json ? "json " : "") + (accepts.events ? "events" : "");
  };
  EXPECT_EQ(both("application/json;q=0, */*"), "events");
  EXPECT_EQ(both("*/*, application/json;q=0.000"), "events");
  EXPECT_EQ(both("text/*;q=0, */*;q=0.1"), "json ");
  EXPECT_EQ(both("*/*;q=0, application/json"), "json ");
  EXPECT_EQ(both("application/*;q=0, application/json;q=0.5, text/event-stream"), "json events");
  EXPECT_EQ(both("*/*"), "json events");
  EXPECT_EQ(both("*/*;q=0"), "");
  EXPECT_EQ(both("text/html"), "");
}

TEST(HttpServer, ContentEncodingMayBeIdentityHoweverItIsWritten) {
  const Served served;
  for (const char* identity : {"identity", "Identity", "IDENTITY"}) {
    const std::string header = std::string("Content-Encoding: ") + identity + "\r\n";
    EXPECT_EQ(answer_to(served, modern("1", "echo", "", header)).status, 200) << identity;
  }
  const Reading refused = answer_to(served, modern("1", "echo", "", "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(refused.status, 415);
  EXPECT_NE(refused.body.find("Content-Encoding"), std::string::npos);
  EXPECT_EQ(refused.body.find("Content-Type"), std::string::npos);
}

TEST(HttpServer, TakesJsonOnly) {
  const Served served;
  const std::string rest = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: echo\r\n";
  const std::string body = modern_request("1", "echo");
  EXPECT_EQ(answer_to(served, raw("POST", host + rest + "Content-Type: text/plain\r\n", body)).status, 415);
  EXPECT_EQ(answer_to(served, raw("POST", host + rest, body)).status, 415);
  EXPECT_EQ(answer_to(served,
                      raw("POST",
                          host + rest + "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", body))
                .status,
            415);
  EXPECT_EQ(
      answer_to(served, raw("POST", host + rest + "Content-Type: Application/JSON; charset=utf-8\r\n", body))
          .status,
      200);
  EXPECT_EQ(
      answer_to(served,
                raw("POST", host + rest + "Content-Type: application/json\r\nAccept: text/html\r\n", body))
          .status,
      406);
  EXPECT_EQ(answer_to(served, raw("POST",
                                  host + rest +
                                      "Content-Type: application/json\r\nAccept: application/json\r\nAccept: "
                                      "text/event-stream\r\n",
                                  body))
                .status,
            200);
}

// ---- cancellation ----

TEST(HttpServer, AClientThatGoesCancelsItsRequest) {  // S31
  const Served served;
  {
    Wire wire(served.port());
    wire.send(modern("1", "hang"));
    served.wait_for(served.service.started, 1);
  }
  served.wait_for(served.service.dropped, 1);
  {
    Wire wire(served.port());
    wire.send(modern("1", "drip"));
    EXPECT_TRUE(wire.read_until("notifications/progress"));
  }
  served.wait_for(served.service.dropped, 2);
  {
    Wire wire(served.port());
    wire.send(modern("1", "drip"));
    EXPECT_TRUE(wire.read_until("notifications/progress"));
    wire.reset();
  }
  served.wait_for(served.service.dropped, 3);
  EXPECT_EQ(served.service.stopped, 3);
  EXPECT_EQ(answer_to(served, modern("1", "echo")).status, 200);
}

TEST(HttpServer, WhatMakesAReplyThatIsKeptRunsToItsEnd) {
  HttpOptions options = quick();
  options.unattended_calls_max = 1;
  const Served served(options);
  for (int round = 1; round <= 2; ++round) {
    for (int call = 1; call <= 2; ++call) {
      Wire wire(served.port());
      wire.send(modern("1", "keep"));
      served.wait_for(served.service.started, 3 * (round - 1) + call);
    }
    served.wait_for(served.service.dropped, 2 * round - 1);  // there is room for one
    EXPECT_EQ(served.service.kept, round - 1);
    EXPECT_EQ(served.service.stopped, round);
    EXPECT_EQ(answer_to(served, modern("1", "open")).status, 200);
    served.wait_for(served.service.kept, round);
    served.wait_for(served.service.dropped, 2 * round);
  }
  EXPECT_EQ(served.service.stopped, 2);
  Wire wire(served.port());
  wire.send(modern("1", "keep"));  // and one that is under way when the server ends
  served.wait_for(served.service.started, 7);
}

TEST(HttpServer, AClientThatStaysGetsTheReplyThatIsKept) {
  const Served served;
  Wire wire(served.port());
  wire.send(modern("1", "keep"));
  served.wait_for(served.service.started, 1);
  EXPECT_EQ(answer_to(served, modern("1", "open")).status, 200);
  EXPECT_EQ(data_of(wire.read().body).back(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(served.service.stopped, 0);
}

TEST(HttpServer, StoppingEndsSubscriptionsWithTheirResultAndDropsTheRest) {  // S61
  Served served;
  Wire listening(served.port());
  listening.send(modern("9", "subscriptions/listen"));
  EXPECT_TRUE(listening.read_until("acknowledged"));
  Wire hanging(served.port());
  hanging.send(modern("1", "hang"));
  Wire idle(served.port());
  idle.send(modern("1", "echo"));
  EXPECT_EQ(idle.read().status, 200);
  served.wait_for(served.service.started, 3);
  served.stop();
  const Reading reading = listening.read();
  EXPECT_TRUE(reading.complete);
  EXPECT_EQ(data_of(reading.body).back(), R"({"jsonrpc":"2.0","id":9,"result":{"resultType":"complete"}})");
  EXPECT_EQ(served.service.dropped, 2);
  EXPECT_TRUE(idle.ends());
}

TEST(HttpServer, ASubscriptionNeedsAClientThatTakesEvents) {
  const Served served;
  const std::string headers = host +
                              "Content-Type: application/json\r\nAccept: application/json\r\n"
                              "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
  EXPECT_EQ(answer_to(served, raw("POST", headers, modern_request("1", "subscriptions/listen"))).status, 406);
}

TEST(HttpHead, DatesAreThoseOfTheRfc) {
  EXPECT_EQ(http_date(Timestamp(std::chrono::seconds(784111777))), "Sun, 06 Nov 1994 08:49:37 GMT");
}

// RFC 9112, section 3.2.2.
TEST(HttpServer, ATargetInAbsoluteFormIsServedAndItsHostCounts) {
  const Served served;
  const auto answer = [&](const std::string& target, const std::string& host_header,
                          const std::string& more = "") {
    std::string request = modern("1", "echo");
    const std::size_t end = request.find(" HTTP/1.1\r\n");
    request.replace(0, end, "POST " + target);
    const std::size_t at = request.find(host);
    EXPECT_NE(at, std::string::npos);
    request.replace(at, host.size(), "Host: " + host_header + "\r\n" + more);
    return answer_to(served, request).status;
  };
  EXPECT_EQ(answer("/mcp", "localhost"), 200);
  EXPECT_EQ(answer("http://localhost/mcp", "localhost"), 200);
  EXPECT_EQ(answer("HTTP://127.0.0.1:8080/mcp?x=1", "localhost"), 200);
  EXPECT_EQ(answer("http://localhost/mcp", "evil.example"), 200) << "Host counts for nothing";
  EXPECT_EQ(answer("http://localhost/mcp", "localhost", "Origin: http://localhost\r\n"), 200);

  EXPECT_EQ(answer("http://evil.example/mcp", "localhost"), 403);
  EXPECT_EQ(answer("http://localhost@evil.example/mcp", "localhost"), 403);
  EXPECT_EQ(answer("http://evil@localhost/mcp", "localhost"), 403);
  EXPECT_EQ(answer("http:///mcp", "localhost"), 403);
  EXPECT_EQ(answer("http://localhost/mcp", "localhost", "Origin: http://evil.example\r\n"), 403);
  EXPECT_EQ(answer("https://localhost/mcp", "localhost"), 421) << "no TLS here";
  EXPECT_EQ(answer("http://localhost/elsewhere", "localhost"), 404);
  EXPECT_EQ(answer("http://localhost", "localhost"), 404);
  EXPECT_EQ(answer("http://localhost?/mcp", "localhost"), 404);
  EXPECT_EQ(answer("ftp://localhost/mcp", "localhost"), 404);
  EXPECT_EQ(answer("http://localhost/mcp", "localhost\r\nHost: localhost"), 400)
      << "two of one are two of one";
}

}  // namespace
}  // namespace signet::transport
