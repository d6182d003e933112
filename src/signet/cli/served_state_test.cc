// Sealed states over HTTP: what a client can tell of a refusal, what the operator is told, and what a ring file that
// changes does to a server that serves.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <signet/keys/ring_file.h>
#include <signet/keys/rotation.h>
#include <signet/server/call.h>
#include <signet/server/server.h>
#include <signet/store/memory.h>
#include <signet/token/codec.h>
#include <signet/token/key_ring.h>
#include <signet/transport/http_server.h>
#include <signet/transport/testing_http.h>

namespace signet {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using token::KeyEntry;
using token::KeyRing;
using token::KeyStage;
using token::Refusal;

constexpr Timestamp start{std::chrono::milliseconds(1'790'000'000'000)};

// The caller is whoever the header says: for tests alone.
class ByHeader final : public Authenticator {
 public:
  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override {
    co_return Principal::authenticated(caller.header("X-Caller").value_or("alice"));
  }
};

// Everything that an operator sees.
class Operator final : public Metrics {
 public:
  void add(std::string_view name, std::string_view labels, double) override {
    if (name != "signet_state_refused_total") return;
    const std::lock_guard lock(mutex_);
    counted_ = labels;
  }
  LogSink log() {
    return [this](LogLevel, std::string_view event, std::initializer_list<LogField> fields) {
      const std::lock_guard lock(mutex_);
      events_.emplace(event);
      if (event != "state_refused") return;
      logged_.clear();
      for (const LogField& field : fields) logged_[std::string(field.first)] = field.second;
    };
  }
  std::map<std::string, std::string> logged() {
    const std::lock_guard lock(mutex_);
    return std::exchange(logged_, {});
  }
  std::string counted() {
    const std::lock_guard lock(mutex_);
    return std::exchange(counted_, {});
  }
  bool was_told(const std::string& event) {
    const std::lock_guard lock(mutex_);
    return events_.contains(event);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> logged_;
  std::string counted_;
  std::set<std::string> events_;
};

// A store that can be away.
class Store final : public token::RedemptionStore {
 public:
  Store(std::shared_ptr<token::RedemptionStore> inner, const bool& away)
      : inner_(std::move(inner)), away_(away) {}
  Task<Result<token::ClaimOutcome>> claim(token::Claim claim, Executor& executor) override {
    return away_ ? none() : inner_->claim(claim, executor);
  }
  Task<Result<void>> finish(token::Claim claim, std::string reply, Executor& executor) override {
    return inner_->finish(claim, std::move(reply), executor);
  }
  Task<Result<void>> abandon(token::Claim claim, Executor& executor) override {
    return inner_->abandon(claim, executor);
  }
  Task<Result<std::optional<std::string>>> reply(token::Claim claim, Executor& executor) override {
    return inner_->reply(claim, executor);
  }

 private:
  static Task<Result<token::ClaimOutcome>> none() { co_return failure("the store is away"); }

  std::shared_ptr<token::RedemptionStore> inner_;
  const bool& away_;
};

Task<ToolResult> ask(Call& call) {
  auto question = form("Sure?").boolean("sure");
  ElicitResult answer = co_await call.elicit("sure", question);
  co_return text(answer.accepted() ? "done" : "left");
}

std::shared_ptr<token::SharedRing> new_ring(const std::string& id) {
  std::vector<KeyEntry> entries;
  entries.push_back(token::generate_key(id, KeyStage::seal, start, system_entropy()));
  return std::make_shared<token::SharedRing>(KeyRing::make(std::move(entries)).value());
}

// One instance, served over HTTP, with everything it stands on.
class Instance {
 public:
  explicit Instance(std::shared_ptr<token::RingSource> ring, token::Policy policy = token::Policy(),
                    const std::string& audience = "here")
      : server_(ServerInfo("states", "1"), options(std::move(ring), policy, audience)),
        http_(server_, http_options()) {
    server_.tool("ask", "Asks.", ask);
    server_.tool("ask_too", "Asks as well.", ask);
    server_.tool("ask_once", "Asks once.", ask, ToolOptions().redemption(Redemption::once));
    server_.tool("ask_shortly", "Asks for a minute.", ask, ToolOptions().lifetime(minutes(1)));
    server_.tool("ask_briefly", "The flow ends soon.", ask, ToolOptions().flow_lifetime(seconds(30)));
    server_.prompt("ask", "Asks.", [](Call& call) -> Task<PromptResult> {
      auto question = form("Sure?").boolean("sure");
      ElicitResult answer = co_await call.elicit("sure", question);
      co_return PromptResult().user(answer.accepted() ? "yes" : "no");
    });
    const Result<void> started = http_.start();
    EXPECT_TRUE(started.ok());
    thread_ = std::thread([this] { http_.run(); });
  }
  ~Instance() {
    http_.stop();
    thread_.join();
  }

