// The attacker is the server: whatever it answers, asks, and says in between, a call ends, asks its person a bounded
// number of times, and sends the server only what it gave or was asked to give.
//
// An input is lines. Those that begin with `!` are what the program does (`calls` below); the others are what the server
// says when it is asked, in their order: messages of JSON-RPC that are requests or notifications, on the way to the reply;
// the `result` object of a reply; `{"error":...}`; `~N`, a failure of the transport; `-`, silence.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/one_shot.h>
#include <signet/client/client.h>
#include <signet/client/manual_executor.h>
#include <signet/json/text.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/transport_failure.h>

namespace signet {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t input_bytes_max = std::size_t{32} << 10;
constexpr int calls_max = 4;
constexpr int rounds_max = 3;
constexpr std::size_t pages_max = 5;
// Of one call: a server that answers with silence and failures costs the client its time limit, polling included.
constexpr int steps_max = 20'000;

void require(bool holds, std::string_view promise) {
  if (holds) return;
  std::cerr << "A promise is broken: " << promise << "\n";
  std::abort();
}

// A question that this client declared it would answer.
bool is_declared(const Json& request) {
  const std::string* method = request.find_string("method");
  const Json* params = request.find("params");
  if (method == nullptr) return false;
  if (*method == "elicitation/create") return true;
  return *method == "sampling/createMessage" && params != nullptr && !params->contains("tools");
}

// Says the lines of the input, and watches what the client sends.
class Server final : public Service {
 public:
  explicit Server(std::deque<std::string> lines) : lines_(std::move(lines)) {}

  // A call of the program begins.
  void begin(std::string method) {
    method_ = std::move(method);
    state_.reset();
    asked_ = Json();
    rounds_ = 0;
  }

  Task<Reply> call(Request request, Exchange& exchange) override {
    watch(request);
    while (!lines_.empty()) {
      const std::string line = std::move(lines_.front());
      lines_.pop_front();
      if (line.starts_with('-')) {
        const OneShot<bool> never;
        co_await never;
      }
      if (line.starts_with('~')) co_return failure(broken_way(line));
      json::Limits limits;
      limits.depth_max = 63;  // what a transport takes, without the envelope
      Result<Json, json::ParseError> parsed = json::parse(line, limits);
      if (!parsed.ok()) continue;
      if (parsed->contains("method")) {
        const Task<void> speaking = speak(std::move(*parsed), exchange);
        co_await speaking;
        continue;
      }
      co_return reply_of(request, std::move(*parsed));
    }
    co_return failure(broken_way("~6"));
  }

  void notify(Notification notification, Exchange& /*exchange*/) override {
    require(protocol::write_notification(notification).find('\n') == std::string::npos,
            "a message is a line");
  }

 private:
  static Fault broken_way(const std::string& line) {
    const int number = line.size() > 1 ? line[1] - '0' : 0;
    const int kinds = static_cast<int>(protocol::TransportFailure::Kind::session_ended) + 1;
    const auto kind = static_cast<protocol::TransportFailure::Kind>(((number % kinds) + kinds) % kinds);
    protocol::TransportFailure broken(kind, "broken", true);
    broken.http_status = line.size() > 2 ? 400 + line[2] % 110 : 404;
    return protocol::to_fault(broken);
  }

  Task<void> speak(Json said, Exchange& exchange) {
    protocol::Message message = protocol::classify(std::move(said));
    if (auto* notification = std::get_if<Notification>(&message)) {
      exchange.outlet->notify(std::move(*notification));
    } else if (auto* request = std::get_if<Request>(&message)) {
      const bool declared =
          is_declared(Json::object({{"method", request->method}, {"params", request->params}}));
      const bool ping = request->method == "ping";
      Task<Reply> asking = exchange.outlet->request(request->method, request->params);
      const Reply answer = co_await asking;
      require(!answer.ok() || declared || ping, "only what was declared is answered");
    }
  }

