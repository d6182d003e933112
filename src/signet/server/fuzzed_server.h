// The servers that dispatch_fuzz.cc attacks: handlers of every style, which abort where something reaches them that a
// server promises to keep away.
#pragma once

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/one_shot.h>
#include <signet/json/reflect.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>

// Sampling and roots are deprecated by the specification, and served all the same.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace signet::fuzzing {

[[noreturn]] inline void broken(std::string_view promise) {
  std::cerr << "A promise is broken: " << promise << "\n";
  std::abort();
}

inline void require(bool holds, std::string_view promise) {
  if (!holds) broken(promise);
}

// How often any handler began; handlers run on several threads.
inline std::atomic<long> handlers_begun{0};

// What a handler knows and nobody may ever read: it travels in sealed states and in exceptions only.
inline constexpr std::string_view sealed_word = "walnut-under-seal";

// Calls that wait until the input says go on.
struct Gate {
  std::vector<OneShot<bool>> waiting;
  void open() {
    std::vector<OneShot<bool>> all = std::exchange(waiting, {});
    for (const OneShot<bool>& one : all) one.set(true);
  }
};
inline Gate gate;

// --- what is asked, taken and given ---

enum class Colour : std::uint8_t { red, green, dark_blue };

struct Sure {
  bool ok;
};
struct Size {
  ranged<1, 100> width;
  std::optional<double> height;
  Colour colour;
};
struct Address {
  std::string street;
  std::optional<std::string> zip;
};
struct Order {
  described<"How many", ranged<1, 10>> count;
  Address to;
  std::optional<std::vector<Colour>> colours;
  sized<0, 20> note;
  std::int64_t exact = 1;
};
struct Receipt {
  std::int64_t count;
  std::vector<std::string> lines;
};
struct Number {
  std::int64_t n;
};
struct Ticket {
  int ticket;
};
struct Who {
  std::string name;
};
struct Item {
  std::string id;
};

// A question returned: without a session that takes a state, unless the tool says otherwise (S49).
inline void was_asked(const CallBase& call) {
  const bool modern = call.protocol_version() == "2026-07-28";
  require(!modern || call.round() > 1, "an answer counts only where its question was asked");
  require(call.round() <= 17, "a flow has at most rounds_max rounds");
}

// --- tools ---

inline Task<ToolResult> confirm(Call& call) {
  ++handlers_begun;
  Elicited<Sure> sure = co_await call.elicit<Sure>("sure", "Sure?");
  was_asked(call);
  co_return text(sure.accepted() ? (sure->ok ? "done" : "not done") : "nobody");
}

inline Task<ToolResult> resolve(Call& call, Ticket input) {
  ++handlers_begun;
  auto word = [] { return std::string(sealed_word); };
  const std::string secret = co_await call.step("secret", word);
  require(secret == sealed_word, "a step is what it was");
  const std::vector<Option> choices{Option("fixed"), Option("duplicate", "A duplicate"), Option("by design")};
  auto how = form("How was it resolved?").choice("resolution", choices);
  ElicitResult answer = co_await call.elicit("resolution", how);
  was_asked(call);
  if (!answer.accepted()) co_return text("stays open");
  const std::string resolution = answer.string("resolution");
  require(resolution == "fixed" || resolution == "duplicate" || resolution == "by design",
          "a choice is one of those that were shown");
  if (resolution == "duplicate") {
    auto which = form("Of which ticket?").integer("original", Field().between(1, 1000));
    ElicitResult original = co_await call.elicit("original", which);
    require(call.protocol_version() != "2026-07-28" || call.round() > 2, "questions come one after another");
    if (!original.accepted()) co_return text("stays open");
    const std::int64_t number = original.integer("original");
    require(number >= 1 && number <= 1000, "a number is within its bounds");
    co_return text(std::to_string(input.ticket) + " as " + std::to_string(number));
  }
  co_return text(std::to_string(input.ticket) + " " + resolution);
}

inline Task<ToolResult> page(Call& call) {
  ++handlers_begun;
  ElicitResult opened = co_await call.elicit_url("page", "Please log in.", "https://example.com/login");
  was_asked(call);
  co_return text(opened.accepted() ? "opened" : "closed");
}

inline Task<ToolResult> model(Call& call) {
  ++handlers_begun;
  auto request = SampleRequest(100)
                     .user("Six times seven?")
                     .system_prompt("Be short.")
                     .tools(testing::parsed(R"([{"name":"t","inputSchema":{"type":"object"}}])"));
  SampleResult answer = co_await call.sample("model", request);
  was_asked(call);
  co_return text(answer.model() + ": " + answer.text() + answer.stop_reason());
}

