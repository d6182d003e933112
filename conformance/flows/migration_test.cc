// A fleet that moves here from the Python SDK, with flows under way: its states through a whole Server.
#include <signet/base/source_dir_for_tests.h>
#include <signet/protocol/errors.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>
#include <signet/store/memory.h>
#include <signet/token/profiles/format.h>
#include <signet/token/testing.h>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace {

using signet::Call;
using signet::Exchange;
using signet::Json;
using signet::Principal;
using signet::Reply;
using signet::ServerOptions;
using signet::testing::at;
using signet::testing::call_params;
using signet::testing::modern;
using signet::testing::parsed;
using signet::testing::show;
using signet::testing::text_of;
using signet::token::testing::unhex;
namespace profiles = signet::token::profiles;

constexpr const char* alice = R"(["client-1","https://idp.example","alice"])";

// A vector that the Python SDK itself made.
Json vector(std::string_view id) {
  std::ifstream file(signet::testing::source_dir() +
                     "/src/signet/token/profiles/testdata/python-sdk-v1.json");
  std::ostringstream text;
  text << file.rdbuf();
  const Json all = parsed(text.str());
  for (const Json& one : *all.find("vectors")->as_array()) {
    if (*one.find_string("id") == id) return one;
  }
  return Json();
}

// As the Python handler did it: the state is a text of its own, the answer comes beside it.
signet::ToolResult deploy(signet::PlainCall& call) {
  const Json answers(call.input_responses());
  const std::string state = call.state().is_string() ? *call.state().as_string() : std::string();
  if (state.empty()) {
    return signet::InputRequired().elicit("sure", signet::form("Deploy?").boolean("sure")).state("step=2");
  }
  const Json sure = at(answers, {"sure", "content", "sure"});
  return signet::text("deployed after " + state + (sure == Json(true) ? ", surely" : ", not surely"));
}

signet::Task<signet::ToolResult> converse(Call& call) {
  signet::ElicitResult answer = co_await call.elicit("sure", signet::form("Deploy?").boolean("sure"));
  co_return signet::text(answer.boolean("sure") ? "surely" : "not surely");
}

class Migration : public ::testing::Test {
 protected:
  std::unique_ptr<signet::Server> server(bool seal) {
    profiles::FormatOptions format;
    for (const Json& key : *vector_.find("keys_hex")->as_array()) {
      format.config.keys.push_back({"", signet::Secret(unhex(*key.as_string()))});
    }
    signet::token::Migration migration;
    migration.format = *profiles::make_format("python-sdk-v1", std::move(format));
    migration.seal = seal;
    auto made = std::make_unique<signet::Server>(
        signet::ServerInfo("demo-server", "1"),
        ServerOptions().clock(clock_).migration(migration).log(
            [this](signet::LogLevel, std::string_view event, std::initializer_list<signet::LogField> fields) {
              log_.append(event);
              for (const auto& [name, value] : fields)
                log_.append(" ").append(name).append("=").append(value);
            }));
    made->tool("deploy", "Deploys.", deploy);
    made->tool("other", "Deploys too.", deploy);
    made->tool("converse", "Awaits.", converse);
    return made;
  }
  static Reply call(signet::Server& server, const Json& params, const std::string& caller = alice) {
    return signet::testing::ask(server, "tools/call", modern(params), [&caller](Exchange& exchange) {
      exchange.principal = Principal::authenticated(caller);
    });
  }
  // The request that comes back with the Python server's token and the person's answer.
  Json retry() const {
    Json params = *vector_.find("binding")->find("params");
    params.set("requestState", *vector_.find("token"));
    params.set("inputResponses", parsed(R"({"sure":{"action":"accept","content":{"sure":true}}})"));
    return params;
  }
  static bool refused(const Reply& reply) {
    return !reply.ok() && reply.error().code == signet::protocol::invalid_params &&
           reply.error().message == "Invalid or expired requestState";
  }

  Json vector_ = vector("ok-basic");
  signet::ManualClock clock_{signet::Timestamp(std::chrono::milliseconds(1'790'000'010'000))};
  std::string log_;
};

TEST_F(Migration, FinishesAFlowThatThePythonServerBegan) {
  ASSERT_TRUE(vector_.is_object());
  const auto ours = server(false);
  EXPECT_EQ(text_of(call(*ours, retry())), "deployed after step=2, surely");
}

