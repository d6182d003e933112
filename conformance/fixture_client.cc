// The client driver of the cases: MCP_ACTION says what to do, the last line of the output what came of it.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <signet/base/log.h>
#include <signet/client/client.h>
#include <signet/client/wait.h>
#include <signet/json/text.h>
#include <signet/transport/child_process.h>
#include <signet/transport/event_loop.h>
#include <signet/transport/http_client.h>

namespace {

using signet::Called;
using signet::CallOptions;
using signet::Client;
using signet::Json;
using signet::JsonArray;
using signet::Task;

Json failed(std::string error, Json code = Json()) {
  return Json::object({{"ok", false}, {"code", std::move(code)}, {"error", std::move(error)}});
}

Json failed(const signet::CallError& error) {
  return failed(error.message, error.fault ? Json(error.fault->code) : Json());
}

Json result_of(const Called<Json>& result) {
  return result ? Json::object({{"ok", true}, {"value", *result}}) : failed(result.error());
}

Json names_of(const std::vector<Json>& tools) {
  JsonArray names;
  for (const Json& tool : tools) names.push_back(tool.find("name") != nullptr ? *tool.find("name") : Json());
  return Json::object({{"ok", true}, {"value", Json::object({{"tools", std::move(names)}})}});
}

// All pages, without the filter.
Task<Json> every_tool(Client& client) {
  std::vector<Json> tools;
  Json params = Json::object();
  for (int page = 0; page < 20; ++page) {
    const Task<Called<Json>> listing = client.request("tools/list", params);
    const Called<Json> listed = co_await listing;
    if (!listed) co_return failed(listed.error());
    const Json* items = listed->find("tools");
    if (items != nullptr && items->is_array())
      tools.insert(tools.end(), items->as_array()->begin(), items->as_array()->end());
    const Json* next = listed->find("nextCursor");
    if (next == nullptr || next->is_null()) break;
    params.set("cursor", *next);
  }
  co_return names_of(tools);
}

Task<Json> checked_tools(Client& client) {
  const Task<Called<std::vector<signet::ToolDescription>>> listing = client.list_tools();
  const Called<std::vector<signet::ToolDescription>> listed = co_await listing;
  if (!listed) co_return failed(listed.error());
  std::vector<Json> tools;
  for (const signet::ToolDescription& tool : *listed) tools.push_back(tool.json);
  co_return names_of(tools);
}

Task<Json> call_tool(Client& client, std::string name, Json arguments, CallOptions options) {
  const Task<Called<signet::ToolOutcome>> calling =
      client.call_tool(std::move(name), std::move(arguments), std::move(options));
  const Called<signet::ToolOutcome> outcome = co_await calling;
  if (!outcome) co_return failed(outcome.error());
  Json value = outcome->json;
  co_return Json::object({{"ok", true}, {"value", std::move(value)}});
}

Task<Json> request(Client& client, std::string method, Json params, CallOptions options) {
  const Task<Called<Json>> asking = client.request(std::move(method), std::move(params), std::move(options));
  const Called<Json> result = co_await asking;
  co_return result_of(result);
}

std::string text_of(const Json& object, std::string_view name) {
  const std::string* text = object.find_string(name);
  return text != nullptr ? *text : std::string();
}

Json member_of(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  return member != nullptr ? *member : Json();
}

Task<Json> one(Client& client, Json step, std::int64_t index) {
  CallOptions options;
  options.timeout = std::chrono::milliseconds(member_of(step, "timeout_ms").as_int64().value_or(0));
  const std::string op = text_of(step, "op");
  Json arguments = member_of(step, "arguments");
  if (op == "call") {
    if (index >= 0) arguments.set("k", index);
    return call_tool(client, text_of(step, "name"), std::move(arguments), std::move(options));
  }
  if (op == "read") {
    return request(client, "resources/read", Json::object({{"uri", text_of(step, "uri")}}),
                   std::move(options));
  }
  if (op == "prompt") {
    Json params = Json::object({{"name", text_of(step, "name")}});
    if (!arguments.is_null()) params.set("arguments", std::move(arguments));
    return request(client, "prompts/get", std::move(params), std::move(options));
  }
  return member_of(step, "checked") == Json(true) ? checked_tools(client) : every_tool(client);
}

// The results of one step, or of as many at once as it says.
void run(Client& client, signet::Executor& executor, const Json& step, JsonArray& results) {
  const std::int64_t parallel = member_of(step, "parallel").as_int64().value_or(0);
  if (parallel == 0) {
    results.push_back(signet::wait(executor, one(client, step, -1)));
    return;
  }
  std::vector<std::future<Json>> running;
  for (std::int64_t index = 0; index < parallel; ++index) {
    running.push_back(signet::start(executor, one(client, step, index)));
  }
  for (std::future<Json>& result : running) results.push_back(result.get());
}

signet::Result<std::unique_ptr<signet::Service>> connect(signet::EventLoop& loop, const Json& action) {
  const Json* command = action.find("command");
  if (command == nullptr) {
    signet::HttpClientOptions options;
    options.log = signet::log_to_stderr();
    auto http = signet::HttpClient::create(loop, text_of(action, "url"), std::move(options));
    if (!http) return signet::failure(http.error());
    return std::unique_ptr<signet::Service>(std::move(*http));
  }
  std::vector<std::string> words;
  for (const Json& word : *command->as_array()) words.push_back(*word.as_string());
  signet::ChildProcessOptions options;
  options.log = signet::log_to_stderr();
  auto child = signet::ChildProcess::start(loop, std::move(words), std::move(options));
  if (!child) return signet::failure(child.error());
  return std::unique_ptr<signet::Service>(std::move(*child));
}

signet::Answer answer_of(const Json& elicitation) {
  const std::string action = text_of(elicitation, "action");
  if (action == "accept") return signet::Answer::accept(member_of(elicitation, "content"));
  return action == "decline" ? signet::Answer::decline() : signet::Answer::cancel();
}

Json act(const Json& action) {
  signet::EventLoop loop;
  Json out = Json::object({{"connected", false}});
  JsonArray results;
  auto service = connect(loop, action);
  if (!service) {
    results.push_back(failed(service.error().message));
    return out.set("results", std::move(results));
  }
  signet::ClientOptions options;
  options.name = "fixture-client";
  options.log = signet::log_to_stderr();
  const Json elicitation = member_of(action, "elicitation");
  if (!elicitation.is_null()) {
    options.on_form =
        signet::answer_with([elicitation](const signet::Question&) { return answer_of(elicitation); });
  }
  if (text_of(action, "era") == "modern") options.versions = signet::ClientOptions::Versions::modern_only;
  const std::int64_t probe = member_of(action, "probe_ms").as_int64().value_or(0);
  if (probe > 0) options.probe_timeout = std::chrono::milliseconds(probe);
  options.rounds_max =
      static_cast<int>(member_of(action, "max_rounds").as_int64().value_or(options.rounds_max));
  {
    Client client(**service, loop.executor(), std::move(options));
    const Called<signet::ServerDescription> server = signet::wait(loop.executor(), client.connect());
    out.set("connected", server.ok());
    const Json* steps = action.find("steps");
    if (!server) {
      results.push_back(failed(server.error()));
    } else if (steps != nullptr && steps->is_array()) {
      for (const Json& step : *steps->as_array()) run(client, loop.executor(), step, results);
    }
  }
  service->reset();
  return out.set("results", std::move(results));
}

}  // namespace

int main() {
  const char* text = std::getenv("MCP_ACTION");
  const auto action = signet::json::parse(text != nullptr ? text : "");
  if (!action) {
    std::cerr << "fixture_client: MCP_ACTION: " << signet::json::describe(action.error()) << "\n";
    return 2;
  }
  std::cout << signet::json::write(act(*action)) << std::endl;
  return 0;
}
