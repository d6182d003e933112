#include <signet/transport/http_server.h>

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

#include <gtest/gtest.h>

#include <signet/transport/server_gate.h>
#include <signet/transport/server_head.h>
#include <signet/transport/testing_http.h>

namespace signet::transport {
namespace {

// What was logged, from any thread.
class Lines {
 public:
  LogSink sink() {
    return [this](LogLevel, std::string_view event, std::initializer_list<LogField> fields) {
      std::string line(event);
      for (const auto& [name, value] : fields) line += " " + std::string(name) + "=" + value;
      const std::lock_guard<std::mutex> lock(mutex_);
      lines_.push_back(std::move(line));
    };
  }
  std::size_t count(std::string_view part) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }
  void wait_for(std::string_view part, std::size_t times) const {
    while (count(part) < times) std::this_thread::yield();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

Reading admin_answer(const Served& served, const std::string& target, const std::string& headers = host) {
  Wire wire(served.admin_port());
  wire.send("GET " + target + " HTTP/1.1\r\n" + headers + "\r\n");
  return wire.read();
}

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

// ---- who may talk to us ----

TEST(HttpServer, AForeignOriginIs403AndAForeignHostToo) {  // S23, S24
  const Served served;
  for (const char* origin :
       {"https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "null",
        "http://localhost:80:80", "file://localhost", "", "http://"}) {
    const Reading reading =
        answer_to(served, modern("1", "echo", "", std::string("Origin: ") + origin + "\r\n"));
    EXPECT_EQ(reading.status, 403) << origin;
  }
  for (const char* origin :
       {"http://localhost:3000", "http://127.0.0.1", "https://[::1]:8", "http://LOCALHOST"}) {
    EXPECT_EQ(answer_to(served, modern("1", "echo", "", std::string("Origin: ") + origin + "\r\n")).status,
              200)
        << origin;
  }
  for (const char* name :
       {"evil.example", "localhost.evil.example", "localhost:x", "[::1", "localhost,evil"}) {
    EXPECT_EQ(answer_to(served, "GET /mcp HTTP/1.1\r\nHost: " + std::string(name) + "\r\n\r\n").status, 403)
        << name;
  }
}

TEST(HttpServer, TwoOriginsAreNoneOfOurs) {  // S24
  const Served served;
  for (const char* second : {"http://localhost", "https://evil.example"}) {
    const std::string origins = std::string("Origin: http://localhost\r\nOrigin: ") + second + "\r\n";
    EXPECT_EQ(answer_to(served, modern("1", "echo", "", origins)).status, 403) << second;
  }
}

TEST(HttpServer, ATargetInAbsoluteFormIsServedIfItsHostIsOurs) {
  const Served served;
  const auto status = [&](const std::string& target) {
    return answer_to(served, raw("POST", modern_headers("echo"), modern_request("1", "echo"), target)).status;
  };
  EXPECT_EQ(status("http://localhost/mcp"), 200);
  EXPECT_EQ(status("HTTP://127.0.0.1:1/mcp?x=1"), 200);
  EXPECT_EQ(status("http://evil.example/mcp"), 403);
  EXPECT_EQ(status("http://localhost@evil.example/mcp"), 403);
  EXPECT_EQ(status("http:///mcp"), 403);
  EXPECT_EQ(status("http://localhost/other"), 404);
  EXPECT_EQ(status("http://localhost"), 404);
  EXPECT_EQ(status("ftp://localhost/mcp"), 404);
}

TEST(HttpServer, OriginIsCheckedOnEveryMethod) {  // S23
  const Served served;
  for (const char* method : {"GET", "DELETE", "OPTIONS", "HEAD"}) {
    Wire wire(served.port());
    wire.send(std::string(method) +
              " /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n");
    EXPECT_TRUE(wire.read_until("403"));
  }
}

TEST(HttpServer, ConfiguredNamesAreAllowed) {
  HttpOptions options = quick();
  options.allowed_hosts = {"mcp.example.com:8443"};
  options.allowed_origins = {"https://app.example.com"};
  EXPECT_TRUE(is_allowed_host("MCP.example.com:8443", options));
  EXPECT_FALSE(is_allowed_host("mcp.example.com:80", options));
  EXPECT_FALSE(is_allowed_host("localhost", options));
  EXPECT_TRUE(is_allowed_origin("https://app.example.com", options));
  EXPECT_FALSE(is_allowed_origin("https://app.example.com:444", options));
  EXPECT_TRUE(is_allowed_origin("https://mcp.example.com:8443", options));
}

TEST(HttpServer, ListeningOnAPublicAddressWithoutAuthenticationNeedsASwitch) {
  TestingService service;
  HttpOptions options = quick();
  options.host = "0.0.0.0";
  EXPECT_FALSE(HttpServer(service, options).start().ok());
  options.allow_anonymous_public = true;
  EXPECT_TRUE(HttpServer(service, options).start().ok());
}

class OneToken final : public Authenticator {
 public:
  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override {
    const std::optional<std::string> value = caller.header("Authorization");
    if (value == "Bearer right") co_return Principal::authenticated("alice");
    if (value == "Bearer other") co_return Principal::authenticated("bob");
    Challenge challenge(Challenge::Kind::unauthenticated);
    challenge.scope = "mcp";
    co_return failure(std::move(challenge));
  }
};

TEST(HttpServer, AnUnknownCallerIsChallengedAndAKnownOneIsThePrincipal) {  // S91, S92, S93, S95
  HttpOptions options = quick();
  options.authenticator = std::make_shared<OneToken>();
  options.protected_resource.emplace();
  options.protected_resource->authorization_servers = {"https://auth.example.com"};
  options.protected_resource->scopes_supported = {"mcp"};
  const Served served(options);

  const Reading refused = answer_to(served, modern("1", "principal"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(
      refused.headers.at("www-authenticate"),
      "Bearer scope=\"mcp\",resource_metadata=\"http://localhost/.well-known/oauth-protected-resource/mcp\"");
  EXPECT_EQ(served.service.started, 0);

  const Reading served_reading =
      answer_to(served, modern("1", "principal", "", "Authorization: Bearer right\r\n"));
  EXPECT_EQ(served_reading.body, R"({"jsonrpc":"2.0","id":1,"result":{"kind":2,"id":"alice"}})");

  for (const char* path :
       {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"}) {
    const Reading metadata = answer_to(served, std::string("GET ") + path + " HTTP/1.1\r\n" + host + "\r\n");
    EXPECT_EQ(metadata.status, 200);
    EXPECT_EQ(metadata.body,
              R"({"resource":"http://localhost/mcp","authorization_servers":["https://auth.example.com"],)"
              R"("scopes_supported":["mcp"],"bearer_methods_supported":["header"]})");
  }
}

TEST(HttpServer, TheMetadataOfTheResourceIsForReadingOnly) {  // S91
  HttpOptions options = quick();
  options.authenticator = std::make_shared<OneToken>();
  options.protected_resource.emplace();
  options.protected_resource->authorization_servers = {"https://auth.example.com"};
  const Served served(options);
  const std::string rest = " /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\n" + host + "\r\n";
  const Reading posted = answer_to(served, "POST" + rest);
  EXPECT_EQ(posted.status, 405);
  EXPECT_EQ(posted.headers.at("allow"), "GET, HEAD");
  Wire wire(served.port());
  wire.send("HEAD" + rest);
  EXPECT_TRUE(wire.read_until("HTTP/1.1 200 "));
}

TEST(HttpServer, TheMetadataIsWhereTheChallengeSaysAlsoIfAProxyWritesThePathAnew) {  // S91, S92
  HttpOptions options = quick();
  options.authenticator = std::make_shared<OneToken>();
  options.allowed_hosts.emplace_back("api.example.com");
  options.protected_resource.emplace();
  options.protected_resource->resource = "https://api.example.com/public/mcp";
  const Served served(options);
  EXPECT_NE(answer_to(served, modern("1", "echo"))
                .headers.at("www-authenticate")
                .find("\"https://api.example.com/.well-known/oauth-protected-resource/public/mcp\""),
            std::string::npos);
  const auto status = [&](const std::string& suffix) {
    return answer_to(served, "GET /.well-known/oauth-protected-resource" + suffix +
                                 " HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
        .status;
  };
  EXPECT_EQ(status("/public/mcp"), 200);
  EXPECT_EQ(status("/mcp"), 200);
  EXPECT_EQ(status(""), 200);
  EXPECT_EQ(status("/public"), 404);
  EXPECT_EQ(status("/other/mcp"), 404);
  EXPECT_EQ(status("x"), 404);
}

// Waits where the token says so, until a caller says `open`; counts.
class Slow final : public Authenticator {
 public:
  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override {
    ++asked;
    const std::string how = caller.header("Authorization").value_or("");
    if (how == "open") gate_.set(true);
    if (how == "wait") {
      const bool open = co_await gate_;
      co_return Principal::authenticated(open ? "alice" : "");
    }
    if (how.empty()) co_return failure(Challenge(Challenge::Kind::unauthenticated));
    co_return Principal::authenticated("bob");
  }

  std::atomic<int> asked{0};

 private:
  const OneShot<bool> gate_;
};

std::string head_of(const std::string& method, std::size_t body_bytes, const std::string& more) {
  return "POST /mcp HTTP/1.1\r\n" + modern_headers(method) + more +
         "Content-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

TEST(HttpServer, WhoMayNotComeInIsToldSoBeforeTheBody) {
  const auto authenticator = std::make_shared<Slow>();
  HttpOptions options = quick();
  options.authenticator = authenticator;
  const Served served(options);
  Wire stranger(served.port());
  stranger.send(head_of("principal", 4'000'000, ""));
  EXPECT_EQ(stranger.read().status, 401);
  Wire expecting(served.port());
  expecting.send(head_of("principal", 4'000'000, "Expect: 100-continue\r\n"));
  const Reading refused = expecting.read();
  EXPECT_EQ(refused.status, 401) << "and not 100";
  EXPECT_EQ(refused.headers.at("connection"), "close");
  EXPECT_TRUE(expecting.ends());
  Wire lost(served.port());
  lost.send("POST /other HTTP/1.1\r\n" + host + "Content-Length: 4000000\r\n\r\n");
  EXPECT_EQ(lost.read().status, 404);
  EXPECT_EQ(authenticator->asked, 2);
  EXPECT_EQ(served.service.started, 0);
}

TEST(HttpServer, WhoMayComeInIsAskedForTheBodyAndNotWhoTheyAreAgain) {
  const auto authenticator = std::make_shared<Slow>();
  HttpOptions options = quick();
  options.authenticator = authenticator;
  const Served served(options);
  const std::string body = modern_request("1", "principal");
  const std::string alice = R"({"jsonrpc":"2.0","id":1,"result":{"kind":2,"id":"alice"}})";
  {
    Wire gone(served.port());
    gone.send(head_of("principal", body.size(), "Authorization: wait\r\n"));
    while (authenticator->asked < 1) std::this_thread::yield();
    gone.reset();
  }
  Wire waiting(served.port());
  waiting.send(head_of("principal", body.size(), "Authorization: wait\r\nExpect: 100-continue\r\n"));
  while (authenticator->asked < 2) std::this_thread::yield();
  Wire hasty(served.port());
  hasty.send(head_of("principal", body.size(), "Authorization: bob\r\n") + body.substr(0, 10));
  while (authenticator->asked < 3) std::this_thread::yield();
  hasty.send(body.substr(10) + modern("2", "principal", "", "Authorization: other\r\n"));
  EXPECT_EQ(hasty.read().body, R"({"jsonrpc":"2.0","id":1,"result":{"kind":2,"id":"bob"}})");
  EXPECT_EQ(hasty.read().body, R"({"jsonrpc":"2.0","id":2,"result":{"kind":2,"id":"bob"}})");
  EXPECT_EQ(answer_to(served, modern("1", "echo", "", "Authorization: open\r\n")).status, 200);
  ASSERT_TRUE(waiting.read_until("100 Continue\r\n\r\n"));
  waiting.send(body);
  EXPECT_EQ(waiting.read().status, 100);
  EXPECT_EQ(waiting.read().body, alice);
  EXPECT_EQ(authenticator->asked, 5) << "once for each request";
}

class Throwing final : public Authenticator {
 public:
  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override {
    const std::string how = caller.header("Authorization").value_or("");
    if (how == "at once") throw std::runtime_error("the secret 4711");
    return later(how);
  }

 private:
  static Task<Result<Principal, Challenge>> later(std::string how) {
    if (how == "later") throw std::runtime_error("the secret 4711");
    if (how == "an int") throw 4711;
    co_return Principal::authenticated("alice");
  }
};

TEST(HttpServer, AnAuthenticatorThatThrowsLetsNobodyInAndEndsNothing) {
  Lines lines;
  HttpOptions options = quick();
  options.log = lines.sink();
  options.authenticator = std::make_shared<Throwing>();
  const Served served(options);
  for (const char* how : {"at once", "later", "an int"}) {
    const Reading reading =
        answer_to(served, modern("1", "echo", "", std::string("Authorization: ") + how + "\r\n"));
    EXPECT_EQ(reading.status, 500) << how;
    EXPECT_EQ(reading.body.find("4711"), std::string::npos) << how;
  }
  EXPECT_EQ(lines.count("callback_threw callback=Authenticator::authenticate"), 3u);
  EXPECT_EQ(lines.count("4711"), 0u);
  EXPECT_EQ(served.service.started, 0);
  EXPECT_EQ(answer_to(served, modern("1", "echo", "", "Authorization: well\r\n")).status, 200);
}

TEST(HttpServer, ALogAndMetricsThatThrowEndNothing) {
  class Broken final : public Metrics {
   public:
    void add(std::string_view, std::string_view, double) override {
      ++asked;
      throw std::runtime_error("metrics");
    }
    std::atomic<int> asked{0};
  };
  Broken metrics;
  std::atomic<int> lines{0};
  HttpOptions options = quick();
  options.metrics = &metrics;
  options.admin_port = 0;
  options.metrics_text = []() -> std::string { throw std::runtime_error("the secret 4711"); };
  options.log = [&](LogLevel, std::string_view, std::initializer_list<LogField>) {
    ++lines;
    throw std::runtime_error("log");
  };
  const Served served(options);
  EXPECT_EQ(answer_to(served, modern("1", "echo")).status, 200);
  const Reading reading = admin_answer(served, "/metrics");
  EXPECT_EQ(reading.status, 500);
  EXPECT_EQ(reading.body.find("4711"), std::string::npos);
  EXPECT_EQ(admin_answer(served, "/healthz").status, 200);
  EXPECT_EQ(metrics.asked, 1);
  EXPECT_GE(lines, 4) << "two addresses, and two that threw";
}

TEST(HttpServer, WithoutAuthenticationEverybodyIsAnonymous) {
  const Served served;
  EXPECT_EQ(answer_to(served, modern("1", "principal")).body,
            R"({"jsonrpc":"2.0","id":1,"result":{"kind":0,"id":""}})");
}

TEST(HttpServer, ASessionOfOneCallerDoesNotExistForAnother) {
  HttpOptions options = quick();
  options.authenticator = std::make_shared<OneToken>();
  const Served served(options);
  const std::string right = "Authorization: Bearer right\r\n";
  const Reading opened = answer_to(
      served,
      legacy(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})",
             "", right));
  const std::string session = opened.headers.at("mcp-session-id");
  const std::string call = R"({"jsonrpc":"2.0","id":2,"method":"echo"})";
  EXPECT_EQ(answer_to(served, legacy(call, session, right)).status, 200);
  EXPECT_EQ(answer_to(served, legacy(call, session, "Authorization: Bearer other\r\n")).status, 404);
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

TEST(HttpServer, PreflightsOfTheMetadataAreAnsweredWhereSwitchedOn) {
  HttpOptions options = quick();
  options.authenticator = std::make_shared<OneToken>();
  options.protected_resource.emplace();
  const std::string request = "OPTIONS /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\n" + host +
                              "Origin: http://localhost:3000\r\nAccess-Control-Request-Method: GET\r\n"
                              "Access-Control-Request-Headers: mcp-protocol-version\r\n\r\n";
  EXPECT_EQ(answer_to(Served(options), request).status, 405);
  options.cors = true;
  const Reading reading = answer_to(Served(options), request);
  EXPECT_EQ(reading.status, 204);
  EXPECT_EQ(reading.headers.at("access-control-allow-origin"), "http://localhost:3000");
  EXPECT_EQ(reading.headers.at("access-control-allow-methods"), "GET, HEAD");
  EXPECT_EQ(reading.headers.at("access-control-allow-headers"), "mcp-protocol-version");
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

// ---- limits ----

TEST(HttpServer, BodiesOfTheLimitAreServedAndLargerOnesAre413) {
  HttpOptions options = quick();
  const std::string body = modern_request("1", "echo", "\"x\":\"" + std::string(1000, 'x') + "\"");
  options.body_bytes_max = body.size();
  const Served served(options);
  EXPECT_EQ(answer_to(served, raw("POST", modern_headers("echo"), body)).status, 200);
  EXPECT_EQ(answer_to(served, raw("POST", modern_headers("echo"), body + " ")).status, 413);
  const std::string head = "POST /mcp HTTP/1.1\r\n" + modern_headers("echo");
  EXPECT_EQ(answer_to(served, head + "Content-Length: 4294967296\r\n\r\n").status, 413);
  EXPECT_NE(answer_to(served, head + "Content-Length: 99999999999999999999\r\n\r\n").status, 200);
  std::string chunks;
  append_chunk(chunks, body);
  append_chunk(chunks, " ");
  EXPECT_EQ(answer_to(served, head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n").status,
            413);
}

TEST(HttpServer, LargeBodiesHaveALimitTogetherAndSmallOnesAreNotInTheirWay) {
  HttpOptions options = quick();
  options.bodies_bytes_max = 1'000'000;
  const Served served(options);
  const std::string body = modern_request("1", "echo", "\"x\":\"" + std::string(900'000, 'x') + "\"");
  const std::string head = head_of("echo", body.size(), "Expect: 100-continue\r\n");
  Wire first(served.port());
  first.send(head);
  ASSERT_TRUE(first.read_until("100 Continue\r\n\r\n"));
  EXPECT_EQ(first.read().status, 100);
  EXPECT_EQ(answer_to(served, head).status, 503) << "and not 100";
  std::string chunk;
  append_chunk(chunk, body.substr(0, 100'000));
  EXPECT_EQ(answer_to(served, "POST /mcp HTTP/1.1\r\n" + modern_headers("echo") +
                                  "Transfer-Encoding: chunked\r\n\r\n" + chunk)
                .status,
            503);
  EXPECT_EQ(answer_to(served, modern("1", "echo", "\"x\":\"" + std::string(60'000, 'x') + "\"")).status, 200);
  first.send(body);
  EXPECT_EQ(first.read().status, 200);
  {
    Wire second(served.port());
    second.send(head);
    ASSERT_TRUE(second.read_until("100 Continue")) << "there is room again";
  }
  std::string chunks;
  append_chunk(chunks, body);
  const std::string in_chunks = "POST /mcp HTTP/1.1\r\n" + modern_headers("echo") +
                                "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n";
  Reading alone = answer_to(served, in_chunks);
  while (alone.status == 503)
    alone = answer_to(served, in_chunks);  // until it is known that the second has gone
  EXPECT_EQ(alone.status, 200) << "one alone is read, whatever it may become";
}

TEST(HttpServer, HeadersBeyondTheLimitAre431) {
  const Served served;
  EXPECT_EQ(answer_to(served, modern("1", "echo", "", "X: " + std::string(10'000, 'x') + "\r\n")).status,
            200);
  EXPECT_EQ(answer_to(served, modern("1", "echo", "", "X: " + std::string(20'000, 'x') + "\r\n")).status,
            431);
}

TEST(HttpServer, AHeaderOfTheLimitIsReadAndOneOctetMoreIsNot) {
  HttpOptions options = quick();
  options.header_bytes_max = 600;
  const Served served(options);
  const auto status = [&](std::size_t size) {
    std::string request = "GET /x HTTP/1.1\r\n" + host + "X: ";
    request.append(size - request.size() - 4, 'x');
    return answer_to(served, request + "\r\n\r\n").status;
  };
  EXPECT_EQ(status(600), 404);
  EXPECT_EQ(status(601), 431);
  // More than is read at once, and in two parts.
  const Served usual;
  for (const std::size_t size : {std::size_t{16} << 10, (std::size_t{16} << 10) + 1}) {
    std::string request = "GET /x HTTP/1.1\r\n" + host + "X: ";
    const std::size_t start = request.find('\n') + 1;
    request.append(size - request.size() - 4, 'x');
    request += "\r\n\r\n";
    Wire wire(usual.port());
    wire.send(std::string_view(request).substr(0, start));
    wire.send(std::string_view(request).substr(start));
    EXPECT_EQ(wire.read().status, size == std::size_t{16} << 10 ? 404 : 431);
  }
  const auto status_of_target = [&](std::size_t size) {
    const std::string rest = " HTTP/1.1\r\n" + host + "\r\n";
    return answer_to(served, "GET /" + std::string(size - rest.size() - 5, 'x') + rest).status;
  };
  EXPECT_EQ(status_of_target(600), 404);
  EXPECT_EQ(status_of_target(601), 431);
}

// While this lives, the process gets no further descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(HttpServer, BothAddressesAcceptAgainWhenThereAreDescriptors) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "UndefinedBehaviorSanitizer looks at memory through a pipe, for which there is no descriptor here";
#endif
  Lines lines;
  HttpOptions options = quick();
  options.admin_port = 0;
  options.log = lines.sink();
  const Served served(options);
  for (std::size_t time = 1; time <= 2; ++time) {
    Wire first;
    Wire second;
    {
      const NoDescriptors none;
      first.connect(served.port());
      second.connect(served.admin_port());
      lines.wait_for("http_accept_failed port=" + std::to_string(served.port()), time);
      lines.wait_for("http_accept_failed port=" + std::to_string(served.admin_port()), time);
    }
    first.send(modern("1", "echo"));
    EXPECT_EQ(first.read().status, 200);
    second.send("GET /healthz HTTP/1.1\r\n" + host + "\r\n");
    EXPECT_EQ(second.read().status, 200);
  }
  EXPECT_EQ(lines.count("http_accept_failed"), 4u) << "once for each time, not for each try";
}

TEST(HttpServer, MoreConnectionsThanDescriptorsAreWarnedOf) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur == RLIM_INFINITY) GTEST_SKIP() << "this process may have any number of descriptors";
  const auto warnings = [](std::size_t connections_max) {
    Lines lines;
    TestingService service;
    HttpOptions options = quick();
    options.connections_max = connections_max;
    options.log = lines.sink();
    EXPECT_TRUE(HttpServer(service, options).start().ok());
    return lines.count("http_connections_beyond_descriptors connections_max=" +
                       std::to_string(connections_max));
  };
  EXPECT_EQ(warnings(limit.rlim_cur - 64), 0u);
  EXPECT_EQ(warnings(limit.rlim_cur - 63), 1u);
}

TEST(HttpServer, ConnectionsBeyondTheLimitAreTurnedAway) {
  HttpOptions options = quick();
  options.connections_max = 1;
  const Served served(options);
  Wire first(served.port());
  first.send(modern("1", "echo"));
  EXPECT_EQ(first.read().status, 200);
  Wire second(served.port());
  Wire third(served.port());
  EXPECT_TRUE(third.ends());
  EXPECT_EQ(second.read().status, 503);
  EXPECT_TRUE(second.ends());
}

TEST(HttpServer, SlowSendersAreTimedOut) {
  HttpOptions options = quick();
  options.header_timeout = options.body_timeout = options.idle_timeout = std::chrono::milliseconds(20);
  const Served served(options);
  Wire silent(served.port());
  EXPECT_TRUE(silent.ends());
  Wire half_header(served.port());
  half_header.send("POST /mcp HTTP/1.1\r\nHost: lo");
  EXPECT_EQ(half_header.read().status, 408);
  Wire half_body(served.port());
  half_body.send("POST /mcp HTTP/1.1\r\n" + modern_headers("echo") + "Content-Length: 100\r\n\r\n{");
  EXPECT_EQ(half_body.read().status, 408);
  Wire idle(served.port());
  idle.send(modern("1", "echo"));
  EXPECT_EQ(idle.read().status, 200);
  EXPECT_TRUE(idle.ends());
}

TEST(HttpServer, WhoTellsMuchLearnsThatTheReaderIsBehind) {
  const Served served;
  const std::vector<std::string> messages = data_of(answer_to(served, modern("1", "fill")).body);
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages.back(), R"({"jsonrpc":"2.0","id":1,"result":{"behind":true,"some":true}})");
}

TEST(HttpServer, AReaderThatLagsBehindIsCutOffAndItsRequestCancelled) {
  HttpOptions options = quick();
  options.queue_bytes_max = 100'000;
  const Served served(options);
  Wire wire(served.port());
  wire.send(modern("1", "notify", R"("count":100000,"padding":1000)"));
  EXPECT_FALSE(wire.read().complete);
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

// ---- the second address ----

TEST(HttpServer, HealthAndMetricsAreOnAnAddressOfTheirOwn) {
  HttpOptions options = quick();
  options.admin_port = 0;
  options.metrics_text = [] { return std::string("signet_up 1\n"); };
  const Served served(options);
  EXPECT_EQ(admin_answer(served, "/healthz").body, "ok\n");
  EXPECT_EQ(admin_answer(served, "/metrics").body, "signet_up 1\n");
  EXPECT_EQ(admin_answer(served, "/mcp").status, 404);
  EXPECT_EQ(answer_to(served, "GET /healthz HTTP/1.1\r\n" + host + "\r\n").status, 404);
}

TEST(HttpServer, TheAdminAddressHasConnectionsOfItsOwn) {
  HttpOptions options = quick();
  options.admin_port = 0;
  options.connections_max = 1;
  options.admin_connections_max = 1;
  const Served served(options);
  Wire first(served.port());
  first.send(modern("1", "echo"));
  EXPECT_EQ(first.read().status, 200);
  EXPECT_EQ(answer_to(served, modern("1", "echo")).status, 503);
  Wire probe(served.admin_port());
  probe.send("GET /healthz HTTP/1.1\r\n" + host + "\r\n");
  EXPECT_EQ(probe.read().status, 200);
  EXPECT_EQ(admin_answer(served, "/healthz").status, 503) << "one at a time there";
  first.send(modern("1", "echo"));
  EXPECT_EQ(first.read().status, 200);
}

TEST(HttpServer, TheAdminAddressIsReachedByAnyIpAddressAndByAllowedNames) {
  HttpOptions options = quick();
  options.admin_port = 0;
  options.allowed_hosts = {"metrics.internal"};
  const Served served(options);
  for (const char* ours :
       {"10.0.0.5:9464", "10.0.0.5", "[fd00::5]:9464", "127.0.0.1", "metrics.internal:1"}) {
    const std::string header = std::string("Host: ") + ours + "\r\n";
    EXPECT_EQ(admin_answer(served, "/healthz", header).status, 200) << ours;
    if (std::string_view(ours).starts_with("metrics")) continue;
    EXPECT_EQ(answer_to(served, "GET /mcp HTTP/1.1\r\n" + header + "\r\n").status, 403)
        << ours << " at the public address";
  }
  for (const char* foreign :
       {"evil.example", "10.0.0.5.evil.example", "[evil]", "10.0.0", "1.2.3.4x", "[::1"})
    EXPECT_EQ(admin_answer(served, "/healthz", std::string("Host: ") + foreign + "\r\n").status, 403)
        << foreign;
  const std::string page = "Host: 10.0.0.5\r\nOrigin: http://evil.example\r\n";
  EXPECT_EQ(admin_answer(served, "/metrics", page).status, 403);
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