inline Task<ToolResult> folders(Call& call) {
  ++handlers_begun;
  std::vector<Root> roots = co_await call.list_roots();
  was_asked(call);
  std::string names;
  for (const Root& root : roots) {
    require(root.uri.starts_with("file://"), "a root is a file URI");
    names += root.name + "=" + root.uri + ";";
  }
  co_return text(names);
}

inline Task<ToolResult> together(Call& call) {
  ++handlers_begun;
  auto size = call.elicit<Size>("size", "How large?");
  auto name = call.elicit("name", form("Who?").string("name", Field().length(1, 10)));
  auto where = call.elicit_url("where", "Where?", "https://example.com/where");
  auto request = SampleRequest(10).user("Hello");
  auto answer = call.sample("model", request);
  auto roots = call.list_roots("folders");
  auto [how_large, who, opened, said, all_roots] = co_await all(size, name, where, answer, roots);
  was_asked(call);
  if (how_large.accepted()) {
    require(how_large->width >= 1 && how_large->width <= 100, "a number is within its bounds");
  }
  if (who.accepted()) require(who.string("name").size() <= 40, "a text is within its length");
  co_return text(said.text() + std::to_string(all_roots.size()) + (opened.accepted() ? "!" : "?"));
}

inline Task<ToolResult> steps(Call& call) {
  ++handlers_begun;
  auto first = []() -> Task<std::vector<std::string>> {
    std::vector<std::string> words(2, std::string(sealed_word));
    co_return words;
  };
  auto before = co_await call.step("before", first);
  ElicitResult size = co_await call.elicit("n", form("How many?").integer("n", Field().between(0, 20000)));
  was_asked(call);
  const std::int64_t bytes = size.integer("n");
  auto fill = [bytes] { return std::string(static_cast<std::size_t>(bytes), 'x'); };
  auto filled = co_await call.step("fill", fill);
  Elicited<Sure> sure = co_await call.elicit<Sure>("sure", "Sure?");
  require(before.size() == 2 && before[1] == sealed_word, "a step is what it was");
  co_return text(sure.accepted() ? "filled" : "empty");
}

inline Task<ToolResult> at_once(Call& call) {
  ++handlers_begun;
  Elicited<Sure> sure = co_await call.elicit<Sure>("sure", "Sure?");
  co_return text(sure.accepted() && sure->ok ? "at once" : "no");
}

// In a task what is asked stays in the process, and all is one round.
enum class Asks { in_rounds, in_a_task };

template <Asks where>
Task<ToolResult> many(Call& call, Number input) {
  ++handlers_begun;
  for (std::int64_t i = 0; i < input.n && i < 40; ++i) {
    const std::string key = "q" + std::to_string(i);
    ElicitResult answer = co_await call.elicit(key, form("What is " + key + "?").string("v"));
    if constexpr (where == Asks::in_rounds) was_asked(call);
    if (answer.declined()) break;
  }
  co_return text("all");
}

// Words its question anew in every round but the last.
inline Task<ToolResult> reworded(Call& call) {
  ++handlers_begun;
  const std::string round = std::to_string(std::min<std::uint32_t>(call.round(), 3));
  ElicitResult answer = co_await call.elicit("q", form("In words of round " + round + "?").string("v"));
  require(call.protocol_version() != "2026-07-28" || call.round() > 3, "an answer belongs to its question");
  co_return text(answer.string("v"));
}

inline Task<ToolResult> misused(Call& call) {
  ++handlers_begun;
  ElicitResult one = co_await call.elicit("same", form("One?").string("v"));
  ElicitResult two = co_await call.elicit("same", form("Two?").string("v"));
  co_return text(one.string("v") + two.string("v"));
}

inline Task<ToolResult> gated(Call& call) {
  ++handlers_begun;
  ElicitResult answer = co_await call.elicit("wait", form("Wait?").boolean("wait"));
  was_asked(call);
  if (answer.boolean("wait")) {
    const OneShot<bool> opens;
    gate.waiting.push_back(opens);
    co_await opens;
  }
  co_return text("passed");
}

inline Task<ToolResult> chatty(Call& call) {
  ++handlers_begun;
  call.log("debug", "quiet");
  call.progress(1, 3, "begun");
  call.log("warning", call.meta(), "here");
  call.progress(2);
  call.log("error", call.client_info());
  call.progress(1, 1, "backwards");
  call.detach_stream(std::chrono::milliseconds(10));
  std::string can;
  if (call.can_elicit()) can += "elicit ";
  if (call.can_elicit_url()) can += "url ";
  if (call.can_sample()) can += "sample ";
  if (call.can_list_roots()) can += "roots ";
  co_return text(can);
}

