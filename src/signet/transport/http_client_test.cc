#include <signet/transport/http_client.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <signet/protocol/errors.h>
#include <signet/protocol/transport_failure.h>
#include <signet/transport/http_url.h>
#include <signet/transport/sse_parser.h>

namespace signet {
namespace {

using protocol::TransportFailure;
using Kind = TransportFailure::Kind;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// A request as it came.
struct Seen {
  std::string head;
  std::string body;
  std::string header(const std::string& name) const {
    const std::string low = lower(head);
    const std::size_t at = low.find("\r\n" + lower(name) + ":");
    if (at == std::string::npos) return "(absent)";
    const std::size_t begin = at + name.size() + 3;
    std::string value = head.substr(begin, head.find("\r\n", begin) - begin);
    return value.empty() ? value : value.substr(value.front() == ' ' ? 1 : 0);
  }
};

// A server on the loopback whose every answer is raw bytes; an answer that ends in "<close>" closes the connection, one that
// ends in "<hold>" keeps it open and silent.
class RawServer {
 public:
  using Script = std::function<std::string(const Seen&)>;

  explicit RawServer(Script script)
      : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 64), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int socket : sockets_) ::close(socket);
  }

  std::string url(const std::string& path = "/mcp") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  // Set when a client has closed a connection that was held.
  std::promise<void> left;

 private:
  void accept_all() {
    for (;;) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) return;
      const std::lock_guard lock(mutex_);
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] { serve(socket); });
    }
  }

  void serve(int socket) {
    std::string input;
    for (;;) {
      Seen request;
      if (!read_request(socket, input, request)) return;
      std::string answer = script_(request);
      {
        const std::lock_guard lock(mutex_);
        seen_.push_back(request);
      }
      const bool closes = answer.ends_with("<close>");
      const bool holds = answer.ends_with("<hold>");
      if (closes) answer.resize(answer.size() - 7);
      if (holds) answer.resize(answer.size() - 6);
      for (std::size_t sent = 0; sent < answer.size();) {
        const ssize_t count = ::send(socket, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += static_cast<std::size_t>(count);
      }
      if (closes) {
        ::shutdown(socket, SHUT_RDWR);
        return;
      }
      if (holds) {
        char byte = 0;
        if (::recv(socket, &byte, 1, 0) <= 0) left.set_value();
        return;
      }
    }
  }

  static bool read_request(int socket, std::string& input, Seen& request) {
    std::size_t end = 0;
    while ((end = input.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more(socket, input)) return false;
    }
    request.head = input.substr(0, end + 2);
    input.erase(0, end + 4);
    const std::string length = request.header("Content-Length");
    const std::size_t size = length == "(absent)" ? 0 : std::stoul(length);
    while (input.size() < size) {
      if (!read_more(socket, input)) return false;
    }
    request.body = input.substr(0, size);
    input.erase(0, size);
    return true;
  }

  static bool read_more(int socket, std::string& input) {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got > 0) input.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  Script script_;
  int listener_;
  std::uint16_t port_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::vector<Seen> seen_;
};

std::string answer(const std::string& type, const std::string& body, const std::string& status = "200 OK",
                   const std::string& more = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" + body;
}
std::string json_answer(const std::string& body, const std::string& status = "200 OK") {
  return answer("application/json", body, status);
}

class Quiet final : public Outlet {
 public:
  void notify(Notification notification) override { notified.push_back(std::move(notification.method)); }
  Task<Reply> request(std::string method, Json) override { return answered(std::move(method)); }
  std::vector<std::string> notified;
  std::vector<std::string> asked;

 private:
  Task<Reply> answered(std::string method) {
    asked.push_back(std::move(method));
    co_return Json::object({{"action", "decline"}});
  }
};

class HttpClientTest : public ::testing::Test {
 protected:
  void connect(const std::string& url) {
    auto created = HttpClient::create(loop, url, options);
    ASSERT_TRUE(created.ok()) << created.error().message;
    client = std::move(*created);
  }

  static Task<Reply> called(HttpClient& http, Request request, Exchange& exchange) {
    const Task<Reply> calling = http.call(std::move(request), exchange);
    Reply reply = co_await calling;
    co_return reply;
  }

  Exchange exchange_for(Session* session = nullptr) {
    Exchange exchange;
    exchange.outlet = &outlet;
    exchange.executor = &loop.executor();
    exchange.session = session;
    return exchange;
  }