TEST_F(Migration, BindsAPythonStateAsThePythonServerDid) {
  const auto ours = server(false);
  EXPECT_TRUE(refused(call(*ours, retry(), R"(["client-1","https://idp.example","eve"])")));
  Json other = retry();
  other.set("arguments", parsed(R"({"env":"prod","n":2})"));
  EXPECT_TRUE(refused(call(*ours, other)));
  other = retry();
  other.set("name", "other");
  EXPECT_TRUE(refused(call(*ours, other)));
  other = retry();
  other.set("requestState", *other.find_string("requestState") + "A");
  EXPECT_TRUE(refused(call(*ours, other)));
  clock_.advance(std::chrono::seconds(600));
  EXPECT_TRUE(refused(call(*ours, retry())));
}

TEST_F(Migration, GoesOnInOurOwnFormat) {
  const auto ours = server(false);
  const Json params = call_params("deploy");
  const Reply asked = call(*ours, params);
  ASSERT_TRUE(at(asked, {"requestState"}).is_string()) << show(asked);
  EXPECT_TRUE(at(asked, {"requestState"}).as_string()->starts_with("sg1."));
  Json again = params;
  again.set("requestState", at(asked, {"requestState"}));
  again.set("inputResponses", parsed(R"({"sure":{"action":"accept","content":{"sure":false}}})"));
  EXPECT_EQ(text_of(call(*ours, again)), "deployed after step=2, not surely");
}

TEST_F(Migration, SealsWhatThePythonServerReadsWhileItStillServes) {
  const auto mixed = server(true);
  const Json params = call_params("deploy", R"({"env":"prod","n":1})");
  const Reply asked = call(*mixed, params);
  ASSERT_TRUE(at(asked, {"requestState"}).is_string()) << show(asked);
  const std::string token = *at(asked, {"requestState"}).as_string();
  EXPECT_TRUE(token.starts_with("v1."));

  // The Python server's own code is what the profile's vectors were made by.
  profiles::ProfileConfig config;
  config.keys.push_back(
      {"", signet::Secret(unhex(*vector_.find("keys_hex")->as_array()->front().as_string()))});
  profiles::Context context;
  context.method = "tools/call";
  context.params = signet::json::write(params);
  context.audience = "demo-server";
  context.principal = alice;
  context.now = clock_.now();
  const auto opened = (*profiles::make_profile("python-sdk-v1", std::move(config)))->open(token, context);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(signet::as_text(opened->state), "step=2");

  Json again = params;
  again.set("requestState", token);
  again.set("inputResponses", parsed(R"({"sure":{"action":"accept","content":{"sure":true}}})"));
  EXPECT_EQ(text_of(call(*mixed, again)), "deployed after step=2, surely");
}

TEST_F(Migration, NeverSealsAJournalForAServerThatCannotReadIt) {
  const auto mixed = server(true);
  const Reply reply = call(*mixed, call_params("converse"));
  ASSERT_FALSE(reply.ok()) << show(reply);
  EXPECT_EQ(reply.error().message, "Internal error");
  EXPECT_NE(log_.find("state_not_sealed"), std::string::npos) << log_;
}

// Redeems each state once, in a format that does not say for whose request a state was made.
class Unbound : public Migration {
 protected:
  Unbound() {
    options_.config.keys.push_back({"", signet::Secret(signet::Bytes(32, 7))});
    options_.accept_unbound = true;
    signet::token::Migration migration;
    migration.format = *profiles::make_format("protocol-droid", std::move(options_));
    migration.seal = true;
    server_ = std::make_unique<signet::Server>(
        signet::ServerInfo("demo-server", "1"),
        ServerOptions()
            .clock(clock_)
            .migration(migration)
            .redemption_store(signet::store::memory_stores(clock_).redemption)
            .log([this](signet::LogLevel level, std::string_view event,
                        std::initializer_list<signet::LogField>) {
              if (level >= signet::LogLevel::warning) log_.append(event).append(" ");
            }));
    for (const char* name : {"balance", "transfer"}) {
      server_->tool(
          name, "Says whose it is.", [this](signet::PlainCall& call) { return balance(call); },
          signet::ToolOptions().redemption(signet::Redemption::once_with_reply));
    }
  }
  signet::ToolResult balance(const signet::PlainCall& call) {
    if (call.state().is_null())
      return signet::InputRequired().elicit("sure", signet::form("Sure?").boolean("sure")).state("step=2");
    return signet::text("balance of " + call.principal().id + " " + std::to_string(++effects_));
  }

  profiles::FormatOptions options_;
  std::unique_ptr<signet::Server> server_;
  int effects_ = 0;
};

TEST_F(Unbound, AKeptReplyGoesToTheCallThatMadeItAlone) {
  Json params = call_params("balance", R"({"account":"ALICE-1"})");
  const Reply asked = call(*server_, params, "alice");
  ASSERT_TRUE(at(asked, {"requestState"}).is_string()) << show(asked);
  params.set("requestState", at(asked, {"requestState"}));
  params.set("inputResponses", parsed(R"({"sure":{"action":"accept","content":{"sure":true}}})"));
  EXPECT_EQ(text_of(call(*server_, params, "alice")), "balance of alice 1");
  EXPECT_EQ(text_of(call(*server_, params, "alice")), "balance of alice 1");
  EXPECT_EQ(log_, "");

  EXPECT_TRUE(refused(call(*server_, params, "bob")));
  Json other = params;
  other.set("arguments", parsed(R"({"account":"BOB-9"})"));
  EXPECT_TRUE(refused(call(*server_, other, "alice")));
  other = params;
  other.set("name", "transfer");
  EXPECT_TRUE(refused(call(*server_, other, "alice")));
  other = params;
  other.set("inputResponses", parsed(R"({"sure":{"action":"accept","content":{"sure":false}}})"));
  EXPECT_TRUE(refused(call(*server_, other, "alice")));
  EXPECT_EQ(effects_, 1);
  EXPECT_EQ(text_of(call(*server_, params, "alice")), "balance of alice 1");
}

}  // namespace