  Reply reply_of(const Request& request, Json said) {
    if (const Json* error = said.find("error")) {
      const Json* code = error->find("code");
      const std::string* message = error->find_string("message");
      const Json* data = error->find("data");
      Fault fault(static_cast<int>(code == nullptr ? 0 : code->as_int64().value_or(0)),
                  message == nullptr ? std::string() : *message, data == nullptr ? Json() : *data);
      if (said.contains("envelope")) fault.stage = Fault::Stage::envelope;
      return failure(std::move(fault));
    }
    if (request.method == method_) {
      const std::string* state = said.find_string("requestState");
      state_ = state == nullptr ? std::nullopt : std::optional<std::string>(*state);
      const Json* requests = said.find("inputRequests");
      asked_ = requests == nullptr ? Json() : *requests;
    }
    return said;
  }

  // What is sent is what was given and asked for.
  void watch(const Request& request) {
    require(ids_.insert(protocol::id_key(request.id)).second, "an id is used once");
    const std::string line = protocol::write_request(request.id, request.method, request.params);
    json::Limits limits;
    limits.depth_max = 300;
    require(std::holds_alternative<Request>(protocol::read_message(line, limits)), "a request is a message");
    const Json* state = request.params.find("requestState");
    const Json* responses = request.params.find("inputResponses");
    if (request.method == "tasks/update") return;
    if (request.method != method_) {
      require(state == nullptr && responses == nullptr, "other requests have no state and no answers");
      return;
    }
    require((state == nullptr) == !state_.has_value(), "a state is echoed where one came");
    require(state == nullptr || *state == Json(*state_), "a state is echoed as it came");
    if (responses == nullptr) return;
    require(++rounds_ <= 5 * rounds_max, "the rounds are bounded");
    require(responses->is_object() && asked_.is_object(), "answers have the names of questions");
    for (const auto& [key, answer] : *responses->as_object()) {
      const Json* asked = asked_.find(key);
      require(asked != nullptr, "what was not asked is not answered");
      require(is_declared(*asked), "only what was declared is answered");
    }
  }

  std::deque<std::string> lines_;
  std::string method_;
  std::optional<std::string> state_;
  Json asked_;
  int rounds_ = 0;
  std::set<std::string> ids_;
};

// The person: accepts, declines, and now and then goes away.
class Person {
 public:
  Answer answer(const Question& question) {
    require(++asked_ <= 10'000, "a person is asked a bounded number of times");
    (void)question.message();
    (void)question.url();
    const Json& schema = question.schema();
    if (asked_ % 5 == 3) return Answer::decline();
    if (asked_ % 11 == 10) return Answer::abandon();
    if (question.kind == Question::Kind::sampling) {
      return Answer::result(Json::object({{"role", "assistant"}, {"model", "m"}}));
    }
    Json content = Json::object();
    const Json* properties = schema.find("properties");
    if (properties != nullptr && properties->is_object()) {
      for (const auto& [name, property] : *properties->as_object()) content.set(name, "x");
    }
    return Answer::accept(std::move(content));
  }

 private:
  int asked_ = 0;
};

class Program {
 public:
  Program(std::deque<std::string> calls, std::deque<std::string> lines, bool tasks)
      : calls_(std::move(calls)), server_(std::move(lines)), client_(server_, loop_, options(tasks)) {}

  void run() {
    for (const std::string& call : calls_) {
      const std::size_t blank = std::min(call.find(' '), call.size());
      act(call.substr(1, blank - 1), call.substr(std::min(blank + 1, call.size())));
    }
  }

 private:
  ClientOptions options(bool tasks) {
    ClientOptions options;
    options.on_form = answer_with([this](const Question& question) { return person_.answer(question); });
    options.on_url = options.on_form;
    options.on_sampling = options.on_form;
    options.rounds_max = rounds_max;
    options.pages_max = pages_max;
    options.call_timeout = std::chrono::minutes(5);
    options.tasks = tasks;
    options.log_level = "info";
    options.on_log = [](const Json&) {};
    options.on_notification = [](const Notification&) {};
    options.clock = &clock_;
    return options;
  }

  static CallOptions each() {
    CallOptions options;
    options.on_progress = [](const Progress&) {};
    return options;
  }