  // Runs on the loop, waits here.
  Reply call(std::string method, Json params = Json::object(), Session* session = nullptr) {
    Exchange exchange = exchange_for(session);
    Task<Reply> task = called(*client, Request(7, std::move(method), std::move(params)), exchange);
    std::promise<Reply> result;
    loop.executor().post([&] {
      task.start([&] {
        Reply reply = task.take();
        task = Task<Reply>();
        result.set_value(std::move(reply));
      });
    });
    return result.get_future().get();
  }

  void on_loop(std::function<void()> work) {
    std::promise<void> done;
    loop.executor().post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  Reply call_against(const std::string& raw, std::string method = "tools/call") {
    RawServer server([raw](const Seen&) { return raw; });
    connect(server.url());
    Reply reply = call(std::move(method));
    client.reset();
    return reply;
  }

  void expect_failure(const std::string& raw, Kind kind) {
    const Reply reply = call_against(raw);
    ASSERT_FALSE(reply.ok()) << raw.substr(0, 80);
    const auto failed = protocol::transport_failure(reply.error());
    ASSERT_TRUE(failed.has_value()) << raw.substr(0, 80);
    EXPECT_EQ(failed->kind, kind) << raw.substr(0, 80) << " " << failed->message;
  }

  EventLoop loop;
  HttpClientOptions options;
  Quiet outlet;
  std::unique_ptr<HttpClient> client;
};

TEST_F(HttpClientTest, TakesAnAnswerAsJson) {  // C13, C17
  const Reply reply = call_against(json_answer(R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(*reply, Json::object({{"a", 1}}));
}

TEST_F(HttpClientTest, TakesAnAnswerAsAStreamWithNotificationsBeforeIt) {  // C17
  const std::string body =
      ": hello\r\n\r\nevent: message\r\ndata: "
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n"
      "data: {\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{\"b\":1}}\n\n"
      "data: {\"jsonrpc\":\"2.0\",\"id\":7,\ndata: \"result\":{\"a\":1}}\n\n";
  std::string chunked =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: "
      "chunked\r\n\r\n";
  for (const char c : body) chunked += std::string("1\r\n") + c + "\r\n";
  const Reply reply = call_against(chunked + "0\r\n\r\n");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(*reply, Json::object({{"a", 1}}));
  EXPECT_EQ(outlet.notified, std::vector<std::string>{"notifications/progress"});
}

TEST_F(HttpClientTest, SendsTheStandardHeadersOfTheRevision) {  // C13, C14, C15, C16, C18, C19, C23
  RawServer server([](const Seen&) { return json_answer(R"({"jsonrpc":"2.0","id":7,"result":{}})"); });
  options.headers.emplace_back("Authorization", "Bearer x");
  connect(server.url());
  Json params =
      Json::object({{"name", "na\xc3\xafve"},
                    {"_meta", Json::object({{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}})}});
  ASSERT_TRUE(call("tools/call", params).ok());
  const Seen seen = server.seen().at(0);
  EXPECT_EQ(seen.header("MCP-Protocol-Version"), "2026-07-28");
  EXPECT_EQ(seen.header("Mcp-Method"), "tools/call");
  EXPECT_EQ(seen.header("Mcp-Name"), "=?base64?bmHDr3Zl?=");
  EXPECT_EQ(seen.header("Accept"), "application/json, text/event-stream");
  EXPECT_EQ(seen.header("Authorization"), "Bearer x");
  EXPECT_EQ(seen.header("Mcp-Session-Id"), "(absent)");
  EXPECT_EQ(seen.head.substr(0, 5), "POST ");
  EXPECT_TRUE(seen.body.starts_with('{'));

  const auto name_of = [&](const std::string& method, const std::string& member, const std::string& value) {
    EXPECT_TRUE(call(method, Json::object({{member, value}})).ok());
    return server.seen().back().header("Mcp-Name");
  };
  EXPECT_EQ(name_of("resources/read", "uri", "test://a?b"), "test://a?b");
  EXPECT_EQ(name_of("prompts/get", "name", "p"), "p");
  EXPECT_EQ(name_of("prompts/get", "name", " p"), "=?base64?IHA=?=");
  EXPECT_EQ(name_of("prompts/get", "name", "=?base64?cA==?="), "=?base64?PT9iYXNlNjQ/Y0E9PT89?=");
  EXPECT_EQ(name_of("tools/list", "name", "p"), "(absent)");
}

TEST_F(HttpClientTest, OneAnswerMayBeJsonAndTheNextAStream) {  // C17
  int answered = 0;
  RawServer server([&](const Seen&) {
    const std::string reply = R"({"jsonrpc":"2.0","id":7,"result":{}})";
    return ++answered % 2 == 1 ? json_answer(reply) : answer("text/event-stream", "data: " + reply + "\n\n");
  });
  connect(server.url());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(call("tools/call").ok()) << i;
  client.reset();
}

TEST_F(HttpClientTest, AStreamThatBreaksIsNotResumedWithoutASession) {  // C72
  RawServer server([](const Seen&) {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\nretry: 1\ndata:\n\n<close>";
  });
  connect(server.url());
  const Reply reply = call("tools/call");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(protocol::transport_failure(reply.error())->kind, Kind::closed);
  EXPECT_TRUE(protocol::transport_failure(reply.error())->may_have_arrived);
  client.reset();
  EXPECT_EQ(server.seen().size(), 1u);
}

TEST_F(HttpClientTest, TakesTheFirstOfTwoAnswersAndKeepsTheConnectionUsable) {
  RawServer server([](const Seen&) {
    const auto data = [](int id, int value) {
      return "data: {\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(id) +
             ",\"result\":{\"v\":" + std::to_string(value) + "}}\n\n";
    };
    return answer("text/event-stream", data(8, 0) + data(7, 1) + data(7, 2) + data(9, 3));
  });
  connect(server.url());
  for (int i = 0; i < 3; ++i) {
    const Reply reply = call("tools/call");
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(*reply, Json::object({{"v", 1}}));
  }
  client.reset();
}

TEST_F(HttpClientTest, MirrorsParametersOfToolsThatWereListed) {  // C20, C22, C24
  RawServer server([](const Seen& request) {
    if (request.header("Mcp-Method") != "tools/list")
      return json_answer(R"({"jsonrpc":"2.0","id":7,"result":{}})");
    return json_answer(
        R"({"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":
      {"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
       "in":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}}}}}]}})");
  });
  connect(server.url());
  ASSERT_TRUE(call("tools/list").ok());
  Json arguments = Json::object({{"region", ""}, {"n", nullptr}});
  ASSERT_TRUE(call("tools/call", Json::object({{"name", "t"}, {"arguments", arguments}})).ok());
  EXPECT_EQ(server.seen().at(1).header("Mcp-Param-Region"), "");
  EXPECT_EQ(server.seen().at(1).header("Mcp-Param-N"), "(absent)");
  EXPECT_EQ(server.seen().at(1).header("Mcp-Param-City"), "(absent)");
  arguments = Json::object({{"n", 5}, {"in", Json::object({{"city", "K\xc3\xb6ln"}})}});
  ASSERT_TRUE(call("tools/call", Json::object({{"name", "t"}, {"arguments", arguments}})).ok());
  EXPECT_EQ(server.seen().at(2).header("Mcp-Param-Region"), "(absent)");
  EXPECT_EQ(server.seen().at(2).header("Mcp-Param-N"), "5");
  EXPECT_EQ(server.seen().at(2).header("Mcp-Param-City"), "=?base64?S8O2bG4=?=");
}

