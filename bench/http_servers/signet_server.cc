// What bench/http measures: a tool that answers at once, and one that asks first. Everything that protects is on: input
// validation, sealing, the checks of Host and Origin, limits and timeouts.
//   bench_signet_server PORT
#include <signet/signet.h>
#include <signet/transport/http_server.h>

#include <cstdlib>
#include <iostream>

struct Sum {
  int a;
  int b;
  std::string note;
};

struct Transfer {
  int amount;
  std::string to;
};

signet::Task<signet::ToolResult> add(signet::Call& /*call*/, Sum input) {
  co_return signet::text(std::to_string(input.a + input.b) + " for " + input.note);
}

signet::Task<signet::ToolResult> transfer(signet::Call& call, Transfer input) {
  auto question =
      signet::form("Transfer " + std::to_string(input.amount) + " to " + input.to + "?").boolean("sure");
  signet::ElicitResult answer = co_await call.elicit("confirm", question);
  if (!answer.accepted() || !answer.boolean("sure")) co_return signet::text("Nothing was transferred.");
  co_return signet::text("Transferred " + std::to_string(input.amount) + " to " + input.to + ".");
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  signet::Server server(signet::ServerInfo("bench", "1"));
  server.tool("add", "Adds two numbers.", add);
  server.tool("transfer", "Transfers money, once somebody has confirmed it.", transfer);
  signet::HttpOptions http;
  http.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  http.connections_max = 2048;
  const auto served = signet::serve_http(server, http);
  if (!served.ok()) return std::cerr << served.error().message << "\n", 1;
  return 0;
}
