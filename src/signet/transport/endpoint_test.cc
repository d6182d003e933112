#include <signet/transport/endpoint.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include <signet/base/entropy.h>
#include <signet/base/one_shot.h>
#include <signet/protocol/authenticator.h>
#include <signet/protocol/header_codec.h>
#include <signet/transport/asio_executor.h>
#include <signet/transport/testing_service.h>

namespace signet::transport {
namespace {

// A request that came by no socket.
class Paper final : public ServerRequest {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  Paper(std::string method, Headers headers, std::string body)
      : method_(std::move(method)), headers_(std::move(headers)), body_(std::move(body)) {}

  std::string_view method() const override { return method_; }
  std::string_view target() const override { return "/mcp"; }
  std::string_view body() const override { return body_; }
  std::size_t header_count(std::string_view name) const override { return header(name) ? 1 : 0; }
  std::optional<std::string_view> header(std::string_view name) const override {
    for (const auto& [present, value] : headers_) {
      if (protocol::equal_ignoring_case(present, name)) return value;
    }
    return std::nullopt;
  }
  std::optional<std::string_view> doubled(std::string_view) const override { return std::nullopt; }
  std::optional<std::string> list(std::string_view name) const override {
    const std::optional<std::string_view> value = header(name);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }

 private:
  std::string method_;
  Headers headers_;
  std::string body_;
};

// A connection that is written to.
class Sheet final : public Responder {
 public:
  void respond(int code, std::string_view, std::string_view body, const Fields& fields) override {
    status = code;
    written += body;
    for (const auto& [name, value] : fields) {
      if (name == "Mcp-Session-Id") session = value;
    }
  }
  void open_stream(const Fields&) override { status = 200; }
  void write(std::string_view events) override {
    written += events;
    if (breaks) lose();
  }
  bool is_behind() const override { return behind; }
  void end_stream() override { ended = true; }
  void lose() {
    const std::function<void()> told = std::exchange(gone, nullptr);
    if (told) told();
  }

