// Shows what replay means: one call of a tool that asks twice, and the journal that each round seals. doc/rounds.md
// quotes the handler and prints the trace.
#include <signet/rounds/journal.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>
#include <signet/token/codec.h>
#include <signet/token/key_ring.h>

#include <iostream>

namespace {

using signet::Call;
using signet::ElicitResult;
using signet::Json;
using signet::Reply;
using signet::Task;
using signet::ToolResult;
using signet::rounds::Entry;
using signet::testing::at;
using signet::testing::parsed;

void say(const std::string& what) { std::cout << "     " << what << "\n"; }

std::string title_of(int /*ticket*/) { return "Printer on fire"; }

struct Ticket {
  int ticket;
};

Task<ToolResult> resolve(Call& call, Ticket args) {
  say("the handler begins");
  auto look_up = [ticket = args.ticket] {
    say("it looks the ticket up");
    return title_of(ticket);
  };
  const std::string title = co_await call.step("title", look_up);

  auto how = signet::form("How was it resolved: " + title + "?").choice("how", {"Fixed", "Duplicate"});
  ElicitResult resolution = co_await call.elicit("resolution", how);
  if (!resolution.accepted()) co_return signet::text("Left open.");

  if (resolution.string("how") == "Duplicate") {
    auto which = signet::form("Which ticket is the original?").integer("ticket");
    ElicitResult original = co_await call.elicit("original", which);
    if (!original.accepted()) co_return signet::text("Left open.");
    say("it has all answers, and acts");
    co_return signet::text("Closed as a duplicate of " + std::to_string(original.integer("ticket")) + ".");
  }
  say("it has all answers, and acts");
  co_return signet::text("Closed as fixed.");
}

// A server and, with the same keys, what opens its states.
class Trace {
 public:
  Trace() { server_.tool("resolve", "Resolves a ticket.", resolve); }

  // Sends the call, with what more there is in this round, and shows what comes of it.
  void round(const std::string& title, const Json& more) {
    std::cout << "->   " << title << "\n";
    Json params = call_;
    for (const auto& [name, value] : *more.as_object()) params.set(name, value);
    if (!state_.empty()) params.set("requestState", state_);
    const Reply reply = signet::testing::ask(server_, "tools/call", signet::testing::modern(params));
    if (at(reply, {"resultType"}) != Json("input_required")) {
      std::cout << "<-   " << signet::testing::text_of(reply) << "\n";
      return;
    }
    state_ = *at(reply, {"requestState"}).as_string();
    show_journal();
    const Json requests = at(reply, {"inputRequests"});
    for (const auto& [key, request] : *requests.as_object()) {
      std::cout << "<-   input_required: " << key << ", \"" << *at(request, {"params", "message"}).as_string()
                << "\"\n";
    }
  }

 private:
  void show_journal() {
    signet::token::Binding binding;
    binding.method = "tools/call";
    binding.target = "resolve";
    binding.arguments = signet::sha256(signet::as_bytes(signet::json::canonical(*call_.find("arguments"))));
    binding.audience = "tickets";
    binding.principal = signet::Principal::local();
    binding.protocol_version = signet::protocol::version_2026_07_28;
    const auto opened = sealer_.open_now(state_, binding);
    if (!opened.ok()) return say("the state does not open");
    const auto journal = signet::rounds::Journal::decode(opened->state);
    if (!journal.ok()) return say("the state holds no journal");
    for (const Entry& entry : journal->entries()) say("| " + line_of(entry));
  }
  static std::string line_of(const Entry& entry) {
    const std::string pinned = entry.key + " #" + signet::hex(entry.question).substr(0, 4);
    if (entry.kind == Entry::Kind::step)
      return "step      " + entry.key + " = " + signet::json::write(entry.value);
    if (entry.kind == Entry::Kind::open) return "open      " + pinned;
    return "answered  " + pinned + " = " + signet::json::write(entry.value);
  }

  std::shared_ptr<signet::token::RingSource> ring_ = signet::token::ephemeral_ring(signet::system_entropy());
  signet::Server server_{signet::ServerInfo("tickets", "1.0"), signet::ServerOptions().ring(ring_)};
  signet::token::Sealer sealer_{
      std::make_shared<signet::token::NativeCodec>(ring_, signet::system_clock(), signet::system_entropy()),
      signet::token::Policy(), signet::system_clock(), signet::system_entropy()};
  Json call_ = signet::testing::call_params("resolve", R"({"ticket":7})");
  std::string state_;
};

}  // namespace

int main() {
  Trace trace;
  trace.round("tools/call resolve, ticket 7", Json::object());
  trace.round(
      "again, with the state and resolution: Duplicate",
      parsed(R"({"inputResponses":{"resolution":{"action":"accept","content":{"how":"Duplicate"}}}})"));
  trace.round("again, with the new state and original: 3",
              parsed(R"({"inputResponses":{"original":{"action":"accept","content":{"ticket":3}}}})"));
}
