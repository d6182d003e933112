// The attacker is an authenticated client that speaks perfect JSON-RPC: it sends what it likes to a real server, answers
// what it is asked with what it likes, sends states again, changed, as another caller, later, and in the middle of
// other calls.
//
// An input is lines. Most are messages of JSON-RPC; in these `$state`, `$older`, `$task` and `$cursor` stand for the
// last requestState this server gave, the one before it, the last task id and the last cursor. Others begin with `@`:
//
//   @as NAME       the caller of the lines that follow; `@as -` is anonymous, `@as` the local one
//   @session       a new connection of the handshake revisions; @modern leaves it
//   @tasks         the server whose tools may be tasks; @shared and @other are two that keep them in one store
//   @main          back to the first server
//   @retry {...}   the request that was last asked something again, with its state and these inputResponses
//   @again         the last request again
//   @wait N        N seconds pass
//   @open          calls that wait at the gate go on
//   @cancel @stop  the oldest call is dropped; its stop token fires
//   @changed       the server announces that everything changed
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/methods.h>
#include <signet/server/fuzzed_server.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>
#include <signet/server/testing_store.h>
#include <signet/token/key_ring.h>
#include <signet/token/task_store.h>

namespace signet::fuzzing {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t input_bytes_max = std::size_t{32} << 10;
constexpr int lines_max = 48;
constexpr std::size_t task_store_bytes_max = std::size_t{4} << 20;
constexpr std::size_t task_bytes_max = std::size_t{16} << 10;
constexpr milliseconds state_lifetime = std::chrono::seconds(600);
constexpr milliseconds clock_skew = std::chrono::seconds(60);
const Timestamp beginning{milliseconds(1'800'000'000'000)};

// The same bytes in every input; from any thread.
class CountingEntropy final : public Entropy {
 public:
  void begin() { count_ = 0; }
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = mixed(++count_);
  }

 private:
  // splitmix64, of which one byte is taken.
  static std::uint8_t mixed(std::uint64_t count) {
    std::uint64_t word = count * 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::uint8_t>(word >> 31);
  }

  std::atomic<std::uint64_t> count_{0};
};

// Whatever is written can be read, and is what it was.
void check_message(const std::string& line) {
  require(line.find('\n') == std::string::npos, "a message is one line");
  json::Limits limits;
  limits.depth_max = 200;
  const protocol::Message again = protocol::read_message(line, limits);
  require(!std::holds_alternative<protocol::InvalidMessage>(again), "what is sent is a message");
}

// The way back to the attacker. What the server asks there waits for the lines that answer it.
class Back final : public Outlet {
 public:
  std::deque<OneShot<Reply>> asked;
  std::string said;
  bool ended = false;

  void notify(Notification notification) override {
    require(!ended, "nothing is sent after the reply");
    const std::string line = protocol::write_notification(notification);
    check_message(line);
    said += line;
  }
  Task<Reply> request(std::string method, Json params) override {
    require(!ended, "nothing is asked after the reply");
    const std::string line = protocol::write_request(1, method, params);
    check_message(line);
    said += line;
    const OneShot<Reply> answer;
    asked.push_back(answer);
    Reply reply = co_await answer;
    co_return reply;
  }
};

struct Underway {
  explicit Underway(Request its_request) : request(std::move(its_request)) {}
  Request request;
  Back back;
  std::stop_source stop;
  Exchange exchange;
  Task<Reply> task;
  int replies = 0;
  std::optional<Reply> reply;
  Server* server = nullptr;
  std::string audience;
  bool modern = true;
  bool elsewhere = false;  // at work on another thread, unless it waits for the client
  bool endless = false;    // until the server or the client goes
};

// What a state was given for.
struct Given {
  Principal principal;
  std::string method;
  std::string target;
  std::string arguments;
  std::string audience;
  Timestamp at;
  int used = 0;
};

const Json* params_member(const Request& request, std::string_view name) { return request.params.find(name); }

std::string target_of(const Request& request) {
  const std::string* target = request.params.find_string(protocol::method::name_member(request.method));
  return target == nullptr ? std::string() : *target;
}

std::string arguments_of(const Request& request) {
  const Json* arguments = params_member(request, "arguments");
  return json::canonical(arguments == nullptr ? Json::object() : *arguments);
}

bool is_once(std::string_view tool) { return tool == "once" || tool == "reply"; }

// One server for all inputs, and more for an input that has tasks: those live until it ends.
class World {
 public:
  World() : main_(ServerInfo("main", "1"), options("main")) {
    add_tools(main_);
    add_prompts(main_);
    add_resources(main_);
  }

