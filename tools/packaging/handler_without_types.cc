// Does not compile, and must say why in one sentence.
#include <signet/signet.h>

int main() {
  signet::Server server(signet::ServerInfo("hello", "1.0"));
  server.tool("greet", "Greets a person.", [](auto who) { return "Hello, " + who.name; });
}
