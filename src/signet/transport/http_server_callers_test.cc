#include <signet/transport/http_server.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <signet/base/one_shot.h>
#include <signet/transport/server_gate.h>
#include <signet/transport/testing_http.h>

namespace signet::transport {
namespace {

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

}  // namespace
}  // namespace signet::transport