TEST_F(HttpClientTest, ARefusalWithAJsonRpcErrorIsThePeersWord) {
  const Reply reply = call_against(
      json_answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"no"}})", "400 Bad Request"));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, protocol::unsupported_version);
  EXPECT_EQ(reply.error().stage, Fault::Stage::envelope);
}

TEST_F(HttpClientTest, AnUnknownMethodIsRefusedByTheTransportWith404Only) {  // C12
  const std::string body = R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}})";
  const Reply modern = call_against(json_answer(body, "404 Not Found"));
  ASSERT_FALSE(modern.ok());
  EXPECT_EQ(modern.error().stage, Fault::Stage::envelope);
  const Reply old = call_against(json_answer(body, "400 Bad Request"));
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, protocol::method_not_found);
  EXPECT_EQ(old.error().stage, Fault::Stage::handler);
}

TEST_F(HttpClientTest, ReportsStatusAndChallengeOfARefusal) {
  const Reply reply = call_against(
      answer("text/plain", "no", "401 Unauthorized", "WWW-Authenticate: Bearer resource_metadata=\"x\"\r\n"));
  ASSERT_FALSE(reply.ok());
  const auto failed = protocol::transport_failure(reply.error());
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->http_status, 401);
  EXPECT_EQ(failed->challenge, "Bearer resource_metadata=\"x\"");
}