  // The whole response, except that every date is the same.
  std::string post(const std::string& method, const std::string& params, const std::string& headers = "") {
    transport::Wire wire(http_.port());
    const std::string body = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params +
                             R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}})";
    const std::string name = params.substr(params.find(R"("name":")") + 8);
    wire.send(transport::raw("POST",
                             transport::modern_headers(method) + "Mcp-Name: " +
                                 name.substr(0, name.find('"')) + "\r\nConnection: close\r\n" + headers,
                             body));
    wire.read_until("\n\n\n\n");  // which never comes: to the end of the connection
    std::string response = wire.buffer();
    const std::size_t date = response.find("\r\nDate: ");
    EXPECT_NE(date, std::string::npos) << response;
    if (date != std::string::npos) response.erase(date, response.find("\r\n", date + 2) - date);
    return response;
  }
  std::string call(const std::string& params, const std::string& headers = "") {
    return post("tools/call", params, headers);
  }
  // The state that a first call brings.
  std::string state_of(const std::string& tool, const std::string& arguments = "{}") {
    const std::string asked = call(R"("name":")" + tool + R"(","arguments":)" + arguments);
    const std::size_t at = asked.find(R"("requestState":")");
    EXPECT_NE(at, std::string::npos) << asked;
    if (at == std::string::npos) return std::string();
    return asked.substr(at + 16, asked.find('"', at + 16) - at - 16);
  }

  ManualClock clock{start};
  Operator told;
  bool store_away = false;

 private:
  ServerOptions options(std::shared_ptr<token::RingSource> ring, const token::Policy& policy,
                        const std::string& audience) {
    ServerOptions options;
    options.ring(std::move(ring)).policy(policy).audience(audience).clock(clock).metrics(told);
    options.log(told.log());
    options.redemption_store(
        std::make_shared<Store>(store::memory_stores(clock, store::MemoryOptions()).redemption, store_away));
    return options;
  }
  static HttpOptions http_options() {
    HttpOptions options;
    options.authenticator = std::make_shared<ByHeader>();
    options.shutdown_grace = std::chrono::milliseconds(100);
    return options;
  }

  Server server_;
  HttpServer http_;
  std::thread thread_;
};

std::string answered(const std::string& tool, const std::string& state, const std::string& arguments = "{}") {
  return R"("name":")" + tool + R"(","arguments":)" + arguments + R"(,"requestState":")" + state +
         R"(","inputResponses":{"sure":{"action":"accept","content":{"sure":true}}})";
}

// What clients got for each refusal, once the operator was told what it was.
class Refusals {
 public:
  void expect(Instance& instance, Refusal refusal, const std::string& response, bool authentic) {
    const std::string name(to_string(refusal));
    const auto logged = instance.told.logged();
    ASSERT_TRUE(logged.contains("reason")) << name << " was not refused: " << response;
    EXPECT_EQ(logged.at("reason"), name);
    EXPECT_FALSE(logged.at("method").empty());
    EXPECT_EQ(logged.at("age_ms").empty(), !authentic) << name;
    if (authentic) {
      EXPECT_EQ(logged.at("key_id"), "k1") << name;
    }
    const std::string counted = instance.told.counted();
    EXPECT_NE(counted.find("reason=\"" + name + "\",method=\""), std::string::npos) << counted;
    EXPECT_EQ(counted.find("age=\"unknown\"") == std::string::npos, authentic) << counted;
    if (authentic && refusal != Refusal::unavailable) {
      EXPECT_NE(counted.find("key_id=\"k1\""), std::string::npos) << counted;
    }
    responses_[refusal] = response;
  }
  const std::map<Refusal, std::string>& responses() const { return responses_; }

 private:
  std::map<Refusal, std::string> responses_;
};

