#include <signet/signet.h>
#include <signet/transport/stdio_server.h>

struct Greeting {
  std::string name;
};

int main() {
  signet::Server server(signet::ServerInfo("hello", "1.0"));
  server.tool("greet", "Greets a person.", [](Greeting who) { return "Hello, " + who.name + "!"; });
  return signet::serve_stdio(server).ok() ? 0 : 1;
}
