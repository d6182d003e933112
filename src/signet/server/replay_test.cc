// The same handlers through one process, through several, through restarts and through deploys; and what is left of
// those that nobody finishes.
#include <signet/server/server.h>

#include <signet/base/one_shot.h>
#include <signet/server/test_support.h>
#include <signet/token/key_ring.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <tuple>

namespace signet {
namespace {

using namespace testing;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

std::atomic<int> guards{0};
// A local of a handler, with memory of its own.
struct Guard {
  Guard() { ++guards; }
  ~Guard() { --guards; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  std::string memory = std::string(100, 'g');
};

// --- handlers of 1, 3 and 10 questions, each in two styles ---

constexpr int nothing_reworded = -1;

std::string key_of(int index) { return "q" + std::to_string(index); }

InputRequest<ElicitResult> question(Call& call, int index, int reworded) {
  const std::string words = index == reworded ? "In other words: " : "What is ";
  return call.elicit(key_of(index), form(words + std::to_string(index) + "?").string("v"));
}

Task<ToolResult> one_by_one(Call& call, int count, int reworded) {
  const Guard outer;
  std::string result;
  for (int i = 0; i < count; ++i) {
    const Guard inner;
    auto asked = question(call, i, reworded);
    ElicitResult answer = co_await asked;
    result += answer.string("v") + ";";
  }
  co_return text(result);
}

template <typename... Results>
std::string joined(const std::tuple<Results...>& answers) {
  return std::apply([](const auto&... each) { return (std::string() + ... + (each.string("v") + ";")); },
                    answers);
}

Task<ToolResult> one_at_once(Call& call, int reworded) {
  const Guard guard;
  auto q0 = question(call, 0, reworded);
  auto answers = co_await all(q0);
  co_return text(joined(answers));
}

Task<ToolResult> three_at_once(Call& call, int reworded) {
  const Guard guard;
  auto q0 = question(call, 0, reworded);
  auto q1 = question(call, 1, reworded);
  auto q2 = question(call, 2, reworded);
  auto answers = co_await all(q0, q1, q2);
  co_return text(joined(answers));
}

Task<ToolResult> ten_at_once(Call& call, int reworded) {
  const Guard guard;
  auto q0 = question(call, 0, reworded);
  auto q1 = question(call, 1, reworded);
  auto q2 = question(call, 2, reworded);
  auto q3 = question(call, 3, reworded);
  auto q4 = question(call, 4, reworded);
  auto q5 = question(call, 5, reworded);
  auto q6 = question(call, 6, reworded);
  auto q7 = question(call, 7, reworded);
  auto q8 = question(call, 8, reworded);
  auto q9 = question(call, 9, reworded);
  auto answers = co_await all(q0, q1, q2, q3, q4, q5, q6, q7, q8, q9);
  co_return text(joined(answers));
}

struct Shape {
  std::string tool;
  int questions;
  bool batched;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all_shapes{{"in_turn_1", 1, false},   {"in_turn_3", 3, false},
                                             {"in_turn_10", 10, false}, {"at_once_1", 1, true},
                                             {"at_once_3", 3, true},    {"at_once_10", 10, true}};
  return all_shapes;
}

std::shared_ptr<token::RingSource> new_ring() { return token::ephemeral_ring(system_entropy()); }

// A process, as far as flows can tell: nothing but the ring is shared with the next one.
std::unique_ptr<Server> new_server(const std::shared_ptr<token::RingSource>& ring,
                                   int reworded = nothing_reworded) {
  auto server = std::make_unique<Server>(ServerInfo("replay", "1"), ServerOptions().ring(ring));
  for (const int count : {1, 3, 10}) {
    server->tool("in_turn_" + std::to_string(count), "One question a round.",
                 [count, reworded](Call& call) { return one_by_one(call, count, reworded); });
  }
  server->tool("at_once_1", "One.", [reworded](Call& call) { return one_at_once(call, reworded); });
  server->tool("at_once_3", "Three.", [reworded](Call& call) { return three_at_once(call, reworded); });
  server->tool("at_once_10", "Ten.", [reworded](Call& call) { return ten_at_once(call, reworded); });
  return server;
}

bool asks(const Reply& reply) { return at(reply, {"resultType"}) == Json("input_required"); }

// Answers what is asked with what the key stands for, and remembers how often it was asked.
class Person {
 public:
  Json answer(const Json& params, const Reply& asked) {
    Json responses = Json::object();
    const Json requests = at(asked, {"inputRequests"});
    for (const auto& [key, request] : *requests.as_object()) {
      ++asked_[key];
      Json content;
      content.set("v", "answer to " + key);
      Json response;
      response.set("action", "accept");
      response.set("content", std::move(content));
      responses.set(key, std::move(response));
    }
    Json again = params;
    again.set("inputResponses", std::move(responses));
    again.set("requestState", at(asked, {"requestState"}));
    return again;
  }
  int asked(int index) const {
    const auto found = asked_.find(key_of(index));
    return found == asked_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, int> asked_;
};

struct Outcome {
  std::string text;
  int requests = 0;
  Person person;
};

// One flow to its end; `server_of` gives the server of each request, from 0.
Outcome play(const Shape& shape, const std::function<Server&(int request)>& server_of) {
  Outcome outcome;
  const Json params = call_params(shape.tool);
  Reply reply = ask(server_of(0), "tools/call", modern(params));
  for (outcome.requests = 1; asks(reply) && outcome.requests < 30; ++outcome.requests) {
    const Json next = outcome.person.answer(params, reply);
    reply = ask(server_of(outcome.requests), "tools/call", modern(next));
  }
  outcome.text = text_of(reply);
  return outcome;
}

std::string expected_text(const Shape& shape) {
  std::string result;
  for (int i = 0; i < shape.questions; ++i) result += "answer to " + key_of(i) + ";";
  return result;
}

int expected_requests(const Shape& shape) { return shape.batched ? 2 : shape.questions + 1; }

void expect_asked_once(const Shape& shape, const Outcome& outcome) {
  EXPECT_EQ(outcome.text, expected_text(shape));
  EXPECT_EQ(outcome.requests, expected_requests(shape));
  for (int i = 0; i < shape.questions; ++i) EXPECT_EQ(outcome.person.asked(i), 1) << i;
}

TEST(Replay, GivesTheSameResultThroughOneProcess) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.tool);
    const auto server = new_server(new_ring());
    expect_asked_once(shape, play(shape, [&server](int) -> Server& { return *server; }));
  }
}

TEST(Replay, GivesTheSameResultThroughAnotherServerInEveryRound) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.tool);
    const auto ring = new_ring();
    std::vector<std::unique_ptr<Server>> servers;
    for (int i = 0; i <= expected_requests(shape); ++i) servers.push_back(new_server(ring));
    expect_asked_once(shape, play(shape, [&servers](int request) -> Server& {
                        return *servers[static_cast<std::size_t>(request)];
                      }));
  }
}

