// What the tests of the client stand on: an executor with its own time, and a server that follows a script.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <signet/base/clock.h>
#include <signet/base/executor.h>
#include <signet/base/one_shot.h>
#include <signet/client/client.h>
#include <signet/client/manual_executor.h>
#include <signet/json/text.h>

namespace signet {

// Answers by a function, and remembers what was asked.
class ScriptedService final : public Service {
 public:
  using Script = std::function<Task<Reply>(Request, Exchange&)>;

  Task<Reply> call(Request request, Exchange& exchange) override {
    seen.push_back(request);
    return script(std::move(request), exchange);
  }
  void notify(Notification notification, Exchange&) override { notified.push_back(notification.method); }

  // Those of one method. Valid until the next call.
  const std::vector<Request>& of(std::string_view method) {
    found_.clear();
    for (const Request& request : seen) {
      if (request.method == method) found_.push_back(request);
    }
    return found_;
  }

  Script script;
  std::vector<Request> seen;
  std::vector<std::string> notified;

 private:
  std::vector<Request> found_;
};

inline Task<Reply> reply(Json result) { co_return result; }
inline Task<Reply> refuse(Fault fault) { co_return failure(std::move(fault)); }
inline Task<Reply> silence() {
  const OneShot<int> never;
  co_await never;
  co_return Json::object();
}

inline Json parsed(std::string_view text) {
  auto json = json::parse(text);
  if (!json) throw std::runtime_error("a test's JSON is wrong: " + std::string(text));
  return std::move(*json);
}

inline Json discovery() {
  return parsed(R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},
                    "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}})");
}

inline Json text_result(std::string text) {
  Json block = Json::object({{"type", "text"}, {"text", std::move(text)}});
  return Json::object({{"resultType", "complete"}, {"content", Json::array({std::move(block)})}});
}

// A result that asks for the field `name` under each key; `state` where not null.
inline Json asking(const std::vector<std::string>& keys, Json state) {
  Json requests = Json::object();
  for (const std::string& key : keys) {
    requests.set(key, parsed(R"({"method":"elicitation/create","params":{"message":"Name?","requestedSchema":
      {"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}})"));
  }
  Json result = Json::object({{"resultType", "input_required"}});
  if (!keys.empty()) result.set("inputRequests", std::move(requests));
  if (!state.is_null()) result.set("requestState", std::move(state));
  return result;
}

class ClientTest : public ::testing::Test {
 protected:
  // A modern server; tools/call is answered by `tool`, which gets the number of the call from 1.
  void serve(std::function<Task<Reply>(const Request&, int)> tool) {
    service.script = [this, tool = std::move(tool)](Request request, Exchange&) {
      if (request.method == "server/discover") return reply(discovery());
      return tool(request, ++calls);
    };
  }

  Client& client() {
    options.clock = &clock;
    if (!client_) client_ = std::make_unique<Client>(service, executor, options);
    return *client_;
  }
  Called<ToolOutcome> call(CallOptions call_options = CallOptions()) {
    return executor.run(client().call_tool("t", Json::object({{"x", 1}}), std::move(call_options)));
  }
  void answer_forms() {
    options.on_form =
        answer_with([](const Question&) { return Answer::accept(Json::object({{"name", "Ada"}})); });
  }

  ManualClock clock{Timestamp(std::chrono::milliseconds(1'000'000))};
  ManualExecutor executor{clock};
  ScriptedService service;
  ClientOptions options;
  int calls = 0;

 private:
  std::unique_ptr<Client> client_;
};

}  // namespace signet
