// A thousand calls at once on one client, each with a question in it: every answer goes to the call that asked.
//   parallel_calls URL | parallel_calls COMMAND...    (fixture_server)
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <signet/client/client.h>
#include <signet/client/wait.h>
#include <signet/transport/child_process.h>
#include <signet/transport/event_loop.h>
#include <signet/transport/http_client.h>

namespace {

using signet::Answer;
using signet::Called;
using signet::Json;
using signet::Question;
using signet::ToolOutcome;

constexpr int calls = 1000;

// "Send 7 to bob7?" is answered yes, "Send 8 to bob8?" no.
Answer decide(const Question& question) {
  const std::string message = question.message();
  const char last_digit = message.at(message.find(" to ") - 1);
  return Answer::accept(Json::object({{"ok", (last_digit - '0') % 2 == 1}}));
}

std::string expected(int number) {
  const std::string text = std::to_string(number);
  return number % 2 == 1 ? "transferred " + text + " to bob" + text : "not transferred";
}

std::unique_ptr<signet::Service> connect(signet::EventLoop& loop, const std::vector<std::string>& words) {
  if (words.front().starts_with("http")) {
    auto http = signet::HttpClient::create(loop, words.front());
    if (http) return std::move(*http);
  } else {
    auto child = signet::ChildProcess::start(loop, words);
    if (child) return std::move(*child);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return 2;
  signet::EventLoop loop;
  const std::unique_ptr<signet::Service> service = connect(loop, words);
  if (!service) return 2;
  signet::ClientOptions options;
  options.on_form = signet::answer_with(decide);
  int wrong = 0;
  {
    signet::Client client(*service, loop.executor(), options);
    std::vector<std::future<Called<ToolOutcome>>> running;
    for (int number = 0; number < calls; ++number) {
      Json arguments = Json::object({{"amount", number}, {"to", "bob" + std::to_string(number)}});
      running.push_back(signet::start(loop.executor(), client.call_tool("transfer", std::move(arguments))));
    }
    for (int number = 0; number < calls; ++number) {
      const Called<ToolOutcome> outcome = running[static_cast<std::size_t>(number)].get();
      const std::string got = outcome ? outcome->text() : outcome.error().message;
      if (got == expected(number)) continue;
      if (wrong++ < 5) std::cout << "FAIL " << number << ": " << got << "\n";
    }
  }
  std::cout << calls - wrong << " of " << calls << " calls got their own answer\n";
  return wrong == 0 ? 0 : 1;
}