TEST(Replay, GivesTheSameResultThroughARestartBetweenAnyTwoRounds) {
  for (const Shape& shape : shapes()) {
    for (int restart = 1; restart < expected_requests(shape); ++restart) {
      SCOPED_TRACE(shape.tool + ", restart before request " + std::to_string(restart));
      const auto ring = new_ring();
      auto server = new_server(ring);
      expect_asked_once(shape, play(shape, [&](int request) -> Server& {
                          if (request == restart) server.reset();
                          if (request == restart) server = new_server(ring);
                          return *server;
                        }));
    }
  }
}

// Asked in other words is asked again if its words changed after it was asked; the others never are.
TEST(Replay, AsksOnlyTheRewordedQuestionAgainInARollingUpgrade) {
  for (const Shape& shape : shapes()) {
    for (int upgrade = 1; upgrade < expected_requests(shape); ++upgrade) {
      for (int reworded = 0; reworded < shape.questions; ++reworded) {
        SCOPED_TRACE(shape.tool + ", upgrade before request " + std::to_string(upgrade) + ", reworded " +
                     std::to_string(reworded));
        const auto ring = new_ring();
        const auto before = new_server(ring);
        const auto after = new_server(ring, reworded);
        const Outcome outcome =
            play(shape, [&](int request) -> Server& { return request < upgrade ? *before : *after; });
        EXPECT_EQ(outcome.text, expected_text(shape));
        const bool was_asked = shape.batched || reworded < upgrade;
        EXPECT_EQ(outcome.requests, expected_requests(shape) + (was_asked ? 1 : 0));
        for (int i = 0; i < shape.questions; ++i) {
          EXPECT_EQ(outcome.person.asked(i), i == reworded && was_asked ? 2 : 1) << i;
        }
      }
    }
  }
}