  int status = 0;
  std::string written;
  std::string session;
  bool ended = false;
  bool breaks = false;  // as soon as it is written to
  bool behind = false;
};

// An endpoint whose time is told.
class Desk {
 public:
  explicit Desk(HttpOptions given = HttpOptions())
      : options_(with_log(std::move(given))),
        context_(1),
        executor_(context_),
        endpoint_(service, executor_, options_, system_entropy()) {}
  ~Desk() {
    endpoint_.cancel_all();
    run();
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  // Of the next request.
  bool breaks = false;
  bool behind = false;

  std::shared_ptr<Sheet> post(std::string body, const std::string& session = "",
                              const std::string& accept = "application/json, text/event-stream") {
    Paper::Headers headers{{"Content-Type", "application/json"}, {"Accept", accept}};
    if (!session.empty()) headers.emplace_back("Mcp-Session-Id", session);
    return take("POST", std::move(headers), std::move(body));
  }
  std::shared_ptr<Sheet> resume(const std::string& session, const std::string& last) {
    return take("GET",
                {{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session}, {"Last-Event-ID", last}}, "");
  }
  std::shared_ptr<Sheet> post_modern(std::string body, const std::string& method) {
    return take("POST",
                {{"Content-Type", "application/json"},
                 {"Accept", "application/json, text/event-stream"},
                 {"MCP-Protocol-Version", "2026-07-28"},
                 {"Mcp-Method", method}},
                std::move(body));
  }
  std::string open() { return open_with("")->session; }
  std::shared_ptr<Sheet> open_with(const std::string& padding) {
    return post(call(1, "initialize", padding));
  }

  static std::string call(int id, const std::string& method, const std::string& padding = "") {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
           R"(","params":{"padding":")" + padding + "\"}}";
  }

  void tick_until(std::uint64_t tick) {
    while (now_ < tick) endpoint_.tick(++now_, std::chrono::milliseconds(10));
    run();
  }

  TestingService service;
  int expired = 0;
  int ended = 0;

 private:
  HttpOptions with_log(HttpOptions options) {
    options.log = [this](LogLevel, std::string_view event, std::initializer_list<LogField>) {
      expired += event == "http_session_expired" ? 1 : 0;
      ended += event == "http_resumable_call_ended" ? 1 : 0;
    };
    return options;
  }
  void run() {
    context_.restart();
    context_.poll();
  }
  std::shared_ptr<Sheet> take(std::string method, Paper::Headers headers, std::string body) {
    auto sheet = std::make_shared<Sheet>();
    sheet->breaks = std::exchange(breaks, false);
    sheet->behind = std::exchange(behind, false);
    endpoint_.handle(std::make_shared<Paper>(std::move(method), std::move(headers), std::move(body)), sheet);
    run();
    return sheet;
  }

  const HttpOptions options_;
  boost::asio::io_context context_;
  AsioExecutor executor_;
  Endpoint endpoint_;
  std::uint64_t now_ = 0;
};

HttpOptions ten_ticks() {
  HttpOptions options;
  options.session_idle_timeout = std::chrono::milliseconds(100);
  return options;
}

// ---- sessions whose clients go ----

TEST(Endpoint, ACallThatWaitsForAClientThatIsGoneDoesNotKeepItsSession) {
  Desk desk(ten_ticks());
  const std::string session = desk.open();
  const auto asked = desk.post(Desk::call(2, "ask"), session);
  EXPECT_NE(asked->written.find("elicitation/create"), std::string::npos);
  desk.tick_until(100);
  EXPECT_EQ(desk.expired, 0) << "its client listens";
  asked->lose();
  desk.tick_until(109);
  EXPECT_EQ(desk.expired, 0);
  desk.tick_until(110);
  EXPECT_EQ(desk.expired, 1);
  EXPECT_EQ(desk.post(Desk::call(3, "echo"), session)->status, 404);
}

TEST(Endpoint, ACallThatRunsForLongEndsWithItsSessionOnlyIfNobodyListens) {
  for (const bool stays : {true, false}) {
    Desk desk(ten_ticks());
    const std::string session = desk.open();
    const auto stream = desk.post(Desk::call(2, "drip"), session);
    const auto waiting = desk.post(Desk::call(3, "hang"), session, "application/json");
    desk.tick_until(50);
    stream->lose();
    if (!stays) waiting->lose();
    desk.tick_until(100);
    EXPECT_EQ(desk.expired, stays ? 0 : 1);
    EXPECT_EQ(desk.service.dropped, stays ? 0 : 2);
  }
}

TEST(Endpoint, AClientThatSaysSomethingIsNotGone) {
  Desk desk(ten_ticks());
  const std::string session = desk.open();
  for (std::uint64_t tick = 9; tick < 100; tick += 9) {
    desk.tick_until(tick);
    EXPECT_EQ(desk.post(Desk::call(2, "echo"), session)->status, 200);
  }
  EXPECT_EQ(desk.expired, 0);
}

TEST(Endpoint, TheSessionThatHasWaitedTheLongestForItsClientMakesRoom) {
  HttpOptions options;
  options.sessions_max = 3;
  Desk desk(options);
  const std::string works = desk.open();
  desk.post(Desk::call(2, "drip"), works)->lose();
  desk.tick_until(1);
  const std::string waits = desk.open();
  desk.post(Desk::call(2, "ask"), waits)->lose();
  desk.tick_until(2);
  const std::string listens = desk.open();
  const auto asked = desk.post(Desk::call(2, "ask"), listens);
  desk.tick_until(3);
  EXPECT_NE(desk.open(), "");
  EXPECT_EQ(desk.post(Desk::call(3, "echo"), waits)->status, 404);
  const std::string busy = desk.open();  // in the place of the one that did nothing
  EXPECT_NE(busy, "");
  desk.post(Desk::call(2, "drip"), busy)->lose();
  EXPECT_EQ(desk.post(Desk::call(1, "initialize"))->status, 503);
  EXPECT_EQ(desk.post(Desk::call(3, "echo"), works)->status, 200);
  EXPECT_EQ(desk.post(Desk::call(3, "echo"), listens)->status, 200);
  EXPECT_EQ(desk.service.dropped, 0);
  EXPECT_FALSE(asked->ended);
}

TEST(Endpoint, CallsWithoutTheirConnectionsAreBoundedAndTheLongestWithoutGoes) {
  HttpOptions options;
  options.resumable_calls_bytes_max = 100'000;
  Desk desk(options);
  const std::string session = desk.open();
  const std::string padding(60'000, 'x');
  const auto first = desk.post(Desk::call(2, "drip", padding), session);
  const auto second = desk.post(Desk::call(3, "drip", padding), session);
  const auto third = desk.post(Desk::call(4, "drip", padding), session);
  second->lose();
  desk.tick_until(1);
  EXPECT_EQ(desk.ended, 0) << "one is within the limit";
  first->lose();
  desk.tick_until(2);
  EXPECT_EQ(desk.ended, 1);
  EXPECT_EQ(desk.service.dropped, 1);
  EXPECT_TRUE(desk.resume(session, "2-1")->ended) << "the one that went first";
  const auto resumed = desk.resume(session, "1-1");
  EXPECT_FALSE(resumed->ended);
  third->lose();
  desk.tick_until(3);
  EXPECT_EQ(desk.ended, 1) << "what has a connection again does not count";
  resumed->lose();
  desk.post(Desk::call(5, "echo"), session);
  EXPECT_EQ(desk.ended, 2) << "and does when it has lost that one";
  EXPECT_TRUE(desk.resume(session, "3-1")->ended);
}

TEST(Endpoint, AConnectionThatBreaksAtItsFirstEventLeavesNothing) {
  HttpOptions options;
  options.resumable_calls_bytes_max = 1;
  Desk desk(options);
  const std::string session = desk.open();
  for (int call = 2; call < 5; ++call) {
    desk.breaks = true;
    desk.post(Desk::call(call, "echo"), session, "text/event-stream");
  }
  EXPECT_EQ(desk.post(Desk::call(9, "echo"), session)->status, 200);
  EXPECT_EQ(desk.ended, 0) << "they are over, and wait for nobody";
}

TEST(Endpoint, AConnectionThatBreaksWhileItCatchesUpKeepsNoSession) {
  HttpOptions options;
  options.session_idle_timeout = std::chrono::milliseconds(100);
  Desk desk(options);
  const std::string session = desk.open();
  const std::shared_ptr<Sheet> asking = desk.post(Desk::call(2, "drip"), session);
  EXPECT_NE(asking->written.find("id: 1-1"), std::string::npos) << asking->written;
  asking->lose();
  desk.breaks = true;
  EXPECT_FALSE(desk.resume(session, "1-1")->written.empty());
  desk.tick_until(20);
  EXPECT_EQ(desk.expired, 1);
}

// Never comes to an end.
class Hesitant final : public Authenticator {
 public:
  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& /*caller*/) override {
    const Gone gone(dropped);
    const OneShot<bool> never;
    co_await never;
    co_return Principal::anonymous();
  }
  std::atomic<int> dropped{0};
};

TEST(Endpoint, NobodyIsAuthenticatedWhoHasGone) {
  const auto hesitant = std::make_shared<Hesitant>();
  HttpOptions options;
  options.authenticator = hesitant;
  {
    Desk desk(options);
    const std::shared_ptr<Sheet> gone = desk.open_with("");
    const std::shared_ptr<Sheet> waiting = desk.open_with("");
    gone->lose();
    EXPECT_EQ(hesitant->dropped, 0) << "not from inside of what it may be waiting for";
    desk.tick_until(1);
    EXPECT_EQ(hesitant->dropped, 1);
    EXPECT_EQ(waiting->status, 0);
  }
  EXPECT_EQ(hesitant->dropped, 2);
}

TEST(Endpoint, AClientThatIsBehindIsNotWaitedForLongerThanAWriteMayTake) {
  HttpOptions options;
  options.write_timeout = std::chrono::milliseconds(100);
  for (const auto& [ticks, behind] : {std::pair(9, true), std::pair(11, false)}) {
    for (const bool in_session : {false, true}) {
      Desk desk(options);
      const std::string session = in_session ? desk.open() : "";
      desk.behind = true;
      const std::string call = in_session ? Desk::call(2, "lag") : modern_request("2", "lag");
      const std::shared_ptr<Sheet> slow =
          in_session ? desk.post(call, session) : desk.post_modern(call, "lag");
      desk.tick_until(static_cast<std::uint64_t>(ticks));
      desk.post_modern(modern_request("3", "open"), "open");
      const std::string said = std::string("\"behind\":") + (behind ? "true" : "false");
      EXPECT_NE(slow->written.find(said), std::string::npos) << ticks << in_session << slow->written;
    }
  }
}

TEST(EndpointSession, TellsWhenAStreamLosesItsConnectionAndHasOneAgain) {
  const auto session =
      std::make_shared<EndpointSession>("id", Principal(), 10, 1000, std::make_shared<ReplayBudget>(100'000));
  std::vector<bool> told;
  const auto first = std::make_shared<Sheet>();
  const std::uint64_t stream = session->open(first, [&](bool connected) { told.push_back(connected); });
  EXPECT_TRUE(session->is_attended());
  EXPECT_TRUE(told.empty());
  first->lose();
  EXPECT_FALSE(session->is_attended());
  EXPECT_TRUE(session->send(stream, "{}"));
  EventId start;
  start.stream = stream;
  const auto second = std::make_shared<Sheet>();
  EXPECT_TRUE(session->resume(start, second, Fields()));
  EXPECT_NE(second->written.find("data: {}"), std::string::npos);
  EXPECT_TRUE(session->is_attended());
  session->detach(stream, std::chrono::milliseconds(1));
  EXPECT_FALSE(session->is_attended());
  EXPECT_EQ(told, (std::vector<bool>{false, true, false}));
  session->finish(stream);
  EXPECT_TRUE(session->resume(start, second, Fields()));
  EXPECT_EQ(told.size(), 3u) << "a stream that is over has nobody to be told";
}

TEST(EndpointSession, IsAttendedWhileACallIsAnsweredAndOnlyWaitsWhileAllCallsAsk) {
  const auto session =
      std::make_shared<EndpointSession>("id", Principal(), 10, 1000, std::make_shared<ReplayBudget>(100'000));
  EXPECT_FALSE(session->is_attended());
  EXPECT_TRUE(session->only_waits());
  session->calls = session->calls_answering = 1;
  EXPECT_TRUE(session->is_attended());
  EXPECT_FALSE(session->only_waits());
  session->calls_asking = 1;
  EXPECT_TRUE(session->only_waits());
}

}  // namespace
}  // namespace signet::transport