inline Task<ToolResult> throws(Call& call) {
  ++handlers_begun;
  ElicitResult answer = co_await call.elicit("when", form("When?").boolean("now"));
  if (!answer.boolean("now")) co_return error("Not now.");
  throw std::runtime_error("std::string at /src/signet/secret.cc:1 " + std::string(sealed_word));
}

inline ToolResult asks_explicitly(PlainCall& call) {
  ++handlers_begun;
  const Json::Object& given = call.input_responses();
  if (!given.contains("n")) {
    return InputRequired()
        .elicit("n", form("N?").string("v"))
        .elicit_url("u", "U?", "https://example.com/u")
        .sample("s", SampleRequest(10).user("Hello"))
        .list_roots("r")
        .state(std::string(sealed_word));
  }
  was_asked(call);
  const bool second = call.state() == Json(2);
  require(second || call.state() == Json(sealed_word), "the state is what it was");
  if (!second) return InputRequired().elicit("m", form("M?").string("v")).state(2);
  require(call.protocol_version() != "2026-07-28" || call.round() > 2, "questions come one after another");
  return text("explicit");
}

inline ToolResult content_of_all_kinds(PlainCall& call, Json input) {
  ++handlers_begun;
  call.progress(0.5, 1, "half");
  call.log("info", Json::object({{"a", 1}}));
  const Bytes bytes{1, 2, 3};
  return ToolResult()
      .add(Content::text("text").audience(Role::user).priority(0.5))
      .add(Content::image(bytes, "image/png"))
      .add(Content::audio(bytes, "audio/wav"))
      .add(Content::resource(ResourceContents::blob(bytes).uri("test://blob")))
      .add(Content::link("test://static", "static"))
      .structured(std::move(input))
      .meta(Json::object({{"m", 1}}));
}

inline Result<Receipt> order(Order input) {
  ++handlers_begun;
  require(input.count >= 1 && input.count <= 10, "a number is within its bounds");
  require(input.note.size() <= 80, "a text is within its length");
  if (input.to.street.empty()) return failure("A street is needed.");
  Receipt receipt;
  receipt.count = input.exact;
  receipt.lines.assign(static_cast<std::size_t>(input.count), input.to.street);
  return receipt;
}

inline const Json& wild_schema() {
  static const Json schema = testing::parsed(R"({
    "type":"object","$defs":{"t":{"type":["string","null"],"pattern":"^[a-z]*$","maxLength":9},
      "n":{"anyOf":[{"$ref":"#/$defs/t"},{"type":"array","items":{"$ref":"#/$defs/n"},"uniqueItems":true}]}},
    "properties":{"a":{"$ref":"#/$defs/n"},"b":{"enum":[1,"two",null,{"c":[]}]},"c":{"multipleOf":0.5},
      "region":{"type":"string","x-mcp-header":"Region"}},
    "patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false,"maxProperties":4})");
  return schema;
}

inline void add_tools(Server& server) {
  server.tool("confirm", "Asks.", confirm);
  server.tool("resolve", "Resolves a ticket.", resolve, ToolOptions().title("Resolve").destructive());
  server.tool("page", "Shows a page.", page);
  server.tool("model", "Asks the model.", model);
  server.tool("folders", "Asks for folders.", folders);
  server.tool("together", "Asks all at once.", together);
  server.tool("steps", "Computes.", steps, ToolOptions().lifetime(std::chrono::seconds(90)));
  server.tool("many", "Asks often.", many<Asks::in_rounds>,
              ToolOptions().flow_lifetime(std::chrono::minutes(20)));
  server.tool("reworded", "Asks anew.", reworded);
  server.tool("misused", "Asks twice.", misused);
  server.tool("unasked", "Takes what comes.", at_once, ToolOptions().accepts_unasked_answers());
  server.tool("once", "Acts once.", confirm, ToolOptions().redemption(Redemption::once));
  server.tool("reply", "Acts once, replies often.", gated,
              ToolOptions().redemption(Redemption::once_with_reply));
  server.tool("gated", "Waits.", gated, ToolOptions().time_limit(std::chrono::seconds(5)));
  server.tool("chatty", "Talks.", chatty, ToolOptions().read_only().idempotent());
  server.tool("throws", "Throws.", throws);
  server.tool("fault", "Fails.", []() -> Task<ToolResult> {
    ++handlers_begun;
    co_return Fault(1000, "Broken.", Json::object({{"why", "because"}}));
  });
  server.tool(
      "wild", "Takes JSON.",
      [](Call&, Json input) -> Task<ToolResult> {
        ++handlers_begun;
        ToolResult result;
        result.structured(std::move(input));
        co_return result;
      },
      ToolOptions()
          .input_schema(wild_schema())
          .output_schema(testing::parsed(R"({"type":"object","properties":{"a":{"type":"string"}}})")));
  server.tool("plain_explicit", "Asks explicitly.", asks_explicitly);
  server.tool("plain_content", "Shows everything.", content_of_all_kinds);
  server.tool("plain_order", "Orders.", order);
}

