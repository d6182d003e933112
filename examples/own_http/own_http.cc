// Signet behind a program's own HTTP server, here cpp-httplib: own_http --port N
//
// The HTTP server reads and writes; the rules of the protocol that live in HTTP (which revision, mirrored headers, status
// codes) are functions of the room `protocol`, and the rest is a Service. Whatever the program has around its endpoints
// (TLS, authentication, routing) stays as it is; who was authenticated goes into `principal`. The duties that are the
// program's own are listed in doc/mounting.md, and each stands here.
#include <httplib.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <signet/protocol/era.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/signet.h>
#include <signet/transport/event_loop.h>

#include "post.h"

namespace {

namespace protocol = signet::protocol;
using namespace std::chrono_literals;

// cpp-httplib gives each connection a thread as long as it answers, so open streams must be fewer than threads.
constexpr std::size_t threads = 64;
constexpr std::size_t subscriptions_max = 32;
// After this long without anything to say the answer becomes an event stream, for only one who writes hears that the
// client has gone; and this often something is written.
constexpr auto patience = 200ms;
constexpr auto sign_of_life = 1s;

// The value of a header that may come once; nothing where it is missing or doubled.
std::optional<std::string> header_of(const httplib::Request& http, std::string_view name) {
  const std::string key(name);
  if (http.get_header_value_count(key) != 1) return std::nullopt;
  return http.get_header_value(key);
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool accepts(const httplib::Request& http, const std::string& type) {
  const std::string accepted = lower(header_of(http, "Accept").value_or(""));
  return accepted.find(type) != std::string::npos || accepted.find("*/*") != std::string::npos;
}

bool is_json(const httplib::Request& http) {
  const std::string type = lower(header_of(http, "Content-Type").value_or(""));
  return type == "application/json" || type.starts_with("application/json;") ||
         type.starts_with("application/json ");
}

void answer(httplib::Response& response, int status, const std::string& body) {
  response.status = status;
  response.set_content(body, "application/json");
}

void refuse(httplib::Response& response, const std::optional<signet::Json>& id, const signet::Fault& fault) {
  answer(response, protocol::http_status(fault), protocol::write_error(id, fault));
}

std::string event(const std::string& message) { return "data: " + message + "\n\n"; }

bool write(httplib::DataSink& sink, const std::string& text) { return sink.write(text.data(), text.size()); }

// False where the client has gone.
bool write_next(httplib::DataSink& sink, Post::Next next, const signet::Json& id) {
  if (next.lost) return false;
  if (!next.notification.empty()) return write(sink, event(next.notification));
  if (!next.reply) return sink.is_writable() && write(sink, ": waiting\n\n");
  if (!write(sink, event(protocol::write_reply(id, *next.reply)))) return false;
  sink.done();
  return true;
}

// An event stream that begins with what there is already.
void stream(httplib::Response& response, std::shared_ptr<Post> post, signet::Json id, Post::Next first) {
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Accel-Buffering", "no");
  const auto begun = std::make_shared<Post::Next>(std::move(first));
  response.set_chunked_content_provider(
      "text/event-stream",
      [post, id = std::move(id), begun, is_first = true](std::size_t, httplib::DataSink& sink) mutable {
        Post::Next next = std::exchange(is_first, false) ? std::move(*begun) : post->wait(sign_of_life);
        return write_next(sink, std::move(next), id);
      },
      // The end, whoever made it. To leave a call that has ended changes nothing.
      [post](bool) { post->leave(); });
}

void serve(signet::Service& service, signet::EventLoop& loop, const httplib::Request& http,
           httplib::Response& response, signet::Request request) {
  protocol::StandardHeaders headers;
  const std::optional<std::string> version = header_of(http, "MCP-Protocol-Version");
  const std::optional<std::string> method = header_of(http, "Mcp-Method");
  const std::optional<std::string> name = header_of(http, "Mcp-Name");
  headers.protocol_version = version;
  headers.method = method;
  headers.name = name;
  const auto era = protocol::decide_http_request(request, headers, /*modern_only=*/true);
  if (!era.ok()) return refuse(response, request.id, era.error());

  signet::Json id = request.id;
  const auto header = [copy = http.headers](std::string_view wanted) -> std::optional<std::string> {
    const auto [from, to] = copy.equal_range(std::string(wanted));
    if (from == to || std::next(from) != to) return std::nullopt;
    return from->second;
  };
  const auto post = std::make_shared<Post>(loop.executor(), signet::Principal::anonymous(), header);
  post->start(service, std::move(request));
  Post::Next first = post->wait(patience);
  if (!first.reply) return stream(response, post, std::move(id), std::move(first));
  answer(response, first.reply->ok() ? 200 : protocol::http_status(first.reply->error()),
         protocol::write_reply(id, *first.reply));
}

void handle(signet::Service& service, signet::EventLoop& loop, const httplib::Request& http,
            httplib::Response& response) {
  if (!is_json(http)) {
    response.status = 415;
    return;
  }
  if (!accepts(http, "application/json") || !accepts(http, "text/event-stream")) {
    response.status = 406;
    return;
  }
  protocol::Message message = protocol::read_message(http.body);
  if (const auto* invalid = std::get_if<protocol::InvalidMessage>(&message))
    return refuse(response, invalid->id, invalid->fault);
  if (auto* request = std::get_if<signet::Request>(&message))
    return serve(service, loop, http, response, std::move(*request));
  const auto* notification = std::get_if<signet::Notification>(&message);
  if (notification == nullptr) {
    response.status = 400;  // a response: nobody asked
    return;
  }
  // Over HTTP a client cancels by going away, and a Server learns nothing else from notifications.
  protocol::StandardHeaders headers;
  const std::optional<std::string> version = header_of(http, "MCP-Protocol-Version");
  const std::optional<std::string> method = header_of(http, "Mcp-Method");
  headers.protocol_version = version;
  headers.method = method;
  const auto era = protocol::decide_http_notification(*notification, headers, /*modern_only=*/true);
  if (!era.ok()) return refuse(response, std::nullopt, era.error());
  response.status = 202;
}

struct Guess {
  int number;
};

signet::Task<signet::ToolResult> play(signet::Call& call) {
  signet::Elicited<Guess> guess = co_await call.elicit<Guess>("guess", "Which number am I thinking of?");
  if (!guess.accepted()) co_return signet::text("Another time, then.");
  co_return signet::text(guess->number == 7 ? "Yes!" : "No, it was 7.");
}

// Counts until it has come there, or nobody listens any more.
struct Count {
  int to;
};

signet::ToolResult count(signet::PlainCall& call, Count args) {
  const std::stop_token stop = call.stop_token();
  int done = 0;
  for (; done < args.to && !stop.stop_requested(); ++done) call.progress(done + 1, args.to);
  std::cerr << "counted to " << (done == args.to ? "the end" : "where the client left") << std::endl;
  return signet::text("Counted to " + std::to_string(done) + ".");
}

}  // namespace

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[argc - 1]) : 8080;
  signet::ServerOptions options;
  options.subscriptions_max(subscriptions_max);
  signet::Server server(signet::ServerInfo("own-http", "1.0"), options);
  server.tool("play", "Plays a guessing game.", play);
  server.tool("count", "Counts, and says how far it is.", count);
  signet::EventLoop loop;

  httplib::Server http;
  http.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  http.set_payload_max_length(std::size_t{4} << 20);
  http.set_read_timeout(30s);
  http.set_write_timeout(30s);
  http.Get("/", [](const httplib::Request&, httplib::Response& page) {
    page.set_content("The program's own page.\n", "text/plain");
  });
  http.Post("/mcp", [&](const httplib::Request& request, httplib::Response& response) {
    const std::string host = header_of(request, "Host").value_or("");
    const std::string own = "127.0.0.1:" + std::to_string(port);
    // A browser that was led here by another page's name is not a client of ours (DNS rebinding).
    if ((host != own && host != "localhost:" + std::to_string(port)) || request.has_header("Origin")) {
      response.status = 403;
      return;
    }
    handle(server, loop, request, response);
  });
  const auto not_allowed = [](const httplib::Request&, httplib::Response& response) {
    response.status = 405;
    response.set_header("Allow", "POST");
  };
  http.Get("/mcp", not_allowed);
  http.Delete("/mcp", not_allowed);
  return http.listen("127.0.0.1", port) ? 0 : 1;
}