TEST_F(HttpClientTest, FetchesTheDocumentAtItsAddress) {
  const auto fetched = [this](const std::string& raw) {
    RawServer server([raw](const Seen&) { return raw; });
    connect(server.url("/a?b"));
    Task<Result<std::string>> task;
    std::promise<Result<std::string>> result;
    loop.executor().post([&] {
      task = client->fetch();
      task.start([&] {
        Result<std::string> got = task.take();
        task = Task<Result<std::string>>();
        result.set_value(std::move(got));
      });
    });
    const Result<std::string> got = result.get_future().get();
    EXPECT_TRUE(server.seen().at(0).head.starts_with("GET /a?b HTTP/1.1")) << server.seen().at(0).head;
    client.reset();
    return got ? *got : "error: " + got.error().message;
  };
  EXPECT_EQ(fetched(json_answer("{}")), "{}");
  EXPECT_EQ(fetched(answer("text/plain", "no", "404 Not Found")),
            "error: the server answered with HTTP status 404");
  EXPECT_EQ(fetched(json_answer(std::string(70'000, ' '))), "error: the document is longer than 64 KiB");
}

TEST_F(HttpClientTest, NamesWhatIsWrongWithAHostileAnswer) {
  options.body_bytes_max = 1000;
  options.event_bytes_max = 1000;
  const std::string stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  expect_failure(answer("text/html", "<html>"), Kind::not_mcp);
  expect_failure(json_answer("{"), Kind::not_mcp);
  expect_failure(json_answer("[]"), Kind::not_mcp);
  expect_failure(json_answer(R"({"jsonrpc":"2.0","id":8,"result":{}})"), Kind::not_mcp);
  expect_failure(json_answer(R"({"jsonrpc":"2.0","id":"7","result":{}})"), Kind::not_mcp);
  expect_failure(json_answer(std::string(2000, ' ')), Kind::too_large);
  expect_failure(answer("application/json", "x", "200 OK", "Content-Encoding: gzip\r\n"), Kind::not_mcp);
  expect_failure("SSH-2.0-OpenSSH\r\n\r\n<close>", Kind::not_mcp);
  expect_failure("<close>", Kind::closed);
  expect_failure(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999999999999\r\n\r\n{<close>",
      Kind::closed);
  expect_failure(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: xchunked\r\n\r\n<close>",
      Kind::not_mcp);
  expect_failure("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n", Kind::not_mcp);
  expect_failure(stream + "data: " + std::string(2000, 'x'), Kind::too_large);
  expect_failure(stream + "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}<close>", Kind::closed);
  expect_failure("HTTP/1.1 101 Switching Protocols\r\n\r\n", Kind::not_mcp);
}

TEST_F(HttpClientTest, ChunksCannotBeAllExtensionAndTrailer) {
  const std::string chunks =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::size_t size : {65'500u, 70'000u, 1'000'000u}) {
    const std::string filler(size, 'x');
    expect_failure(chunks + "1;" + filler + "\r\n{\r\n0\r\n\r\n", Kind::not_mcp);
    expect_failure(chunks + "1\r\n{\r\n0\r\nX: " + filler + "\r\n\r\n", Kind::not_mcp);
  }
  expect_failure(chunks + "1;" + std::string(100'000, 'x'), Kind::not_mcp);
}

TEST_F(HttpClientTest, FollowsRedirectsWithinTheOriginAndNoOther) {
  RawServer other([](const Seen&) { return json_answer("{}"); });
  const auto redirect = [&](const std::string& to, const std::string& status) {
    return [to, status](const Seen& request) {
      if (request.head.starts_with("POST /there"))
        return json_answer(R"({"jsonrpc":"2.0","id":7,"result":{}})");
      return answer("text/plain", "", status, "Location: " + to + "\r\n");
    };
  };
  {
    RawServer server(redirect("/there", "307 Temporary Redirect"));
    connect(server.url());
    EXPECT_TRUE(call("tools/call").ok());
    client.reset();
  }
  for (const auto& [to, status] :
       {std::pair(other.url(), "308 Permanent Redirect"), std::pair(std::string("/there"), "302 Found")}) {
    RawServer server(redirect(to, status));
    connect(server.url());
    const Reply reply = call("tools/call");
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(protocol::transport_failure(reply.error())->kind, Kind::redirected);
    client.reset();
  }
  EXPECT_TRUE(other.seen().empty());
}

TEST_F(HttpClientTest, EndsARedirectionInCircles) {
  RawServer server(
      [](const Seen&) { return answer("text/plain", "", "307 Temporary Redirect", "Location: /mcp\r\n"); });
  connect(server.url());
  EXPECT_FALSE(call("tools/call").ok());
  EXPECT_LE(server.seen().size(), 5u);
  client.reset();
}

TEST_F(HttpClientTest, ASilentServerIsGivenUp) {
  options.silence_max = std::chrono::milliseconds(50);
  RawServer server([](const Seen&) { return "<hold>"; });
  connect(server.url());
  const Reply reply = call("tools/call");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(protocol::transport_failure(reply.error())->kind, Kind::timed_out);
  client.reset();
}

TEST_F(HttpClientTest, DroppingACallClosesItsConnection) {
  std::promise<void> arrived;
  RawServer server([&](const Seen&) {
    arrived.set_value();
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n<hold>";
  });
  connect(server.url());
  Exchange exchange = exchange_for();
  Task<Reply> task = called(*client, Request(7, "tools/call", Json::object()), exchange);
  on_loop([&] { task.start([] {}); });
  arrived.get_future().wait();
  on_loop([&] { task = Task<Reply>(); });
  server.left.get_future().wait();
  client.reset();
}

TEST_F(HttpClientTest, RefusesAServerWithoutTls) {
  RawServer server([](const Seen&) { return "<close>"; });
  std::string url = server.url();
  url.replace(0, 4, "https");
  options.connect_timeout = std::chrono::milliseconds(300);
  connect(url);
  const Reply reply = call("tools/call");
  ASSERT_FALSE(reply.ok());
  const auto failed = protocol::transport_failure(reply.error());
  EXPECT_TRUE(failed->kind == Kind::tls || failed->kind == Kind::unreachable);
  EXPECT_FALSE(failed->may_have_arrived);
  client.reset();
}

TEST_F(HttpClientTest, KeepsASessionAndEndsIt) {
  std::promise<void> answered;
  std::promise<void> deleted;
  RawServer server([&](const Seen& request) -> std::string {
    if (request.body.find("\"id\":\"s1\"") != std::string::npos) answered.set_value();
    if (request.head.starts_with("DELETE")) {
      deleted.set_value();
      return answer("text/plain", "");
    }
    if (request.head.starts_with("GET")) {
      return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\n"
             "data: "
             "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"elicitation/create\",\"params\":{}}\n\n<hold>";
    }
    if (request.body.find("\"initialize\"") != std::string::npos) {
      return answer("application/json",
                    R"({"jsonrpc":"2.0","id":7,"result":{"protocolVersion":"2025-06-18","capabilities":{}}})",
                    "200 OK", "Mcp-Session-Id: abc\r\n");
    }
    if (request.body.find("\"id\":7") != std::string::npos)
      return json_answer(R"({"jsonrpc":"2.0","id":7,"result":{}})");
    return answer("text/plain", "", "202 Accepted");
  });
  connect(server.url());
  auto session = std::make_unique<Session>();
  session->outlet = &outlet;
  ASSERT_TRUE(call("initialize", Json::object(), session.get()).ok());
  on_loop([&] {
    Exchange exchange = exchange_for(session.get());
    client->notify(Notification("notifications/initialized", Json()), exchange);
  });
  ASSERT_TRUE(call("tools/list", Json::object(), session.get()).ok());
  answered.get_future().wait();  // the question comes on a stream of its own
  on_loop([&] { session.reset(); });
  deleted.get_future().wait();
  client.reset();
  for (const Seen& seen : server.seen()) {
    if (seen.body.find("\"initialize\"") != std::string::npos) continue;
    EXPECT_EQ(seen.header("Mcp-Session-Id"), "abc");
    EXPECT_EQ(seen.header("MCP-Protocol-Version"), "2025-06-18");
  }
  EXPECT_EQ(outlet.asked, std::vector<std::string>{"elicitation/create"});
}

TEST_F(HttpClientTest, ASessionThatTheServerForgotHasEndedForGood) {
  RawServer server([](const Seen& request) -> std::string {
    if (request.body.find("\"initialize\"") != std::string::npos) {
      return answer("application/json",
                    R"({"jsonrpc":"2.0","id":7,"result":{"protocolVersion":"2025-11-25","capabilities":{}}})",
                    "200 OK", "Mcp-Session-Id: abc\r\n");
    }
    return answer("application/json", R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}})",
                  "404 Not Found");
  });
  connect(server.url());
  auto session = std::make_unique<Session>();
  session->outlet = &outlet;
  ASSERT_TRUE(call("initialize", Json::object(), session.get()).ok());
  for (int i = 0; i < 2; ++i) {
    const Reply reply = call("tools/call", Json::object(), session.get());
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(protocol::transport_failure(reply.error())->kind, Kind::session_ended);
    EXPECT_FALSE(protocol::transport_failure(reply.error())->may_have_arrived);
  }
  on_loop([&] { session.reset(); });
  client.reset();
  EXPECT_EQ(server.seen().size(), 2u);  // the second call was not sent, nor DELETE
}

TEST_F(HttpClientTest, RefusesAddressesAndHeadersThatCannotBeSent) {
  for (const char* url :
       {"ftp://x/", "http://", "http://user:pw@x/", "http://x:0/", "http://x y/", "http://x\r\n/"}) {
    EXPECT_FALSE(HttpClient::create(loop, url).ok()) << url;
  }
  for (const auto& [name, value] :
       {std::pair("Bad Name", "x"), std::pair("X", "a\r\nHost: evil"), std::pair("", "x")}) {
    HttpClientOptions bad;
    bad.headers.emplace_back(name, value);
    EXPECT_FALSE(HttpClient::create(loop, "http://localhost/", bad).ok()) << name;
  }
}

TEST(HttpUrl, KnowsOriginsAndProxies) {
  const auto url = [](std::string_view text) { return *transport::parse_http_url(text); };
  EXPECT_EQ(url("HTTP://Example.COM").text(), "http://example.com/");
  EXPECT_EQ(url("https://[::1]:8443/a?b#c").text(), "https://[::1]:8443/a?b");
  EXPECT_TRUE(url("http://a/").same_origin(url("http://a:80/x")));
  EXPECT_FALSE(url("http://a/").same_origin(url("https://a/")));
  const auto environment = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "http_proxy") return "proxy:3128";
    if (std::string_view(name) == "no_proxy") return "internal.example, .corp";
    return std::nullopt;
  };
  EXPECT_EQ((*transport::proxy_for(url("http://out.example/"), environment))->text(), "http://proxy:3128/");
  for (const char* direct : {"http://localhost/", "http://127.0.0.1/", "http://internal.example/",
                             "http://a.corp/", "https://out.example/"}) {
    EXPECT_FALSE(transport::proxy_for(url(direct), environment)->has_value()) << direct;
  }
  EXPECT_TRUE(transport::proxy_for(url("http://notinternal.example/"), environment)->has_value());
}

TEST(SseParser, ReadsFieldsWhereverTheBytesAreCut) {
  const std::string text =
      "\xef\xbb\xbf: c\r\nid: 1\rretry: 500\ndata:a\ndata: b\r\n\r\nid: 2\ndata\n\nevent: x\ndata: "
      "1\n\ndata: lost";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    transport::SseParser parser(1000);
    std::vector<transport::SseEvent> events;
    ASSERT_TRUE(parser.feed(text.substr(0, cut), events).ok());
    ASSERT_TRUE(parser.feed(text.substr(cut), events).ok());
    ASSERT_EQ(events.size(), 3u) << cut;
    EXPECT_EQ(events[0].data, "a\nb");
    EXPECT_EQ(events[1].data, "");
    EXPECT_EQ(events[2].type, "x");
    EXPECT_EQ(parser.last_event_id(), "2");
    EXPECT_EQ(parser.retry(), std::chrono::milliseconds(500));
  }
}

}  // namespace
}  // namespace signet
