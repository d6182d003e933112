#include <signet/server/flow.h>

#include <signet/base/one_shot.h>
#include <signet/protocol/errors.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>
#include <signet/token/key_ring.h>

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <set>

namespace signet {
namespace {

using namespace testing;

struct Name {
  std::string name;
};
struct Transfer {
  double amount;
  std::string to;
};
struct Sure {
  bool ok;
};

// Counts what is alive in handlers, to see that destructors run when a round ends.
std::atomic<int> guards{0};
struct Guard {
  Guard() { ++guards; }
  ~Guard() { --guards; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

std::atomic<int> effects{0};
std::atomic<int> step_runs{0};

Task<ToolResult> ask_name(Call& call) {
  const Guard guard;
  Elicited<Name> who = co_await call.elicit<Name>("user_name", "Who are you?");
  if (who.declined()) co_return text("declined");
  if (who.cancelled()) co_return text("cancelled");
  co_return text("Hello, " + who->name + "!");
}

Task<ToolResult> transfer(Call& call, Transfer args) {
  Elicited<Sure> sure = co_await call.elicit<Sure>("confirm", "Send it?");
  if (!sure.accepted() || !sure->ok) co_return text("not transferred");
  ++effects;
  co_return text("transferred to " + args.to);
}

Task<std::string> ask_in_a_helper(Call& call, std::string key) {
  const Guard guard;
  auto question = form("Value of " + key + "?").string("v");
  ElicitResult answer = co_await call.elicit(key, question);
  co_return answer.string("v");
}

Task<ToolResult> three_steps(Call& call) {
  const Guard guard;
  Task<std::string> first = ask_in_a_helper(call, "first");
  const std::string a = co_await first;
  Task<std::string> second = ask_in_a_helper(call, "second");
  const std::string b = co_await second;
  Task<std::string> third = ask_in_a_helper(call, "third");
  const std::string c = co_await third;
  co_return text(a + "+" + b + "+" + c);
}

Task<ToolResult> ask_two(Call& call) {
  auto a = call.elicit("a", form("A?").string("v"));
  auto b = call.elicit<Name>("b", "B?");
  auto [first, second] = co_await all(a, b);
  co_return text(first.string("v") + "&" + second->name);
}

Task<ToolResult> draw_card(Call& call) {
  auto draw = [] { return ++step_runs; };
  const int card = co_await call.step("card", draw);
  Elicited<Sure> keep = co_await call.elicit<Sure>("keep", "Keep it?");
  co_return text("card " + std::to_string(card) + (keep->ok ? " kept" : " dropped"));
}

Task<ToolResult> reused_key(Call& call) {
  Elicited<Name> one = co_await call.elicit<Name>("k", "One?");
  Elicited<Name> two = co_await call.elicit<Name>("k", "Two?");
  co_return text(one->name + two->name);
}

Task<ToolResult> large_state(Call& call) {
  auto large = [] { return std::string(20'000, 'x'); };
  const std::string kept = co_await call.step("large", large);
  Elicited<Name> who = co_await call.elicit<Name>("user_name", "Who?");
  co_return text(who->name + kept.substr(0, 1));
}

Task<ToolResult> numbers(Call& call) {
  auto question = form("How many?").integer("whole").number("real", Field().optional());
  ElicitResult answer = co_await call.elicit("k", question);
  co_return text(std::to_string(answer.integer("whole")));
}

// Takes no cancelling for an answer.
Task<ToolResult> insisting(Call& call) {
  auto question = form("Well?").boolean("ok");
  ElicitResult answer = co_await call.elicit("k", question);
  if (!answer.accepted()) co_return InputRequired().elicit("k", question);
  co_return text(answer.boolean("ok") ? "yes" : "no");
}

Task<ToolResult> url_login(Call& call) {
  ElicitResult opened = co_await call.elicit_url("login", "Please log in.", "https://example.com/login");
  co_return text(opened.accepted() ? "opened" : "not opened");
}

ToolResult explicit_ask(PlainCall& call) {
  const Json::Object& answers = call.input_responses();
  const bool has_a = answers.contains("a");
  const bool has_b = answers.contains("b");
  if (has_a && has_b) {
    return text(*at(Json(answers), {"a", "content", "v"}).as_string() + "&" +
                *at(Json(answers), {"b", "content", "v"}).as_string() + " after " +
                json::write(call.state()));
  }
  InputRequired questions;
  if (!has_a) questions.elicit("a", form("A?").string("v"));
  if (!has_b) questions.elicit("b", form("B?").string("v"));
  const std::int64_t rounds = call.state().is_null() ? 0 : *call.state().as_int64();
  return questions.state(rounds + 1);
}

ToolResult state_only(PlainCall& call) {
  if (call.state().is_null()) return InputRequired().state("begun");
  return text("state-only-done");
}

Task<ToolResult> endless(Call& call) {
  Elicited<Sure> sure = co_await call.elicit<Sure>("again", "Round " + std::to_string(call.round()) + "?");
  co_return text(sure->ok ? "?" : "!");
}

void fill(Server& server) {
  server.tool("ask_name", "Asks.", ask_name);
  server.tool("ask_other", "Asks the same.", ask_name);
  server.tool("ask_freely", "Takes answers at once.", ask_name, ToolOptions().accepts_unasked_answers());
  server.tool("transfer", "Moves money.", transfer);
  server.tool("three_steps", "Three rounds.", three_steps);
  server.tool("ask_two", "Two in one round.", ask_two);
  server.tool("draw_card", "A step.", draw_card);
  server.tool("reused_key", "A mistake.", reused_key);
  server.tool("large_state", "Too much.", large_state);
  server.tool("url_login", "By URL.", url_login);
  server.tool("numbers", "Asks for numbers.", numbers);
  server.tool("insisting", "Asks until it is answered.", insisting);
  server.tool("explicit_ask", "Explicit.", explicit_ask);
  server.tool("state_only", "Only state.", state_only);
  server.tool("endless", "Never ends.", endless);
  server.prompt("ask_prompt", "Asks.", [](Call& call) -> Task<PromptResult> {
    Elicited<Name> who = co_await call.elicit<Name>("user_name", "Who?");
    co_return PromptResult().user("prompt for " + who->name);
  });
  server.resource("test://ask", "ask", [](Call& call) -> Task<ResourceResult> {
    Elicited<Name> who = co_await call.elicit<Name>("user_name", "Who?");
    co_return ResourceContents::text("resource for " + who->name);
  });
}

std::shared_ptr<token::RingSource> new_ring() { return token::ephemeral_ring(system_entropy()); }

struct Logged {
  std::mutex mutex;
  std::string lines;
};

// A server on a clock that stands still, with a ring that others may share.
struct Instance {
  explicit Instance(std::shared_ptr<token::RingSource> ring, ServerOptions options = ServerOptions())
      : server(ServerInfo("flows", "1"),
               options.clock(clock)
                   .ring(std::move(ring))
                   .log([this](LogLevel, std::string_view event, std::initializer_list<LogField> fields) {
                     const std::lock_guard lock(logged.mutex);
                     logged.lines.append(event);
                     for (const auto& [name, value] : fields) {
                       logged.lines.append(" ").append(name).append("=").append(value);
                     }
                     logged.lines.append("\n");
                   })) {
    fill(server);
  }
  ManualClock clock{Timestamp(std::chrono::hours(500'000))};
  Logged logged;
  Server server;
};

Json retry(Json params, const Reply& asked, std::string_view responses) {
  params.set("requestState", at(asked, {"requestState"}));
  params.set("inputResponses", parsed(responses));
  return params;
}

Reply call(Server& server, const Json& params, std::function<void(Exchange&)> prepare = {}) {
  return ask(server, "tools/call", modern(params), std::move(prepare));
}

bool asks(const Reply& reply) { return at(reply, {"resultType"}) == Json("input_required"); }

bool is_state_refusal(const Reply& reply) {
  return !reply.ok() && reply.error().code == protocol::invalid_params &&
         reply.error().message == "Invalid or expired requestState" &&
         reply.error().data == parsed(R"({"reason":"invalid_request_state"})");
}

constexpr std::string_view ada = R"({"user_name":{"action":"accept","content":{"name":"Ada"}}})";

TEST(Flow, ServersSayInTheirLogsWhetherTheyHoldTheSameKeys) {
  const auto ring = new_ring();
  const token::RingKey& key = ring->current()->sealing();
  const std::string line = "key_ring keys=1 sealing=" + key.id() + " fingerprint=" + key.fingerprint() + "\n";
  EXPECT_EQ(Instance(ring).logged.lines, line);
  EXPECT_EQ(Instance(ring).logged.lines, line);
  EXPECT_NE(Instance(new_ring()).logged.lines, line);
  EXPECT_TRUE(Instance(nullptr).logged.lines.starts_with("ephemeral_key "));
}

TEST(Flow, IsFinishedByAnotherInstanceWithTheSameRing) {  // S7, S45, S52, S84
  const auto ring = new_ring();
  Instance a(ring);
  Instance b(ring);
  const long frames = detail::frames_alive();
  const Json params = call_params("ask_name");
  const Reply asked = call(a.server, params);
  ASSERT_TRUE(asks(asked)) << show(asked);
  EXPECT_EQ(at(asked, {"inputRequests", "user_name"}),
            parsed(R"({"method":"elicitation/create","params":{"mode":"form","message":"Who are you?",
              "requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}})"));
  EXPECT_FALSE(asked->contains("content"));
  EXPECT_EQ(guards, 0);
  EXPECT_EQ(detail::frames_alive(), frames);

  const Reply done = call(b.server, retry(params, asked, ada));
  EXPECT_EQ(text_of(done), "Hello, Ada!");
  EXPECT_EQ(at(done, {"resultType"}), Json("complete"));
  EXPECT_FALSE(done->contains("requestState"));
  EXPECT_FALSE(done->contains("inputRequests"));
  EXPECT_EQ(detail::frames_alive(), frames);
}

TEST(Flow, TakesDeclinedAndCancelledForAnswers) {  // S87
  Instance a(new_ring());
  const Json params = call_params("ask_name");
  const Reply asked = call(a.server, params);
  EXPECT_EQ(text_of(call(a.server, retry(params, asked, R"({"user_name":{"action":"decline"}})"))),
            "declined");
  EXPECT_EQ(text_of(call(a.server, retry(params, asked, R"({"user_name":{"action":"cancel"}})"))),
            "cancelled");
}

TEST(Flow, AsksAgainForWhatIsNoAnswerAndSaysWhy) {
  Instance a(new_ring());
  const Json params = call_params("ask_name");
  const Reply asked = call(a.server, params);
  for (const char* answer :
       {"5", "null", "[]", R"("accept")", "{}", R"({"action":"accept"})",
        R"({"action":"accept","content":{"name":5}})", R"({"action":"accept","content":{}})",
        R"({"action":"explode"})", R"({"result":{"action":"accept","content":{"name":"Ada"}}})",
        R"({"action":true,"content":{"name":"Ada"}})",
        R"({"role":"assistant","content":{"type":"text","text":"Ada"},"model":"m"})", R"({"roots":[]})"}) {
    SCOPED_TRACE(answer);
    const Reply again = call(a.server, retry(params, asked, std::string(R"({"user_name":)") + answer + "}"));
    ASSERT_TRUE(asks(again)) << show(again);
    const std::string message = *at(again, {"inputRequests", "user_name", "params", "message"}).as_string();
    EXPECT_TRUE(message.starts_with("Who are you?\n")) << message;
    EXPECT_NE(at(again, {"requestState"}), at(asked, {"requestState"}));
    // The reason is not part of the question: the next answer counts.
    EXPECT_EQ(text_of(call(a.server, retry(params, again, ada))), "Hello, Ada!");
  }
}

TEST(Flow, ANumberThatTheHandlerCouldNotReadIsAskedForAgain) {
  Instance a(new_ring());
  const Json params = call_params("numbers");
  const Reply asked = call(a.server, params);
  const auto answered = [&](const std::string& content) {
    return call(a.server, retry(params, asked, R"({"k":{"action":"accept","content":)" + content + "}}"));
  };
  for (const char* content : {R"({"whole":9223372036854775808})", R"({"whole":-9223372036854775809})",
                              R"({"whole":1e30})", R"({"whole":1,"real":1e400})"}) {
    EXPECT_TRUE(asks(answered(content))) << content;
  }
  EXPECT_EQ(text_of(answered(R"({"whole":9223372036854775807})")), "9223372036854775807");
  EXPECT_EQ(text_of(answered(R"({"whole":-9223372036854775808,"real":1e300})")), "-9223372036854775808");
}

TEST(Flow, AHandlerMayAskAgainForWhatItGot) {
  Instance a(new_ring());
  const Json params = call_params("insisting");
  Reply asked = call(a.server, params);
  for (const char* action : {"cancel", "decline", "cancel"}) {
    asked = call(a.server, retry(params, asked, R"({"k":{"action":")" + std::string(action) + R"("}})"));
    ASSERT_TRUE(asks(asked)) << show(asked);
  }
  EXPECT_EQ(
      text_of(call(a.server, retry(params, asked, R"({"k":{"action":"accept","content":{"ok":true}}})"))),
      "yes");
}

TEST(Flow, RefusesResponsesThatAreNoObject) {
  Instance a(new_ring());
  const Json params = call_params("ask_name");
  const Reply asked = call(a.server, params);
  for (const char* responses : {"[]", "null", "5", R"("x")", R"([{"user_name":{}}])"}) {
    const Reply reply = call(a.server, retry(params, asked, responses));
    ASSERT_FALSE(reply.ok()) << responses;
    EXPECT_EQ(reply.error().code, protocol::invalid_params);
  }
}

TEST(Flow, IgnoresAnswersNobodyAskedFor) {  // S49
  Instance a(new_ring());
  effects = 0;
  Json params = call_params("transfer", R"({"amount":5,"to":"bob"})");
  params.set("inputResponses", parsed(R"({"confirm":{"action":"accept","content":{"ok":true}}})"));
  EXPECT_TRUE(asks(call(a.server, params)));
  params.set("requestState", "e30");
  EXPECT_TRUE(is_state_refusal(call(a.server, params)));
  EXPECT_EQ(effects, 0);

  Json free = call_params("ask_freely");
  free.set("inputResponses",
           parsed(R"({"user_name":{"action":"accept","content":{"name":"Ada"}},"extra":{}})"));
  EXPECT_EQ(text_of(call(a.server, free)), "Hello, Ada!");
  free.set("inputResponses", parsed(R"({"user_name":12345})"));
  EXPECT_TRUE(asks(call(a.server, free)));
  free.set("inputResponses", parsed(R"({"wrong_key":{"action":"accept","content":{"name":"Ada"}}})"));
  EXPECT_TRUE(asks(call(a.server, free)));
}

TEST(Flow, RefusesEveryStateThatIsNotForThisCallWithOneSentence) {  // S49, S51, S55, S85
  const auto ring = new_ring();
  Instance a(ring);
  Instance stranger(new_ring());
  Instance elsewhere(ring, ServerOptions().audience("another service"));
  effects = 0;
  const Json params = call_params("transfer", R"({"amount":1,"to":"bob"})");
  const Reply asked = call(a.server, params);
  ASSERT_TRUE(asks(asked)) << show(asked);
  const std::string_view yes = R"({"confirm":{"action":"accept","content":{"ok":true}}})";
  const Json good = retry(params, asked, yes);
  const std::string state = *at(asked, {"requestState"}).as_string();

  const auto refused = [&a](const Reply& reply, std::string_view reason) {
    EXPECT_TRUE(is_state_refusal(reply)) << show(reply);
    const std::lock_guard lock(a.logged.mutex);
    EXPECT_NE(a.logged.lines.find("state_refused reason=" + std::string(reason)), std::string::npos)
        << reason << " is not in: " << a.logged.lines;
    a.logged.lines.clear();
  };
  const auto with_state = [&good](Json value) {
    Json changed = good;
    changed.set("requestState", std::move(value));
    return changed;
  };
  std::string flipped = state;
  flipped[state.size() / 2] = flipped[state.size() / 2] == 'A' ? 'B' : 'A';
  refused(call(a.server, with_state(flipped)), "not_authentic");
  refused(call(a.server, with_state(state + "-TAMPERED")), "not_authentic");
  refused(call(a.server, with_state(state.substr(0, state.size() - 1))), "");
  refused(call(a.server, with_state("")), "malformed");
  refused(call(a.server, with_state(std::string(1 << 20, 'x'))), "too_large");
  refused(call(a.server, with_state(Json())), "malformed");
  refused(call(a.server, with_state(5)), "malformed");
  refused(call(a.server, with_state(Json::array())), "malformed");
  const Reply strange = call(stranger.server, params);
  refused(call(a.server, with_state(at(strange, {"requestState"}))), "unknown_key");
  const Reply else_where = call(elsewhere.server, params);
  refused(call(a.server, with_state(at(else_where, {"requestState"}))), "other_audience");

  Json other_tool = good;
  other_tool.set("name", "ask_other");
  other_tool.set("arguments", *params.find("arguments"));
  refused(call(a.server, other_tool), "other_target");
  Json other_arguments = good;
  other_arguments.set("arguments", parsed(R"({"amount":1.0000001,"to":"bob"})"));
  refused(call(a.server, other_arguments), "other_arguments");
  refused(
      call(a.server, good, [](Exchange& exchange) { exchange.principal = Principal::authenticated("eve"); }),
      "other_principal");
  Json as_prompt = good;
  as_prompt.set("name", "ask_prompt");
  as_prompt.set("arguments", Json::object());
  refused(ask(a.server, "prompts/get", modern(as_prompt)), "other_method");
  EXPECT_EQ(effects, 0);

  Json reordered = good;
  reordered.set("arguments", parsed(R"({"to":"bob","amount":1.0})"));
  EXPECT_EQ(text_of(call(a.server, reordered)), "transferred to bob");
  EXPECT_EQ(effects, 1);

  a.clock.advance(std::chrono::seconds(600));
  refused(call(a.server, good), "expired");
}

// Of a million, bench/abandoned_rounds reports the resident memory before and after.
TEST(Flow, RoundsThatNobodyFinishesLeaveNothingBehind) {  // S54
  Server server(ServerInfo("flows", "1"));
  fill(server);
  const Json params = call_params("ask_name");
  const long frames = detail::frames_alive();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(asks(call(server, params)));
  const std::size_t before = ::mallinfo2().uordblks;
  // A block that a round left behind would be at least 24 bytes, 48'000 in all; the allocator's own caches move by less.
  for (int i = 0; i < 2'000; ++i) ASSERT_TRUE(asks(call(server, params)));
  EXPECT_LT(::mallinfo2().uordblks, before + 24'000);
  EXPECT_EQ(detail::frames_alive(), frames);
}

TEST(Flow, NeverLogsStatesOrAnswers) {  // S81
  Instance a(new_ring());
  const Json params = call_params("ask_name");
  const Reply asked = call(a.server, params);
  const std::string state = *at(asked, {"requestState"}).as_string();
  EXPECT_TRUE(call(a.server, retry(params, asked, ada)).ok());
  Json bad = retry(params, asked, ada);
  bad.set("requestState", state + "x");
  EXPECT_FALSE(call(a.server, bad).ok());
  const std::lock_guard lock(a.logged.mutex);
  EXPECT_NE(a.logged.lines.find("round flow="), std::string::npos);
  EXPECT_EQ(a.logged.lines.find(state.substr(0, 40)), std::string::npos);
  EXPECT_EQ(a.logged.lines.find("Ada"), std::string::npos);
}

TEST(Flow, GoesRoundByRoundWithANewStateEachTime) {  // S7
  const auto ring = new_ring();
  Instance a(ring);
  Instance b(ring);
  const long frames = detail::frames_alive();
  const Json params = call_params("three_steps");
  const auto answer = [](std::string_view key, std::string_view value) {
    return "{\"" + std::string(key) + "\":{\"action\":\"accept\",\"content\":{\"v\":\"" + std::string(value) +
           "\"}}}";
  };
  const Reply one = call(a.server, params);
  const Reply two = call(b.server, retry(params, one, answer("first", "X")));
  ASSERT_TRUE(asks(two)) << show(two);
  EXPECT_FALSE(at(two, {"inputRequests", "second"}).is_null());
  EXPECT_TRUE(at(two, {"inputRequests", "first"}).is_null());
  EXPECT_NE(at(one, {"requestState"}), at(two, {"requestState"}));
  // The state of round one does not answer round two.
  EXPECT_FALSE(
      at(call(a.server, retry(params, one, answer("second", "Y"))), {"inputRequests", "first"}).is_null());
  const Reply three = call(a.server, retry(params, two, answer("second", "Y")));
  const Reply done = call(b.server, retry(params, three, answer("third", "Z")));
  EXPECT_EQ(text_of(done), "X+Y+Z");
  EXPECT_EQ(guards, 0);
  EXPECT_EQ(detail::frames_alive(), frames);
}

TEST(Flow, AsksSeveralAtOnceAndOnlyTheMissingOneAgain) {
  Instance a(new_ring());
  const Json params = call_params("ask_two");
  const Reply both = call(a.server, params);
  EXPECT_EQ(at(both, {"inputRequests"}).as_object()->size(), 2U);
  const Reply one = call(a.server, retry(params, both, R"({"a":{"action":"accept","content":{"v":"1"}}})"));
  EXPECT_EQ(at(one, {"inputRequests"}).as_object()->size(), 1U);
  EXPECT_FALSE(at(one, {"inputRequests", "b"}).is_null());
  EXPECT_EQ(
      text_of(call(a.server, retry(params, one, R"({"b":{"action":"accept","content":{"name":"2"}}})"))),
      "1&2");
}

TEST(Flow, RemembersWhatAStepComputed) {
  Instance a(new_ring());
  step_runs = 40;
  const Json params = call_params("draw_card");
  const Reply asked = call(a.server, params);
  EXPECT_EQ(
      text_of(call(a.server, retry(params, asked, R"({"keep":{"action":"accept","content":{"ok":true}}})"))),
      "card 41 kept");
  EXPECT_EQ(step_runs, 41);
}

TEST(Flow, AsksOnlyWhatTheClientDeclared) {  // S10, S53, S83
  Instance a(new_ring());
  const auto with = [&a](std::string_view tool, std::string_view capabilities) {
    return ask(a.server, "tools/call", modern(call_params(tool), parsed(capabilities)));
  };
  EXPECT_TRUE(asks(with("ask_name", R"({"elicitation":{}})")));
  EXPECT_TRUE(asks(with("ask_name", R"({"elicitation":{"form":{}}})")));
  EXPECT_TRUE(asks(with("url_login", R"({"elicitation":{"url":{}}})")));
  for (const char* capabilities : {"{}", R"({"sampling":{}})", R"({"elicitation":{"url":{}}})"}) {
    const Reply reply = with("ask_name", capabilities);
    ASSERT_FALSE(reply.ok()) << show(reply);
    EXPECT_EQ(reply.error().code, protocol::missing_capability);
    EXPECT_EQ(reply.error().data, parsed(R"({"requiredCapabilities":{"elicitation":{"form":{}}}})"));
  }
  const Reply url = with("url_login", R"({"elicitation":{}})");
  EXPECT_EQ(url.error().data, parsed(R"({"requiredCapabilities":{"elicitation":{"url":{}}}})"));
  EXPECT_EQ(with("explicit_ask", "{}").error().code, protocol::missing_capability);
}

TEST(Flow, ServesTheExplicitStyle) {
  const auto ring = new_ring();
  Instance a(ring);
  Instance b(ring);
  const Json params = call_params("explicit_ask");
  const Reply both = call(a.server, params);
  ASSERT_TRUE(asks(both)) << show(both);
  EXPECT_EQ(at(both, {"inputRequests"}).as_object()->size(), 2U);
  const Reply one = call(b.server, retry(params, both, R"({"a":{"action":"accept","content":{"v":"1"}},
                                                            "b":{"action":"accept","content":{"v":2}}})"));
  EXPECT_EQ(at(one, {"inputRequests"}).as_object()->size(), 1U) << show(one);
  const Reply done = call(a.server, retry(params, one, R"({"b":{"action":"accept","content":{"v":"2"}}})"));
  EXPECT_EQ(text_of(done), "1&2 after 2");
}

TEST(Flow, MayCarryStateAlone) {  // S52
  Instance a(new_ring());
  const Json params = call_params("state_only");
  const Reply parked = ask(a.server, "tools/call", modern(params, Json::object()));
  ASSERT_TRUE(asks(parked)) << show(parked);
  EXPECT_FALSE(parked->contains("inputRequests"));
  Json again = params;
  again.set("requestState", at(parked, {"requestState"}));
  EXPECT_EQ(text_of(ask(a.server, "tools/call", modern(again, Json::object()))), "state-only-done");
}

TEST(Flow, AsksInPromptsAndResourcesToo) {  // S46
  Instance a(new_ring());
  Json prompt;
  prompt.set("name", "ask_prompt");
  const Reply first = ask(a.server, "prompts/get", modern(prompt));
  ASSERT_TRUE(asks(first)) << show(first);
  EXPECT_EQ(at(ask(a.server, "prompts/get", modern(retry(prompt, first, ada))),
               {"messages", "0", "content", "text"}),
            Json("prompt for Ada"));
  Json resource;
  resource.set("uri", "test://ask");
  const Reply second = ask(a.server, "resources/read", modern(resource));
  ASSERT_TRUE(asks(second)) << show(second);
  EXPECT_FALSE(second->contains("ttlMs"));
  const Reply read = ask(a.server, "resources/read", modern(retry(resource, second, ada)));
  EXPECT_EQ(at(read, {"contents", "0", "text"}), Json("resource for Ada"));
  EXPECT_EQ(at(read, {"ttlMs"}), Json(0));
}

TEST(Flow, EndsAtTheLastRound) {
  token::Policy policy;
  policy.rounds_max = 3;
  Instance a(new_ring(), ServerOptions().policy(policy));
  const Json params = call_params("endless");
  Reply reply = call(a.server, params);
  for (int round = 1; round < 3; ++round) {
    ASSERT_TRUE(asks(reply)) << round << show(reply);
    reply = call(a.server, retry(params, reply, "{}"));
  }
  ASSERT_TRUE(asks(reply)) << show(reply);
  reply = call(a.server, retry(params, reply, "{}"));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().message, "Too many rounds");
  EXPECT_NE(a.logged.lines.find("rounds_exceeded flow="), std::string::npos) << a.logged.lines;
  EXPECT_NE(a.logged.lines.find("name=endless rounds_max=3\n"), std::string::npos) << a.logged.lines;
}

TEST(Flow, EndsAtItsDeadlineHoweverOftenItIsSealedAgain) {
  token::Policy policy;
  policy.flow_lifetime = std::chrono::seconds(900);
  Instance a(new_ring(), ServerOptions().policy(policy));
  const Json params = call_params("endless");
  Reply reply = call(a.server, params);
  a.clock.advance(std::chrono::seconds(500));
  reply = call(a.server, retry(params, reply, "{}"));
  ASSERT_TRUE(asks(reply)) << show(reply);
  a.clock.advance(std::chrono::seconds(399));
  ASSERT_TRUE(asks(call(a.server, retry(params, reply, "{}"))));
  a.clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(is_state_refusal(call(a.server, retry(params, reply, "{}"))));
}

TEST(Flow, TellsTheOperatorOfMistakesAndTheClientNothing) {  // S47
  Instance a(new_ring());
  const Json params = call_params("reused_key");
  const Reply asked = call(a.server, params);
  const Reply reused =
      call(a.server, retry(params, asked, R"({"k":{"action":"accept","content":{"name":"1"}}})"));
  ASSERT_FALSE(reused.ok()) << show(reused);
  EXPECT_EQ(reused.error().message, "Internal error");
  const Reply large = call(a.server, call_params("large_state"));
  ASSERT_FALSE(large.ok()) << show(large);
  EXPECT_EQ(large.error().message, "Internal error");
  const std::lock_guard lock(a.logged.mutex);
  EXPECT_NE(a.logged.lines.find("two questions under the key 'k'"), std::string::npos) << a.logged.lines;
  EXPECT_NE(a.logged.lines.find("with the key 'large'"), std::string::npos) << a.logged.lines;
}

Task<ToolResult> wait_then_ask(Call& call, OneShot<int> event) {
  const Guard guard;
  const int value = co_await event;
  Elicited<Name> who = co_await call.elicit<Name>("user_name", "Who?");
  co_return text(who->name + std::to_string(value));
}

Task<ToolResult> wait_for(OneShot<int> event) {
  const Guard guard;
  const int value = co_await event;
  co_return text(std::to_string(value));
}

TEST(Flow, LeavesNothingBehindWhenTheClientGoesAway) {  // S31, S54
  Server server(ServerInfo("s", "1"));
  OneShot<int> event;
  server.tool("waits", "Waits for an event, then asks.",
              [event](Call& call) { return wait_then_ask(call, event); });
  testing::ManualExecutor executor;
  const long frames = detail::frames_alive();
  {
    testing::Exchanged gone(server, executor, Request(1, "tools/call", modern(call_params("waits"))));
    EXPECT_FALSE(gone.reply);
    EXPECT_EQ(guards, 1);
    gone.drop();
    EXPECT_EQ(guards, 0);
    EXPECT_EQ(detail::frames_alive(), frames);
  }
  testing::Exchanged stays(server, executor, Request(2, "tools/call", modern(call_params("waits"))));
  executor.post([event] { event.set(7); });
  executor.run();
  ASSERT_TRUE(stays.reply);
  EXPECT_TRUE(asks(*stays.reply)) << show(*stays.reply);
  EXPECT_EQ(guards, 0);
  EXPECT_EQ(detail::frames_alive(), frames);
}

TEST(Flow, StopsAHandlerAtItsTimeLimit) {
  Server server(ServerInfo("s", "1"));
  OneShot<int> never;
  server.tool(
      "slow", "Never ends.", [never](Call&) { return wait_for(never); },
      ToolOptions().time_limit(std::chrono::seconds(2)));
  testing::ManualExecutor executor;
  testing::Exchanged slow(server, executor, Request(1, "tools/call", modern(call_params("slow"))));
  executor.advance(std::chrono::milliseconds(1999));
  EXPECT_FALSE(slow.reply);
  executor.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(slow.reply);
  EXPECT_EQ(slow.reply->error().message, "The time limit is over");
  EXPECT_EQ(guards, 0);
}

TEST(Flow, KeepsNothingOfAThousandRoundsThatAreAbandoned) {  // S54
  Instance a(new_ring());
  const long frames = detail::frames_alive();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(asks(call(a.server, call_params("ask_name"))));
  EXPECT_EQ(detail::frames_alive(), frames);
  EXPECT_EQ(guards, 0);
}

}  // namespace
}  // namespace signet