// While both versions serve, a flow may go to and fro; what the old one asked in its words it asks again.
TEST(Replay, ComesToItsEndWhileOldAndNewServersTakeTurns) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.tool);
    const auto ring = new_ring();
    const auto before = new_server(ring);
    const auto after = new_server(ring, shape.questions - 1);
    const Outcome outcome = play(
        shape, [&](int request) -> Server& { return request % 2 == 0 && request < 12 ? *before : *after; });
    EXPECT_EQ(outcome.text, expected_text(shape));
    for (int i = 0; i + 1 < shape.questions; ++i) EXPECT_EQ(outcome.person.asked(i), 1) << i;
  }
}

// --- what is left of flows that nobody finishes ---

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  std::size_t resident = 0;
  file >> pages >> resident;
  return resident * 4096;
}

// Begins a flow and leaves it after `rounds` answers.
void abandon(Server& server, const Shape& shape, int rounds) {
  Person person;
  const Json params = call_params(shape.tool);
  Reply reply = ask(server, "tools/call", modern(params));
  for (int round = 0; round < rounds && asks(reply); ++round) {
    const Json next = person.answer(params, reply);
    reply = ask(server, "tools/call", modern(next));
  }
  ASSERT_TRUE(asks(reply)) << show(reply);
}

TEST(AbandonedFlows, LeaveNeitherMemoryNorFrames) {
#if defined(__OPTIMIZE__)
  const int flows = sanitized ? 5'000 : 100'000;
#else
  const int flows = sanitized ? 1'000 : 5'000;
#endif
  const auto server = new_server(new_ring());
  const long frames = detail::frames_alive();
  const Shape shape{"in_turn_3", 3, false};
  std::uint32_t random = 20260728;
  std::size_t settled = 0;
  for (int i = 0; i < flows; ++i) {
    random = random * 1664525 + 1013904223;
    abandon(*server, shape, static_cast<int>((random >> 16) % 3));
    if (i == flows / 10) settled = resident_bytes();
  }
  EXPECT_EQ(detail::frames_alive(), frames);
  EXPECT_EQ(guards, 0);
  if (!sanitized && settled != 0) {
    // A byte for each flow would be within this; a journal or a frame for each would not.
    EXPECT_LT(resident_bytes(), settled + (std::size_t{2} << 20));
  }
}

TEST(AbandonedFlows, LeaveNoFrameAtAnyQuestion) {
  const auto server = new_server(new_ring());
  const long frames = detail::frames_alive();
  for (const Shape& shape : shapes()) {
    for (int question = 0; question + 1 < expected_requests(shape); ++question) {
      abandon(*server, shape, question);
      EXPECT_EQ(detail::frames_alive(), frames);
      EXPECT_EQ(guards, 0);
    }
  }
}

// A client of a handshake revision, whose answers come when the test says so.
class SlowPerson final : public Outlet {
 public:
  void notify(Notification /*notification*/) override {}
  Task<Reply> request(std::string /*method*/, Json /*params*/) override { return wait(++asked, answers); }

  int asked = 0;
  int answers = 0;  // so many are answered at once; the next one never is

 private:
  static Task<Reply> wait(int number, int answers) {
    if (number > answers) {
      OneShot<bool> never;
      co_await never;
    }
    co_return parsed(R"({"action":"accept","content":{"v":"x"}})");
  }
};

TEST(AbandonedFlows, LeaveNoFrameAtAnyQuestionThatWaitsForAPerson) {
  const auto server = new_server(new_ring());
  const long frames = detail::frames_alive();
  ManualExecutor executor;
  for (const Shape& shape : shapes()) {
    for (int question = 0; question < shape.questions; ++question) {
      SCOPED_TRACE(shape.tool + ", left at question " + std::to_string(question));
      Session session;
      session.protocol_version = "2025-11-25";
      session.client_capabilities = parsed(R"({"elicitation":{}})");
      SlowPerson person;
      person.answers = question;
      {
        const Exchanged gone(*server, executor, Request(1, "tools/call", call_params(shape.tool)),
                             [&](Exchange& exchange) {
                               exchange.session = &session;
                               exchange.outlet = &person;
                             });
        EXPECT_FALSE(gone.reply);
        EXPECT_EQ(person.asked, question + 1);
        EXPECT_GT(guards, 0);
      }
      EXPECT_EQ(guards, 0);
      EXPECT_EQ(detail::frames_alive(), frames);
    }
  }
}

}  // namespace
}  // namespace signet