// --- prompts, resources ---

inline Task<PromptResult> greet(Call& call, Who input) {
  ++handlers_begun;
  const std::vector<Option> manners{Option("formal"), Option("warm")};
  auto question = form("How?").choice("how", manners);
  ElicitResult how = co_await call.elicit("how", question);
  was_asked(call);
  co_return PromptResult().user("Greet " + input.name + " " + how.string("how")).description("A greeting");
}

inline Task<ResourceResult> item(Call& call, Item input) {
  ++handlers_begun;
  require(input.id.find('/') == std::string::npos || call.target().find("%2") != std::string::npos,
          "a variable has no slash");
  if (input.id == "none") co_return ResourceResult::not_found();
  if (input.id == "open") co_return ResourceContents::text("open");
  Elicited<Sure> sure = co_await call.elicit<Sure>("sure", "Read it?");
  was_asked(call);
  if (!sure.accepted()) co_return ResourceResult::not_found();
  co_return ResourceResult(ResourceContents::text(input.id)).cache(std::chrono::seconds(1));
}

inline void add_prompts(Server& server) {
  server.prompt("greet", "Greets.", greet, PromptOptions().title("Greeting"));
  server.prompt(
      "plain_prompt", "Repeats.",
      [](Json input) {
        ++handlers_begun;
        PromptResult result;
        for (const JsonMember& argument : *input.as_object()) result.assistant(*argument.second.as_string());
        return result;
      },
      PromptOptions().argument("a").argument("b", "The second", false));
  server.prompt_completion("greet", "name", [](const CompletionRequest& request) {
    return std::vector<std::string>(request.value.size() * 30, request.value);
  });
}

inline void add_resources(Server& server) {
  server.resource("test://static", "static", [](Call&) -> Task<ResourceResult> {
    ++handlers_begun;
    co_return ResourceContents::text("static").meta(Json::object({{"m", 1}}));
  });
  server.resource("plain:blob", "blob", [] {
    ++handlers_begun;
    const Bytes bytes{0, 255};
    return ResourceContents::blob(bytes);
  });
  server.resource_template("test://item/{id}", "item", item,
                           ResourceOptions().cache(std::chrono::seconds(2)));
  server.resource_template("test://tree/{+path}", "tree", [](Call& call, Json input) -> Task<ResourceResult> {
    ++handlers_begun;
    require(input.find_string("path") != nullptr, "a template gives its variables");
    co_return ResourceContents::text(call.target());
  });
  server.template_completion("test://item/{id}", "id", [](const CompletionRequest& request) {
    return std::vector<std::string>{request.value + "1", json::write(request.arguments)};
  });
}

// --- tasks ---

inline Task<ToolResult> asks_and_starts(Call& call) {
  ++handlers_begun;
  Elicited<Sure> sure = co_await call.elicit<Sure>("sure", "Sure?");
  co_await call.start_task();
  ElicitResult more = co_await call.elicit("more", form("More?").string("v"));
  co_return text(sure.accepted() ? more.string("v") : "no");
}

inline Task<ToolResult> in_task(Call& call) {
  ++handlers_begun;
  auto sure = call.elicit<Sure>("sure", "Sure?");
  auto name = call.elicit("name", form("Who?").string("name"));
  auto [answer, who] = co_await all(sure, name);
  co_return text(answer.accepted() ? who.string("name") : "no");
}

inline void add_task_tools(Server& server) {
  server.tool("asks", "Asks in the task.", in_task, ToolOptions().task(TaskSupport::optional));
  server.tool("later", "Asks, then works.", asks_and_starts,
              ToolOptions().task(TaskSupport::required, TaskStart::by_handler));
  server.tool(
      "plain_now", "Works.",
      [](PlainCall& call, Json input) {
        ++handlers_begun;
        call.progress(1);
        return ToolResult().structured(std::move(input));
      },
      ToolOptions().task(TaskSupport::required));
  server.tool("throws", "Throws.", throws, ToolOptions().task(TaskSupport::optional));
  server.tool("many", "Asks often.", many<Asks::in_a_task>, ToolOptions().task(TaskSupport::required));
  server.tool("confirm", "Is no task.", confirm);
}

}  // namespace signet::fuzzing