TEST(ServedState, NoRefusalCanBeToldFromAnotherByContentOrBySize) {
  const auto ring = new_ring("k1");
  Instance here(ring);
  Refusals refusals;
  const std::string state = here.state_of("ask");
  const auto refused = [&](Refusal refusal, const std::string& params, bool authentic,
                           const std::string& headers = "") {
    refusals.expect(here, refusal, here.call(params, headers), authentic);
  };

  EXPECT_NE(here.call(answered("ask", state)).find("done"), std::string::npos);
  refused(Refusal::malformed, answered("ask", "nonsense"), false);
  refused(Refusal::too_large, answered("ask", std::string(100'000, 'A')), false);
  refused(Refusal::unknown_key, answered("ask", "sg1.k2." + state.substr(7)), false);
  std::string changed = state;
  changed[100] = changed[100] == 'A' ? 'B' : 'A';
  refused(Refusal::not_authentic, answered("ask", changed), false);

  refused(Refusal::other_target, answered("ask_too", state), true);
  refused(Refusal::other_arguments, answered("ask", state, R"({"a":1})"), true);
  refused(Refusal::other_principal, answered("ask", state), true, "X-Caller: bob\r\n");
  refusals.expect(here, Refusal::other_method, here.post("prompts/get", answered("ask", state)), true);
  {
    Instance there(ring, token::Policy(), "there");
    refused(Refusal::other_audience, answered("ask", there.state_of("ask")), true);
    token::Policy none;
    none.rounds_max = 0;
    Instance impatient(ring, none);
    refusals.expect(impatient, Refusal::rounds_exceeded, impatient.call(answered("ask", state)), true);
  }

  here.clock.set(start - minutes(2));
  refused(Refusal::issued_in_future, answered("ask", state), true);
  here.clock.set(start);
  const std::string brief = here.state_of("ask_briefly");
  const std::string short_lived = here.state_of("ask_shortly");
  here.clock.advance(seconds(30));
  refused(Refusal::flow_expired, answered("ask_briefly", brief), true);
  here.clock.advance(seconds(30));
  refused(Refusal::expired, answered("ask_shortly", short_lived), true);
  EXPECT_NE(here.call(answered("ask", state)).find("done"), std::string::npos) << "others live on";

  const std::string once = here.state_of("ask_once");
  here.store_away = true;
  refused(Refusal::unavailable, answered("ask_once", once), true);
  here.store_away = false;
  EXPECT_NE(here.call(answered("ask_once", once)).find("done"), std::string::npos);
  refused(Refusal::already_used, answered("ask_once", once), true);

  // A state sealed under another revision: made by hand, with the same ring.
  token::Sealer sealer(std::make_shared<token::NativeCodec>(ring, here.clock, system_entropy()),
                       token::Policy(), here.clock, system_entropy());
  token::Binding binding;
  binding.method = "tools/call";
  binding.target = "ask";
  binding.arguments = sha256(as_bytes("{}"));
  binding.audience = "here";
  binding.principal = Principal::authenticated("alice");
  binding.protocol_version = "2027-01-01";
  const std::string later = sealer.seal_now(binding, sealer.begin_flow(), {}).value();
  refused(Refusal::other_version, answered("ask", later), true);

  std::vector<KeyEntry> entries;
  entries.push_back(token::generate_key("k2", KeyStage::seal, start, system_entropy()));
  KeyEntry old;
  old.id = "k1";
  old.secret = ring->current()->sealing().secret().clone();
  old.stage = KeyStage::retire;
  old.retires_at = start;
  entries.push_back(std::move(old));
  ring->replace(KeyRing::make(std::move(entries)).value());
  refused(Refusal::key_retired, answered("ask", state), false);

  ASSERT_EQ(refusals.responses().size(), static_cast<std::size_t>(Refusal::unavailable) + 1) << "all of them";
  const std::string& one = refusals.responses().begin()->second;
  EXPECT_NE(one.find("Invalid or expired requestState"), std::string::npos) << one;
  for (const auto& [refusal, response] : refusals.responses()) {
    EXPECT_EQ(response, one) << to_string(refusal);
  }
}

// The client cannot make series in the metrics: a key id that no ring has is in the log alone.
TEST(ServedState, AKeyIdThatNobodyHasIsNoLabel) {
  Instance here(new_ring("k1"));
  here.call(answered("ask", "sg1.made-up.AAAA"));
  EXPECT_EQ(here.told.logged().at("key_id"), "made-up");
  const std::string counted = here.told.counted();
  EXPECT_NE(counted.find("reason=\"unknown_key\""), std::string::npos) << counted;
  EXPECT_NE(counted.find("key_id=\"\""), std::string::npos) << counted;
}

TEST(ServedState, ABrokenRingFileLeavesTheOldRingInForceWhileServing) {
  std::string folder = std::filesystem::temp_directory_path() / "signet-served-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/ring.json";
  std::vector<KeyEntry> entries;
  entries.push_back(token::generate_key("k1", KeyStage::seal, start, system_entropy()));
  ASSERT_TRUE(keys::create_ring_file(path, entries).ok());
  Operator told;
  const std::shared_ptr<keys::FileRing> ring =
      keys::FileRing::open(path, told.log(), std::chrono::milliseconds(1)).value();
  const auto until_told = [&told](const std::string& event) {
    while (!told.was_told(event)) std::this_thread::yield();
  };
  {
    Instance here(ring);
    const std::string state = here.state_of("ask");
    std::ofstream(path) << "{";
    until_told("key_ring_not_reloaded");
    EXPECT_NE(here.call(answered("ask", state)).find("done"), std::string::npos);
    EXPECT_TRUE(here.state_of("ask").starts_with("sg1.k1."));

    // A good one comes into force, and the states of the old key still open.
    const std::string fresh = folder + "/fresh.json";
    ASSERT_TRUE(keys::rotate(entries, keys::RotationStep::accept, start, keys::RotationTimes(), "k2",
                             system_entropy())
                    .ok());
    ASSERT_TRUE(keys::rotate(entries, keys::RotationStep::seal, start + minutes(1), keys::RotationTimes(),
                             std::nullopt, system_entropy())
                    .ok());
    ASSERT_TRUE(keys::create_ring_file(fresh, entries).ok());
    std::filesystem::rename(fresh, path);
    until_told("key_ring_reloaded");
    EXPECT_TRUE(here.state_of("ask").starts_with("sg1.k2."));
    EXPECT_NE(here.call(answered("ask", state)).find("done"), std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace signet