  void feed(std::string_view input) {
    begin(input);
    for (int line = 0; line < lines_max && !input.empty(); ++line) {
      const std::size_t end = input.find('\n');
      take(input.substr(0, end));
      input = end == std::string_view::npos ? std::string_view() : input.substr(end + 1);
    }
    end();
  }

 private:
  ServerOptions options(const std::string& audience) {
    return ServerOptions()
        .ring(ring_)
        .redemption_store(store_)
        .clock(clock_)
        .entropy(entropy_)
        .audience(audience)
        .instructions("Be kind.")
        .page_size(3)
        .worker_threads(2)
        .log([this](LogLevel, std::string_view, std::initializer_list<LogField> fields) {
          for (const LogField& field : fields) check_log(field.second);
        });
  }

  static std::shared_ptr<token::RingSource> fixed_ring() {
    token::KeyEntry entry;
    entry.id = "k1";
    entry.secret = Secret::copy_of(Bytes(token::key_bytes, 0x5a));
    entry.stage = token::KeyStage::seal;
    std::vector<token::KeyEntry> keys;
    keys.push_back(std::move(entry));
    return std::make_shared<token::SharedRing>(*token::KeyRing::make(std::move(keys)));
  }

  // Logs are written on other threads too.
  void check_log(const std::string& value) const {
    require(value.find("sg1.k1.") == std::string::npos || input_.find("sg1.k1.") != std::string_view::npos,
            "no log has a state");
  }

  void begin(std::string_view input) {
    input_ = input;
    loop_ = std::make_unique<testing::ManualExecutor>();
    clock_.set(beginning);
    entropy_.begin();
    store_->clear();
    server_ = &main_;
    audience_ = "main";
    principal_ = Principal::authenticated("alice");
    session_ = nullptr;
  }

  // A server whose tools may be tasks.
  Server& with_tasks(const std::string& name) {
    std::unique_ptr<Server>& server = with_tasks_[name];
    if (server != nullptr) return *server;
    ServerOptions chosen = options(name == "@tasks" ? "alone" : "together");
    if (name != "@tasks") {
      if (task_store_ == nullptr)
        task_store_ = token::memory_task_store(clock_, task_store_bytes_max, task_bytes_max);
      chosen.task_store(task_store_);
    }
    server = std::make_unique<Server>(ServerInfo("tasks", "1"), chosen);
    add_task_tools(*server);
    return *server;
  }

  void take(std::string_view line) {
    if (line.starts_with('@')) {
      command(line);
    } else {
      std::string text(line);
      replace(text, "$state", states_.empty() ? "" : states_.back());
      replace(text, "$older", states_.size() < 2 ? "" : states_[states_.size() - 2]);
      replace(text, "$task", task_id_);
      replace(text, "$cursor", cursor_);
      deliver(protocol::read_message(text));
    }
    loop_->run();
    collect();
  }

  static void replace(std::string& text, std::string_view name, const std::string& value) {
    for (std::size_t at = text.find(name); at != std::string::npos && text.size() < 4 * input_bytes_max;
         at = text.find(name, at + value.size())) {
      text.replace(at, name.size(), value);
    }
  }

