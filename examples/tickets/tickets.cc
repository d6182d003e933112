// Resolves tickets. How, the person says; and which ticket is the original, only where it matters.
// With the same ring, any process finishes what another one asked.
#include <signet/keys/ring_file.h>
#include <signet/signet.h>
#include <signet/transport/http_server.h>
#include <signet/transport/stdio_server.h>
#include <unistd.h>

#include <charconv>
#include <iostream>

struct Ticket {
  int ticket;
};

signet::Task<signet::ToolResult> resolve(signet::Call& call, Ticket input) {
  const std::string name = "Ticket " + std::to_string(input.ticket);
  const int asked_by = co_await call.step("asked_by", getpid);

  auto how = signet::form("How was it resolved?")
                 .choice("resolution", {"Fixed", "Won't fix", "Duplicate", "By design"});
  signet::ElicitResult answer = co_await call.elicit("resolution", how);
  if (!answer.accepted()) co_return signet::text(name + " stays open.");

  std::string resolution = answer.string("resolution");
  if (resolution == "Duplicate") {
    auto which = signet::form("Which ticket is the original?").integer("original");
    signet::ElicitResult original = co_await call.elicit("original", which);
    if (!original.accepted()) co_return signet::text(name + " stays open.");
    resolution += " of ticket " + std::to_string(original.integer("original"));
  }
  co_return signet::text(name + ": " + resolution + ". Asked by process " + std::to_string(asked_by) +
                         ", finished by process " + std::to_string(getpid()) + ".");
}

int main(int argc, char** argv) {
  const char* const usage = "usage: tickets [--http] [--port N] [--ring FILE]\n";
  signet::ServerOptions options;
  signet::HttpOptions http;
  bool over_http = false;
  options.log(http.log = signet::log_to_stderr());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help") return std::cout << usage, 0;
    if (word == "--http") over_http = true;
    if (word == "--http") continue;
    const std::string value = ++i < argc ? argv[i] : "";
    if (word == "--port") std::from_chars(value.data(), value.data() + value.size(), http.port);
    if (word == "--port" && value == std::to_string(http.port)) continue;
    if (word != "--ring" || value.empty()) return std::cerr << "not understood: " << word << "\n" << usage, 2;
    auto ring = signet::keys::FileRing::open(value, http.log);
    if (!ring.ok()) return std::cerr << ring.error().message << "\n", 1;
    options.ring(*ring);
  }
  signet::Server server(signet::ServerInfo("tickets", "1.0"), options);
  server.tool("resolve_ticket", "Resolves a ticket.", resolve);
  const auto served = over_http ? signet::serve_http(server, http) : signet::serve_stdio(server);
  if (!served.ok()) return std::cerr << served.error().message << "\n", 1;
}
