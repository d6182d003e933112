#include <signet/transport/stdio_server.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include <signet/transport/line_splitter.h>
#include <signet/transport/testing_service.h>

namespace signet::transport {
namespace {

// The parent's side of a served pipe.
class Parent {
 public:
  explicit Parent(StdioOptions options = StdioOptions()) {
    EXPECT_EQ(::pipe(to_), 0);
    EXPECT_EQ(::pipe(from_), 0);
    options.input = to_[0];
    options.output = from_[1];
    options.stop_on_signals = false;
    thread_ = std::thread([this, options] {
      result_ok_ = serve_stdio(service, options).ok();
      ::close(from_[1]);
    });
  }
  ~Parent() {
    end();
    ::close(to_[0]);
    if (from_[0] >= 0) ::close(from_[0]);
  }

  void send(const std::string& line) { send_raw(line + "\n"); }
  void send_raw(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(to_[1], bytes.data(), bytes.size());
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  // The next line, or "" if there is none any more.
  std::string read() {
    while (true) {
      const std::size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      char bytes[65536];
      const ssize_t count = ::read(from_[0], bytes, sizeof bytes);
      if (count <= 0) return "";
      buffer_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  void close_input() {
    if (to_[1] >= 0) ::close(to_[1]);
    to_[1] = -1;
  }
  void close_output() {
    ::close(from_[0]);
    from_[0] = -1;
  }
  bool end() {
    close_input();
    if (thread_.joinable()) thread_.join();
    return result_ok_;
  }

  TestingService service;

 private:
  int to_[2];
  int from_[2];
  std::string buffer_;
  bool result_ok_ = false;
  std::thread thread_;
};

Json parse(std::string_view text) {
  Result<Json, json::ParseError> value = json::parse(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? std::move(value).value() : Json();
}

int error_code(std::string_view line) {
  const Json message = parse(line);
  const Json* error = message.find("error");
  return error != nullptr ? static_cast<int>(error->find("code")->as_int64().value_or(0)) : 0;
}

TEST(StdioServer, AnswersAModernRequestWithItsId) {  // B19, S1
  Parent parent;
  parent.send(modern_request("\"a\"", "echo", R"("x":"l1\nl2")"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":"a","result":{"x":"l1\nl2"}})");
  EXPECT_TRUE(parent.end());
}

TEST(StdioServer, TheCallerIsTheLocalPrincipal) {
  Parent parent;
  parent.send(modern_request("1", "principal"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{"kind":1,"id":""}})");
}

TEST(StdioServer, TakesAnyLineEndAndSeveralMessagesInOneWrite) {
  Parent parent;
  parent.send_raw(modern_request("1", "echo") + "\r\n\r\n\n  " + modern_request("2", "echo") + "\n" +
                  modern_request("3", "echo") + "\n");
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":3,"result":{}})");
}

TEST(StdioServer, AnswersALastLineWithoutAnEnd) {
  Parent parent;
  parent.send_raw(modern_request("1", "echo"));
  parent.close_input();
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST(StdioServer, ASlowRequestDoesNotHoldUpAFastOne) {
  Parent parent;
  parent.send(modern_request("1", "later") + "\n" + modern_request("2", "echo"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{"later":true}})");
}

TEST(StdioServer, ACancelledRequestIsSilentAndItsTaskIsDropped) {  // C11, S21
  Parent parent;
  parent.send(modern_request("0", "hang"));
  parent.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}})");
  parent.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}})");
  parent.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})");
  parent.send(modern_request("1", "later"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{"later":true}})");
  EXPECT_EQ(parent.service.dropped, 1);
  EXPECT_EQ(parent.service.stopped, 1);
  parent.close_input();
  EXPECT_EQ(parent.read(), "");
}

