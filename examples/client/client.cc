// Calls a tool of any MCP server, and answers what it asks by itself: client SERVER TOOL ARGUMENTS
//   client http://127.0.0.1:8080/mcp greet '{"name": "Ada"}'
#include <signet/client/client.h>
#include <signet/client/wait.h>
#include <signet/json/text.h>
#include <signet/transport/event_loop.h>
#include <signet/transport/http_client.h>

#include <iostream>

// What a person would see and decide. Anything the server says is untrusted.
signet::Answer decide(const signet::Question& question) {
  std::cerr << "asked: " << question.message() << "\n";
  const auto* properties = question.schema().find("properties");
  if (properties == nullptr || !properties->contains("resolution")) return signet::Answer::decline();
  return signet::Answer::accept(signet::Json::object({{"resolution", "Fixed"}}));
}

int main(int argc, char** argv) {
  if (argc != 4) return std::cerr << "usage: client URL TOOL ARGUMENTS\n", 2;
  auto arguments = signet::json::parse(argv[3]);
  if (!arguments.ok()) return std::cerr << "the arguments are no JSON\n", 2;

  signet::EventLoop loop;  // first, since all that follows uses its thread
  auto service = signet::HttpClient::create(loop, argv[1]);
  if (!service.ok()) return std::cerr << service.error().message << "\n", 1;
  signet::ClientOptions options;
  options.on_form = signet::answer_with(decide);
  signet::Client client(**service, loop.executor(), options);

  auto outcome = signet::wait(loop.executor(), client.call_tool(argv[2], std::move(*arguments)));
  if (!outcome.ok()) return std::cerr << outcome.error().message << "\n", 1;
  std::cout << outcome->text() << "\n";
  return outcome->is_error ? 1 : 0;
}
