// The client that the official suite starts: `everything_client URL`, the scenario in MCP_CONFORMANCE_SCENARIO.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <signet/base/log.h>
#include <signet/client/client.h>
#include <signet/client/wait.h>
#include <signet/json/text.h>
#include <signet/transport/event_loop.h>
#include <signet/transport/http_client.h>

namespace {

using signet::Answer;
using signet::Called;
using signet::Json;
using signet::JsonArray;

// When a run hangs, the suite kills the shell only.
constexpr unsigned watchdog_seconds = 25;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The client of one scenario; every call blocks, and says on standard error what failed.
class Scenario {
 public:
  explicit Scenario(const std::string& url) {
    signet::HttpClientOptions http;
    http.log = signet::log_to_stderr(signet::LogLevel::debug);
    auto service = signet::HttpClient::create(loop_, url, std::move(http));
    if (!service) {
      complain(service.error().message);
      return;
    }
    service_ = std::move(*service);
    signet::ClientOptions options;
    options.name = "signet-everything-client";
    options.log = signet::log_to_stderr(signet::LogLevel::debug);
    options.versions = variable("MCP_CONFORMANCE_PROTOCOL_VERSION") == "2026-07-28"
                           ? signet::ClientOptions::Versions::modern_only
                           : signet::ClientOptions::Versions::handshake_only;
    // What the form leaves out comes from its defaults.
    options.on_form = signet::answer_with([](const signet::Question&) { return Answer::accept(); });
    client_ = std::make_unique<signet::Client>(*service_, loop_.executor(), std::move(options));
  }

  bool failed() const { return failed_; }
  explicit operator bool() const { return client_ != nullptr; }

  std::vector<signet::ToolDescription> tools() {
    auto listed = signet::wait(loop_.executor(), client_->list_tools());
    if (listed) return *listed;
    complain(listed.error().message);
    return {};
  }

  void call(const std::string& tool, Json arguments = Json()) {
    check(signet::wait(loop_.executor(), client_->call_tool(tool, std::move(arguments))));
  }

  void call_in_two_rounds(const std::string& tool, const std::string& in_between) {
    auto first = signet::wait(loop_.executor(), client_->call_once(tool, Json::object()));
    if (!check(first)) return;
    call(in_between, Json::object());
    signet::Answers answers;
    for (const signet::Question& question : first->questions) {
      answers.insert_or_assign(question.key, Answer::accept(Json::object({{"confirmed", true}})));
    }
    check(signet::wait(loop_.executor(), client_->resume(first->continuation, std::move(answers))));
  }

  void read_something() {
    check(signet::wait(loop_.executor(), client_->list_resources()));
    check(signet::wait(loop_.executor(), client_->read_resource("file:///path/to/file%20name.txt")));
  }

  void get_a_prompt() {
    check(signet::wait(loop_.executor(), client_->list_prompts()));
    check(signet::wait(loop_.executor(), client_->get_prompt("test_prompt", Json())));
  }

 private:
  template <typename T>
  bool check(const Called<T>& result) {
    if (!result) complain(result.error().message);
    return result.ok();
  }
  void complain(const std::string& sentence) {
    failed_ = true;
    std::cerr << "everything_client: " << sentence << "\n";
  }

  signet::EventLoop loop_;
  std::unique_ptr<signet::HttpClient> service_;
  std::unique_ptr<signet::Client> client_;
  bool failed_ = false;
};

void tools_call(Scenario& scenario) {
  scenario.tools();
  scenario.call("add_numbers", Json::object({{"a", 5}, {"b", 3}}));
}

void list_only(Scenario& scenario) { scenario.tools(); }

void request_state(Scenario& scenario) {
  scenario.tools();
  scenario.call_in_two_rounds("test_mrtr_echo_state", "test_mrtr_unrelated");
  scenario.call_in_two_rounds("test_mrtr_no_state", "test_mrtr_unrelated");
  scenario.call("test_mrtr_no_result_type", Json::object());
}

void standard_headers(Scenario& scenario) {
  scenario.tools();
  scenario.call("test_headers", Json::object());
  scenario.call("my-hyphenated-tool", Json::object());
  scenario.read_something();
  scenario.get_a_prompt();
}

void custom_headers(Scenario& scenario) {
  scenario.tools();
  const auto context = signet::json::parse(variable("MCP_CONFORMANCE_CONTEXT"));
  const Json* calls = context ? context->find("toolCalls") : nullptr;
  if (calls == nullptr || !calls->is_array()) return;
  for (const Json& one : *calls->as_array()) {
    const std::string* name = one.find_string("name");
    const Json* arguments = one.find("arguments");
    if (name != nullptr) scenario.call(*name, arguments != nullptr ? *arguments : Json());
  }
}

void every_tool(Scenario& scenario) {
  for (const signet::ToolDescription& tool : scenario.tools()) scenario.call(tool.name, Json::object());
}

void schema_echo(Scenario& scenario) {
  for (const signet::ToolDescription& tool : scenario.tools()) {
    if (tool.name != "json_schema_2020_12_tool") continue;
    scenario.call("json_schema_echo", Json::object({{"schema", tool.input_schema}}));
  }
}

void form_defaults(Scenario& scenario) {
  scenario.tools();
  scenario.call("test_client_elicitation_defaults", Json::object());
}

void reconnection(Scenario& scenario) {
  scenario.tools();
  scenario.call("test_reconnection", Json::object());
}

// The scenarios by the suite's names. Those of authorization belong here once the client has it.
const std::map<std::string, void (*)(Scenario&)>& scenarios() {
  static const std::map<std::string, void (*)(Scenario&)> all{
      {"tools_call", tools_call},
      {"initialize", list_only},
      {"request-metadata", list_only},
      {"sep-2322-client-request-state", request_state},
      {"http-standard-headers", standard_headers},
      {"http-custom-headers", custom_headers},
      {"http-invalid-tool-headers", every_tool},
      {"json-schema-ref-no-deref", list_only},
      {"json-schema-2020-12-preservation", schema_echo},
      {"elicitation-sep1034-client-defaults", form_defaults},
      {"sse-retry", reconnection},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(watchdog_seconds);
  const auto scenario = scenarios().find(variable("MCP_CONFORMANCE_SCENARIO"));
  if (argc != 2 || scenario == scenarios().end()) {
    std::cerr << "everything_client URL, with MCP_CONFORMANCE_SCENARIO one of:\n";
    for (const auto& [name, run] : scenarios()) std::cerr << "  " << name << "\n";
    return 2;
  }
  Scenario run(argv[1]);
  if (!run) return 1;
  scenario->second(run);
  return run.failed() ? 1 : 0;
}