TEST(StdioServer, WhatMakesAReplyThatIsKeptRunsToItsEndInSilence) {
  Parent parent;
  parent.send(modern_request("0", "keep"));
  for (int times = 0; times < 2; ++times)
    parent.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}})");
  parent.send(modern_request("0", "echo"));
  EXPECT_EQ(error_code(parent.read()), protocol::invalid_request);  // the id is in use
  EXPECT_EQ(parent.service.stopped, 1);
  EXPECT_EQ(parent.service.kept, 0);
  parent.send(modern_request("1", "open"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  parent.send(modern_request("0", "echo"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":0,"result":{}})");
  EXPECT_EQ(parent.service.kept, 1);
  EXPECT_EQ(parent.service.dropped, 1);
  EXPECT_TRUE(parent.end());
}

TEST(StdioServer, ACancellationThatComesTooLateChangesNothing) {  // B23
  Parent parent;
  parent.send(modern_request("1", "echo"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  for (const char* params : {R"({"requestId":1})", R"({"requestId":"never"})", R"({"requestId":null})", "{}"})
    parent.send(std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)") + params +
                "}");
  parent.send(modern_request("1", "echo"));  // the id is free again
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_TRUE(parent.end());
}

TEST(StdioServer, NeverAnswersNotificationsOrResponses) {  // B5
  Parent parent;
  parent.send(R"({"jsonrpc":"2.0","method":"echo"})");
  parent.send(R"({"jsonrpc":"2.0","method":"echo","params":[]})");
  parent.send(R"({"jsonrpc":"2.0","id":9,"result":{}})");
  parent.send(R"({"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}})");
  parent.send(modern_request("1", "echo"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST(StdioServer, RefusesWhatIsNoMessageAndGoesOn) {  // B16
  Parent parent;
  for (const char* line : {"nonsense", "{\"a\":\"\xff\"}", "[]", R"({"jsonrpc":"2.0","id":1})"}) {
    parent.send(line);
    EXPECT_NE(error_code(parent.read()), 0) << line;
  }
  parent.send(modern_request("1", "echo"));
  EXPECT_EQ(error_code(parent.read()), 0);
}

TEST(StdioServer, RefusesAnOverlongLineAndServesTheNext) {
  StdioOptions options;
  options.line_bytes_max = 1000;
  Parent parent(options);
  parent.send(modern_request("1", "echo", "\"x\":\"" + std::string(200'000, 'x') + "\""));
  EXPECT_EQ(error_code(parent.read()), protocol::parse_error);
  parent.send(modern_request("2", "echo"));
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
}

TEST(StdioServer, RefusesARequestThatClaimsNothingBeforeInitialize) {  // S9
  Parent parent;
  parent.send(R"({"jsonrpc":"2.0","id":1,"method":"echo"})");
  EXPECT_EQ(error_code(parent.read()), protocol::invalid_params);
  EXPECT_EQ(parent.service.started, 0);
}

TEST(StdioServer, ServesBothErasOnOnePipeAndAsksOldClients) {  // B17, S20
  Parent parent;
  parent.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})");
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}})");
  parent.send(R"({"jsonrpc":"2.0","id":2,"method":"ask"})");
  const Json question = parse(parent.read());
  EXPECT_EQ(*question.find_string("method"), "elicitation/create");
  parent.send(modern_request("3", "ask"));
  EXPECT_EQ(error_code(parent.read()), protocol::method_not_found);
  parent.send(R"({"jsonrpc":"2.0","id":)" + json::write(*question.find("id")) +
              R"(,"result":{"action":"accept"}})");
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":2,"result":{"action":"accept"}})");
}

TEST(StdioServer, AnswersABatchOfTheRevisionThatHasThemAsOneArray) {
  StdioOptions options;
  options.batch_messages_max = 3;
  Parent parent(options);
  parent.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})");
  EXPECT_NE(parent.read(), "");
  parent.send(R"([{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","method":"notifications/x"},)"
              R"({"jsonrpc":"2.0","id":3,"method":"later"}])");
  EXPECT_EQ(parent.read(),
            R"([{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":3,"result":{"later":true}}])");
  parent.send(R"([{"jsonrpc":"2.0","method":"notifications/x"}])");  // answered with nothing
  parent.send(R"([{"jsonrpc":"2.0","id":4,"method":"initialize"},)" + modern_request("5", "echo") + ",7]");
  const Json refused = parse(parent.read());
  ASSERT_TRUE(refused.is_array());
  EXPECT_EQ(refused.as_array()->size(), 3u);
  for (const Json& one : *refused.as_array()) EXPECT_EQ(error_code(json::write(one)), -32600);
  parent.send("[1,2,3,4]");
  EXPECT_EQ(error_code(parent.read()), -32600);
  parent.send("[]");
  EXPECT_EQ(error_code(parent.read()), -32600);
}

TEST(StdioServer, ABatchWhoseRequestsAreCancelledSaysOnlyTheRest) {
  Parent parent;
  parent.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})");
  EXPECT_NE(parent.read(), "");
  parent.send(R"([{"jsonrpc":"2.0","id":2,"method":"hang"},{"jsonrpc":"2.0","id":3,"method":"echo"}])");
  parent.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  EXPECT_EQ(parent.read(), R"([{"jsonrpc":"2.0","id":3,"result":{}}])");
}

TEST(StdioServer, RefusesBatchesOfOtherRevisions) {
  Parent parent;
  parent.send("[" + modern_request("1", "echo") + "]");
  EXPECT_EQ(error_code(parent.read()), -32600);
  parent.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})");
  EXPECT_NE(parent.read(), "");
  parent.send(R"([{"jsonrpc":"2.0","id":2,"method":"echo"}])");
  EXPECT_EQ(error_code(parent.read()), -32600);
}

