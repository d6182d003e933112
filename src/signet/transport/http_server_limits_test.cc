#include <signet/transport/http_server.h>

#include <sys/resource.h>

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <signet/transport/server_head.h>
#include <signet/transport/testing_http.h>

namespace signet::transport {
namespace {

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

}  // namespace
}  // namespace signet::transport