  void command(std::string_view line) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, blank);
    const std::string_view rest = line.substr(std::min(blank + 1, line.size()));
    if (word == "@as") {
      principal_ = rest.empty()  ? Principal::local()
                   : rest == "-" ? Principal::anonymous()
                                 : Principal::authenticated(std::string(rest));
    } else if (word == "@session") {
      sessions_.emplace_back();
      session_ = &sessions_.back();
    } else if (word == "@modern") {
      session_ = nullptr;
    } else if (word == "@tasks" || word == "@shared" || word == "@other") {
      server_ = &with_tasks(std::string(word));
      audience_ = word == "@tasks" ? "alone" : "together";
      session_ = nullptr;
    } else if (word == "@main") {
      server_ = &main_;
      audience_ = "main";
      session_ = nullptr;
    } else if (word == "@retry" && asked_) {
      Result<Json, json::ParseError> responses = json::parse(rest);
      Request again = *asked_;
      again.params.set("requestState", states_.back());
      if (responses.ok()) again.params.set("inputResponses", std::move(*responses));
      deliver(std::move(again));
    } else if (word == "@again" && last_) {
      deliver(*last_);
    } else if (word == "@wait") {
      long seconds = 0;
      for (const char digit : rest.substr(0, 6)) {
        if (digit >= '0' && digit <= '9') seconds = seconds * 10 + (digit - '0');
      }
      clock_.advance(std::chrono::seconds(seconds));
      loop_->advance(std::chrono::seconds(seconds));
    } else if (word == "@open") {
      gate.open();
    } else if (word == "@cancel" && !underway_.empty()) {
      underway_.front().task = Task<Reply>();
      underway_.pop_front();
    } else if (word == "@stop" && !underway_.empty()) {
      underway_.front().stop.request_stop();
    } else if (word == "@changed") {
      server_->notify_tools_changed();
      server_->notify_prompts_changed();
      server_->notify_resources_changed();
      server_->notify_resource_updated("test://static");
    }
  }

  void deliver(protocol::Message message) {
    if (Request* request = std::get_if<Request>(&message)) {
      deliver(std::move(*request));
    } else if (Notification* notification = std::get_if<Notification>(&message)) {
      Back back;
      Exchange exchange;
      prepare(exchange, back);
      server_->notify(std::move(*notification), exchange);
      loop_->run();
    } else if (protocol::Response* response = std::get_if<protocol::Response>(&message)) {
      answer(std::move(response->reply));
    }
  }

  void prepare(Exchange& exchange, Back& back) {
    exchange.principal = principal_;
    exchange.outlet = &back;
    exchange.executor = loop_.get();
    if (session_ != nullptr) {
      exchange.session = &session_->session;
      session_->session.outlet = &session_->stream;
    }
  }

  // The oldest question of a handshake revision is answered.
  void answer(Reply reply) {
    for (Underway& call : underway_) {
      if (call.back.asked.empty()) continue;
      const OneShot<Reply> question = call.back.asked.front();
      call.back.asked.pop_front();
      question.set(std::move(reply));
      wait_for(call);
      return;
    }
  }

  void deliver(Request request) {
    last_ = request;
    const long before = handlers_begun;
    Underway& call = underway_.emplace_back(std::move(request));
    call.exchange.stop = call.stop.get_token();
    prepare(call.exchange, call.back);
    call.server = server_;
    call.audience = audience_;
    call.modern = session_ == nullptr || protocol::claims_modern(call.request.params);
    call.endless = call.modern && call.request.method == protocol::method::subscriptions_listen;
    call.elsewhere = target_of(call.request).starts_with("plain") ||
                     call.request.method == protocol::method::completion_complete ||
                     (server_ != &main_ && !call.endless);
    call.task = server_->call(call.request, call.exchange);
    call.task.start([&call] {
      ++call.replies;
      call.reply.emplace(call.task.take());
      call.back.ended = true;
    });
    loop_->run();
    wait_for(call);
    if (call.modern && handlers_begun != before) check_state(call);
  }

  // What runs on another thread, plain functions, completions and tasks, is waited for, so that an input always does the same.
  void wait_for(Underway& call) {
    while (call.elsewhere && !call.reply && call.back.asked.empty()) {
      loop_->run_one();
      loop_->run();
    }
  }

  // The handler ran: what it was given was right.
  void check_state(const Underway& call) {
    const Json* state = params_member(call.request, "requestState");
    if (state == nullptr) return;
    require(state->is_string(), "a state is a text");
    const auto found = given_.find(*state->as_string());
    require(found != given_.end(), "only states that were given are accepted");
    Given& given = found->second;
    require(given.principal == call.exchange.principal, "a state is one caller's");
    require(given.method == call.request.method, "a state is for one method");
    require(given.target == target_of(call.request), "a state is for one target");
    require(given.audience == call.audience, "a state is for one service");
    const bool by_uri = call.request.method == protocol::method::resources_read;
    require(by_uri || given.arguments == arguments_of(call.request), "a state is for the same arguments");
    require(clock_.now() <= given.at + state_lifetime + clock_skew, "a state ends");
    require(!is_once(given.target) || ++given.used == 1, "a state is used once");
  }

  void collect() {
    for (auto call = underway_.begin(); call != underway_.end();) {
      if (!call->reply) {
        ++call;
        continue;
      }
      check_reply(*call);
      call->task = Task<Reply>();
      call = underway_.erase(call);
    }
  }

  void check_reply(const Underway& call) {
    require(call.replies == 1, "a request has one reply");
    const Reply& reply = *call.reply;
    const std::string line = protocol::write_reply(call.request.id, reply);
    check_message(line);
    check_words(line);
    check_words(call.back.said);
    if (!reply.ok()) return;
    require(reply->is_object(), "a result is an object");
    if (!call.modern) return;
    const std::string* type = reply->find_string("resultType");
    require(type != nullptr, "a result says its type");
    if (*type == "input_required") remember_state(call);
    if (*type == "task") settle_task(call, *reply);
    if (const std::string* next = reply->find_string("nextCursor")) cursor_ = *next;
    if (call.request.method == protocol::method::tasks_update) settle_task(call, call.request.params);
  }

  void remember_state(const Underway& call) {
    const std::string* state = (*call.reply)->find_string("requestState");
    if (state == nullptr) return;
    const Json* questions = (*call.reply)->find("inputRequests");
    require(questions == nullptr || questions->is_object(), "questions have names");
    Given given;
    given.principal = call.exchange.principal;
    given.method = call.request.method;
    given.target = target_of(call.request);
    given.arguments = arguments_of(call.request);
    given.audience = call.audience;
    given.at = clock_.now();
    const bool repeats = given.target == "reply";  // the kept reply of a state that was used before
    require(given_.emplace(*state, std::move(given)).second || repeats, "no two states are the same");
    states_.push_back(*state);
    asked_ = call.request;
  }

  // Until the task waits for answers or has ended: its thread is another one.
  void settle_task(const Underway& call, const Json& named) {
    const std::string* id = named.find_string("taskId");
    if (id == nullptr) return;
    task_id_ = *id;
    Json params;
    params.set("taskId", *id);
    params = testing::modern(std::move(params),
                             testing::parsed(R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})"));
    while (true) {
      Back back;
      Exchange exchange;
      exchange.principal = call.exchange.principal;
      exchange.outlet = &back;
      exchange.executor = loop_.get();
      Task<Reply> task = call.server->call(Request(1, "tasks/get", params), exchange);
      std::optional<Reply> reply;
      task.start([&] { reply.emplace(task.take()); });
      require(reply.has_value(), "tasks/get is answered at once");
      require(reply->ok(), "a task is there for its caller");
      check_words(protocol::write_reply(1, *reply));
      const std::string* status = (*reply)->find_string("status");
      require(status != nullptr, "a task has a status");
      if (*status != "working") return;
      std::this_thread::yield();
    }
  }

  // The inside stays inside, unless the attacker said it first.
  void check_words(const std::string& line) const {
    for (const std::string_view word :
         {sealed_word, std::string_view("std::"), std::string_view("signet::"), std::string_view("/src/"),
          std::string_view(".cc:"), std::string_view("5a5a5a5a5a5a5a5a"), std::string_view("WlpaWlpaWlpa")}) {
      require(line.find(word) == std::string::npos || input_.find(word) != std::string_view::npos,
              "a reply has nothing of the inside");
    }
  }

  // Whoever asked hears that nobody answers, waits end, and then every request has its reply.
  void end() {
    for (int round = 0; round < 100 && !underway_.empty(); ++round) {
      gate.open();
      loop_->run();
      answer(failure(Fault(protocol::internal_error, "gone")));
      loop_->advance(std::chrono::seconds(40));
      collect();
      if (std::all_of(underway_.begin(), underway_.end(), [](const Underway& u) { return u.endless; })) break;
    }
    for (const auto& [name, server] : with_tasks_) server->shut_down();
    loop_->run();
    collect();
    for (Underway& call : underway_) {
      require(call.endless, "every request has its reply");
      call.task = Task<Reply>();
    }
    underway_.clear();
    sessions_.clear();
    with_tasks_.clear();
    task_store_.reset();
    gate.waiting.clear();
    given_.clear();
    states_.clear();
    asked_.reset();
    last_.reset();
    cursor_.clear();
    task_id_.clear();
    loop_.reset();
    require(detail::frames_alive() == 0, "nothing is left of an exchange");
  }

  struct Connection {
    Session session;
    Back stream;
  };

  std::string_view input_;
  std::unique_ptr<testing::ManualExecutor> loop_;
  ManualClock clock_{beginning};
  CountingEntropy entropy_;
  std::shared_ptr<testing::ClaimsStore> store_ = std::make_shared<testing::ClaimsStore>();
  std::shared_ptr<token::RingSource> ring_ = fixed_ring();
  Server main_;
  std::map<std::string, std::unique_ptr<Server>> with_tasks_;
  std::shared_ptr<token::TaskStore> task_store_;

  Server* server_ = nullptr;
  std::string audience_;
  Principal principal_;
  std::list<Connection> sessions_;
  Connection* session_ = nullptr;
  std::list<Underway> underway_;
  std::map<std::string, Given, std::less<>> given_;
  std::vector<std::string> states_;
  std::optional<Request> asked_;  // what was last asked something
  std::optional<Request> last_;
  std::string cursor_;
  std::string task_id_;
};

}  // namespace
}  // namespace signet::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static signet::fuzzing::World world;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size <= signet::fuzzing::input_bytes_max) world.feed(input);
  return 0;
}