TEST(StdioServer, RefusesAnIdThatIsInUse) {
  StdioOptions options;
  options.shutdown_grace = std::chrono::milliseconds(1);
  Parent parent(options);
  parent.send(modern_request("1", "hang") + "\n" + modern_request("1", "echo"));
  EXPECT_EQ(error_code(parent.read()), protocol::invalid_request);
}

TEST(StdioServer, RefusesMoreRequestsAtOnceThanTheLimit) {
  StdioOptions options;
  options.in_flight_max = 2;
  options.shutdown_grace = std::chrono::milliseconds(1);
  Parent parent(options);
  parent.send(modern_request("1", "hang") + "\n" + modern_request("2", "hang") + "\n" +
              modern_request("3", "echo"));
  EXPECT_EQ(error_code(parent.read()), protocol::internal_error);
}

TEST(StdioServer, EndOfInputEndsSubscriptionsWithTheirResult) {  // S61, S62
  Parent parent;
  parent.send(modern_request("\"L\"", "subscriptions/listen"));
  EXPECT_NE(parent.read().find("acknowledged"), std::string::npos);
  parent.close_input();
  EXPECT_EQ(parent.read(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L","_meta":)"
            R"({"io.modelcontextprotocol/subscriptionId":"L"}}})");
  EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":"L","result":{"resultType":"complete"}})");
  EXPECT_TRUE(parent.end());
}

TEST(StdioServer, EndOfInputCancelsWhatDoesNotEndInTime) {
  StdioOptions options;
  options.shutdown_grace = std::chrono::milliseconds(1);
  Parent parent(options);
  parent.send(modern_request("1", "hang"));
  EXPECT_TRUE(parent.end());
  EXPECT_EQ(parent.service.dropped, 1);
}

TEST(StdioServer, AReaderThatHasGoneEndsTheServer) {
  Parent parent;
  parent.close_output();
  parent.send(modern_request("1", "echo"));
  EXPECT_TRUE(parent.end());
}

TEST(StdioServer, WhoTellsMuchLearnsThatTheReaderIsBehind) {
  Parent parent;
  parent.send(modern_request("1", "fill"));
  while (parent.service.behind == 0) std::this_thread::yield();  // nobody reads until then
  std::string line = parent.read();
  while (line.find("notifications/progress") != std::string::npos) line = parent.read();
  EXPECT_EQ(line, R"({"jsonrpc":"2.0","id":1,"result":{"behind":true,"some":true}})");
}

TEST(StdioServer, ABlockedReaderLosesTheServerNotItsMemory) {
  StdioOptions options;
  options.queue_bytes_max = 100'000;
  options.shutdown_grace = std::chrono::milliseconds(1);
  Parent parent(options);
  parent.send(modern_request("1", "notify", R"("count":1000,"padding":1000)"));
  EXPECT_TRUE(parent.end());
}

TEST(StdioServer, ManyRequestsInOneWriteAreAllAnswered) {
  Parent parent;
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += modern_request(std::to_string(i), "echo") + "\n";
  parent.send_raw(lines);
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(parent.read(), R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"result":{}})");
}

TEST(StdioServer, TakesOverTheStandardDescriptors) {  // S19
  int to[2];
  int from[2];
  ASSERT_EQ(::pipe(to), 0);
  ASSERT_EQ(::pipe(from), 0);
  const int input = ::dup(0);
  const int output = ::dup(1);
  ::dup2(to[0], 0);
  ::dup2(from[1], 1);
  const std::string line = modern_request("1", "print") + "\n";
  ASSERT_EQ(::write(to[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  ::close(to[1]);
  TestingService service;
  StdioOptions options;
  options.stop_on_signals = false;
  const bool ok = serve_stdio(service, options).ok();
  ::dup2(input, 0);
  ::dup2(output, 1);
  for (const int descriptor : {input, output, to[0], from[1]}) ::close(descriptor);
  EXPECT_TRUE(ok);
  char bytes[1000];
  const ssize_t count = ::read(from[0], bytes, sizeof bytes);
  ::close(from[0]);
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(count)),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

TEST(LineSplitter, CutsLinesOfExactlyTheLimitAndNoLonger) {
  LineSplitter splitter(4);
  std::vector<Line> lines;
  splitter.feed("abcd\r\nab", lines);
  splitter.feed("cde\nx", lines);
  splitter.feed("yz\n\n \t\n", lines);
  splitter.feed("last", lines);
  splitter.finish(lines);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].text, "abcd");
  EXPECT_TRUE(lines[1].too_long);
  EXPECT_EQ(lines[2].text, "xyz");
  EXPECT_EQ(lines[3].text, "last");
}

}  // namespace
}  // namespace signet::transport
