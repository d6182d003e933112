// Signet behind a program's own HTTP server, here cpp-httplib: own_http --port N
//
// The HTTP server reads and writes; the rules of the protocol that live in HTTP (which revision, mirrored headers, status
// codes) are functions of the room `protocol`, and the rest is a Service. Whatever the program has around its endpoints
// (TLS, authentication, routing) stays as it is; who was authenticated goes into `principal`.
#include <httplib.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <string>

#include <signet/protocol/era.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/signet.h>
#include <signet/transport/event_loop.h>

namespace {

using signet::Reply;
using signet::Request;
using signet::Service;

// One POST: lives from its request to its reply, on the loop's thread. Notifications of the call are left out, which a
// server may do; an answer that carries them would be an event stream.
class Post final : public signet::Outlet {
 public:
  Post(signet::Executor& executor, signet::Principal principal,
       std::function<std::optional<std::string>(std::string_view)> header) {
    exchange_.principal = std::move(principal);
    exchange_.outlet = this;
    exchange_.executor = &executor;
    exchange_.stop = stop_.get_token();
    exchange_.header = std::move(header);
  }

  void notify(signet::Notification) override {}

  void start(Service& service, Request request, const std::shared_ptr<std::promise<Reply>>& promise) {
    task_ = service.call(std::move(request), exchange_);
    task_.start([this, promise] {
      Reply reply = task_.take();
      task_ = signet::Task<Reply>();
      promise->set_value(std::move(reply));  // from here on `this` may be gone
    });
  }

 private:
  std::stop_source stop_;
  signet::Exchange exchange_;
  signet::Task<Reply> task_;
};

void answer(httplib::Response& response, int status, const std::string& body) {
  response.status = status;
  response.set_content(body, "application/json");
}

// cpp-httplib gives each request a thread, so this one may wait for the loop.
Reply serve(Service& service, signet::EventLoop& loop, const httplib::Request& http, Request request) {
  const auto header = [&http](std::string_view name) -> std::optional<std::string> {
    const std::string key(name);
    if (http.get_header_value_count(key) != 1) return std::nullopt;
    return http.get_header_value(key);
  };
  const auto promise = std::make_shared<std::promise<Reply>>();
  std::future<Reply> future = promise->get_future();
  Post post(loop.executor(), signet::Principal::anonymous(), header);
  loop.executor().post([&] { post.start(service, std::move(request), promise); });
  return future.get();
}

void handle(Service& service, signet::EventLoop& loop, const httplib::Request& http,
            httplib::Response& response) {
  namespace protocol = signet::protocol;
  protocol::Message message = protocol::read_message(http.body);
  if (auto* invalid = std::get_if<protocol::InvalidMessage>(&message)) {
    return answer(response, protocol::http_status(invalid->fault),
                  protocol::write_error(invalid->id, invalid->fault));
  }
  auto* request = std::get_if<Request>(&message);
  if (request == nullptr) {
    response.status = std::holds_alternative<signet::Notification>(message) ? 202 : 400;
    return;
  }

  protocol::StandardHeaders headers;
  const auto read = [&http](const char* name, std::string& value) -> std::optional<std::string_view> {
    if (http.get_header_value_count(name) != 1) return std::nullopt;
    value = http.get_header_value(name);
    return value;
  };
  std::string version;
  std::string method;
  std::string name;
  headers.protocol_version = read("MCP-Protocol-Version", version);
  headers.method = read("Mcp-Method", method);
  headers.name = read("Mcp-Name", name);
  const auto era = protocol::decide_http_request(*request, headers, /*modern_only=*/true);
  const signet::Json id = request->id;
  const Reply reply =
      era.ok() ? serve(service, loop, http, std::move(*request)) : Reply(signet::failure(era.error()));
  answer(response, reply.ok() ? 200 : protocol::http_status(reply.error()), protocol::write_reply(id, reply));
}

struct Guess {
  int number;
};

signet::Task<signet::ToolResult> play(signet::Call& call) {
  signet::Elicited<Guess> guess = co_await call.elicit<Guess>("guess", "Which number am I thinking of?");
  if (!guess.accepted()) co_return signet::text("Another time, then.");
  co_return signet::text(guess->number == 7 ? "Yes!" : "No, it was 7.");
}

}  // namespace

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[argc - 1]) : 8080;
  signet::Server server(signet::ServerInfo("own-http", "1.0"));
  server.tool("play", "Plays a guessing game.", play);
  signet::EventLoop loop;

  httplib::Server http;
  http.set_payload_max_length(std::size_t{4} << 20);
  http.Get("/", [](const httplib::Request&, httplib::Response& page) {
    page.set_content("The program's own page.\n", "text/plain");
  });
  http.Post("/mcp", [&](const httplib::Request& request, httplib::Response& response) {
    const std::string host = request.get_header_value("Host");
    const std::string own = "127.0.0.1:" + std::to_string(port);
    // A browser that was led here by another page's name is not a client of ours (DNS rebinding).
    if ((host != own && host != "localhost:" + std::to_string(port)) || request.has_header("Origin")) {
      response.status = 403;
      return;
    }
    handle(server, loop, request, response);
  });
  return http.listen("127.0.0.1", port) ? 0 : 1;
}