  void act(const std::string& what, const std::string& rest) {
    json::Limits limits;
    limits.depth_max = 32;
    Result<Json, json::ParseError> parsed = json::parse(rest, limits);
    Json given = parsed.ok() && parsed->is_object() ? std::move(*parsed) : Json();
    if (what == "tools") {
      finish("tools/list", client_.list_tools(each()));
    } else if (what == "prompts") {
      finish("prompts/list", client_.list_prompts(each()));
    } else if (what == "resources") {
      finish("resources/list", client_.list_resources(each()));
    } else if (what == "templates") {
      finish("resources/templates/list", client_.list_resource_templates(each()));
    } else if (what == "prompt") {
      finish("prompts/get", client_.get_prompt("p", std::move(given), each()));
    } else if (what == "read") {
      finish("resources/read", client_.read_resource("test://r", each()));
    } else if (what == "complete") {
      finish("completion/complete", client_.complete(std::move(given), "a", "v", Json(), each()));
    } else if (what == "listen") {
      ListenFilter filter;
      filter.tools = filter.resources = true;
      filter.uris.emplace_back("test://r");
      finish("subscriptions/listen", client_.listen(filter, [](const Notification&) {}, each()));
    } else if (what == "request") {
      finish("any/method", client_.request("any/method", std::move(given), each()));
    } else if (what == "once") {
      step_by_step(std::move(given));
    } else {
      finish("tools/call", client_.call_tool("t", std::move(given), each()));
    }
  }

  // A call whose rounds another process takes up.
  void step_by_step(Json arguments) {
    std::optional<Called<Step>> step =
        finish("tools/call", client_.call_once("t", std::move(arguments), each()));
    for (int round = 0; round < 5 && step && step->ok() && !(*step)->finished; ++round) {
      Answers answers;
      for (const Question& question : (*step)->questions) answers.emplace(question.key, Answer::decline());
      const std::string text = (*step)->continuation.serialize();
      Result<Continuation> again = Continuation::parse(text);
      require(again.ok() && again->serialize() == text, "a continuation can be taken up");
      std::optional<Called<Step>> next = end(client_.resume(std::move(*again), std::move(answers), each()));
      step = std::move(next);
    }
  }

  template <typename T>
  std::optional<Called<T>> finish(std::string method, Task<Called<T>> task) {
    server_.begin(std::move(method));
    return end(std::move(task));
  }

  // Nothing where a subscription listens to a silent server, for ever as it should.
  template <typename T>
  std::optional<Called<T>> end(Task<Called<T>> task) {
    bool finished = false;
    task.start([&finished] { finished = true; });
    int steps = 0;
    while (!finished && loop_.step()) require(++steps < steps_max, "a call ends");
    if (!finished) return std::nullopt;
    Called<T> result = task.take();
    if (!result.ok()) {
      for (const char c : result.error().message) {
        require(static_cast<unsigned char>(c) >= 0x20, "what a person reads has no control characters");
      }
    }
    return result;
  }

  ManualClock clock_{Timestamp(milliseconds(1'800'000'000'000))};
  ManualExecutor loop_{clock_};
  Person person_;
  std::deque<std::string> calls_;
  Server server_;
  Client client_;
};

void feed(std::string_view input) {
  std::deque<std::string> calls;
  std::deque<std::string> lines;
  while (!input.empty()) {
    const std::size_t end = input.find('\n');
    const std::string_view line = input.substr(0, end);
    const bool is_call = line.starts_with('!');
    if (is_call && calls.size() < calls_max) calls.emplace_back(line);
    if (!is_call && !line.empty()) lines.emplace_back(line);
    input = end == std::string_view::npos ? std::string_view() : input.substr(end + 1);
  }
  const bool tasks =
      std::any_of(calls.begin(), calls.end(), [](const auto& c) { return c.starts_with("!task"); });
  Program(std::move(calls), std::move(lines), tasks).run();
  require(detail::frames_alive() == 0, "nothing is left of a call");
}

}  // namespace
}  // namespace signet

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size <= signet::input_bytes_max)
    signet::feed(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
