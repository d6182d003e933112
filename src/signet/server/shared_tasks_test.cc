// Tasks in a store that several instances share: each Server here is one of them.
#include <signet/server/call.h>
#include <signet/server/server.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include <signet/protocol/errors.h>
#include <signet/token/key_ring.h>
#include <signet/token/task_store.h>

namespace signet {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// One instance's way to the store, which can be cut: then the instance is dead to the others.
class Wire final : public token::TaskStore {
 public:
  explicit Wire(std::shared_ptr<token::TaskStore> store) : store_(std::move(store)) {}
  std::atomic<bool> is_cut{false};
  std::atomic<int> renewals{0};

  Task<Result<token::TaskWritten>> create(token::TaskCreation creation, Executor& executor) override {
    if (is_cut) return away<token::TaskWritten>();
    return store_->create(std::move(creation), executor);
  }
  Task<Result<std::optional<token::StoredTask>>> get(token::TaskKey key, Executor& executor) override {
    if (is_cut) return away<std::optional<token::StoredTask>>();
    return store_->get(key, executor);
  }
  Task<Result<token::TaskWritten>> replace(token::TaskChange change, Executor& executor) override {
    if (is_cut) return away<token::TaskWritten>();
    return store_->replace(std::move(change), executor);
  }
  Task<Result<token::TaskWritten>> renew(token::TaskKey key, std::uint64_t revision, Timestamp lease_until,
                                         Timestamp expires_at, Executor& executor) override {
    ++renewals;
    if (is_cut) return away<token::TaskWritten>();
    return store_->renew(key, revision, lease_until, expires_at, executor);
  }

 private:
  template <typename T>
  static Task<Result<T>> away() {
    co_return failure("The store is away.");
  }
  std::shared_ptr<token::TaskStore> store_;
};

// A store whose owner reads along, and puts values where they do not belong.
class GlassStore final : public token::TaskStore {
 public:
  std::map<token::TaskKey, token::StoredTask> records;  // used from one thread at a time, under `mutex`
  std::mutex mutex;

  Task<Result<token::TaskWritten>> create(token::TaskCreation creation, Executor&) override {
    const std::lock_guard lock(mutex);
    token::StoredTask& task = records[creation.key];
    task.value = std::move(creation.value);
    task.revision = 1;
    task.lease_until = creation.lease_until;
    co_return token::TaskWritten::done;
  }
  Task<Result<std::optional<token::StoredTask>>> get(token::TaskKey key, Executor&) override {
    const std::lock_guard lock(mutex);
    const auto found = records.find(key);
    co_return found == records.end() ? std::optional<token::StoredTask>() : std::optional(found->second);
  }
  Task<Result<token::TaskWritten>> replace(token::TaskChange change, Executor&) override {
    const std::lock_guard lock(mutex);
    token::StoredTask& task = records[change.key];
    if (task.revision != change.revision) co_return token::TaskWritten::changed;
    task.value = std::move(change.value);
    task.lease_until = change.lease_until;
    ++task.revision;
    co_return token::TaskWritten::done;
  }
  Task<Result<token::TaskWritten>> renew(token::TaskKey key, std::uint64_t revision, Timestamp lease_until,
                                         Timestamp, Executor&) override {
    const std::lock_guard lock(mutex);
    token::StoredTask& task = records[key];
    if (task.revision != revision) co_return token::TaskWritten::changed;
    task.lease_until = lease_until;
    co_return token::TaskWritten::done;
  }
};

Task<ToolResult> confirm(std::atomic<int>& acts, std::string name, Call& call) {
  auto question = form("Delete the secret file?").boolean("confirm");
  ElicitResult answer = co_await call.elicit("confirm", question);
  ++acts;
  co_return text((answer.boolean("confirm") ? "deleted by " : "kept by ") + name);
}

class Instance {
 public:
  Instance(std::string name, std::shared_ptr<token::TaskStore> store, std::shared_ptr<token::RingSource> ring,
           const Clock& clock, TaskPolicy policy)
      : wire(std::make_shared<Wire>(std::move(store))),
        server(ServerInfo("fleet", "1"),
               ServerOptions().task_store(wire).ring(std::move(ring)).clock(clock).tasks(policy)) {
    server.tool(
        "confirm", "Asks.", [this, name](Call& call) { return confirm(acts, name, call); },
        ToolOptions().task(TaskSupport::required));
    server.tool(
        "endless", "Works until it is told to stop.",
        [this](PlainCall& call) {
          ++begun;
          const std::stop_token stop = call.stop_token();
          while (!stop.stop_requested() && !may_end) std::this_thread::yield();
          stopped = stop.stop_requested();
          return text("done all the same");
        },
        ToolOptions().task(TaskSupport::required));
    server.tool(
        "large", "Says much.", [] { return std::string(std::size_t{256} << 10, 'x'); },
        ToolOptions().task(TaskSupport::required));
  }

  std::shared_ptr<Wire> wire;
  std::atomic<int> acts{0};
  std::atomic<int> begun{0};
  std::atomic<bool> may_end{false};
  std::atomic<bool> stopped{false};
  Server server;
};

class SharedTasksTest : public ::testing::Test {
 protected:
  SharedTasksTest() { policy_.heartbeat = 1ms; }

  std::unique_ptr<Instance> instance(std::string name) {
    return std::make_unique<Instance>(std::move(name), store_, ring_, clock_, policy_);
  }
  static Reply call(Instance& on, std::string_view tool, const Principal& principal = Principal::local()) {
    return ask(on.server, "tools/call", modern(call_params(tool), with_tasks()),
               [&principal](Exchange& exchange) { exchange.principal = principal; });
  }
  static Json begin(Instance& on, std::string_view tool) { return at(call(on, tool), {"taskId"}); }
  static Reply task(Instance& on, const std::string& method, const Json& id,
                    const Json& responses = Json::object(), const Principal& principal = Principal::local()) {
    return ask_task(on.server, method, id, responses,
                    [&principal](Exchange& exchange) { exchange.principal = principal; });
  }
  static Reply wait_for(Instance& on, const Json& id, std::string_view status,
                        const Principal& principal = Principal::local()) {
    return wait_for_task(on.server, id, status,
                         [&principal](Exchange& exchange) { exchange.principal = principal; });
  }
  static Json said(const Reply& reply) { return at(reply, {"result", "content", "0", "text"}); }
  // Until so many heartbeats were sent from now on.
  static void await_heartbeats(const Instance& of, int count) {
    const int until = of.wire->renewals + count;
    while (of.wire->renewals < until) std::this_thread::yield();
  }

  ManualClock clock_{Timestamp(1'800'000'000'000ms)};
  TaskPolicy policy_;
  std::shared_ptr<token::TaskStore> store_ =
      token::memory_task_store(clock_, std::size_t{64} << 20, std::size_t{128} << 10);
  std::shared_ptr<token::RingSource> ring_ = token::ephemeral_ring(system_entropy());
};

TEST_F(SharedTasksTest, EachInstanceAnswersForATask) {
  const auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "confirm");
  const Reply asking = wait_for(*b, id, "input_required");
  EXPECT_EQ(at(asking, {"inputRequests", "confirm", "method"}), Json("elicitation/create"));
  EXPECT_TRUE(task(*a, "tasks/update", id, yes()).ok());
  EXPECT_EQ(said(wait_for(*b, id, "completed")), Json("deleted by a"));
  EXPECT_EQ(task(*b, "tasks/get", id)->find("result")->find("content")->as_array()->size(), 1U);
}

TEST_F(SharedTasksTest, AnswersAreTakenWhereverTheyComeAlsoAfterARestart) {
  auto a = instance("a");
  const Json id = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, id, "input_required").ok());
  a.reset();
  const auto b = instance("b");
  EXPECT_EQ(at(task(*b, "tasks/get", id), {"status"}), Json("input_required"));
  // What does not fit is asked for again by whoever got it.
  EXPECT_TRUE(task(*b, "tasks/update", id, parsed(R"({"confirm":{"action":"accept","content":{}}})")).ok());
  const auto c = instance("c");
  EXPECT_TRUE(
      task(*c, "tasks/update", id, parsed(R"({"confirm~2":{"action":"accept","content":{"confirm":true}}})"))
          .ok());
  EXPECT_EQ(said(wait_for(*b, id, "completed")), Json("deleted by c"));
  EXPECT_EQ(b->acts + c->acts, 1);
}

TEST_F(SharedTasksTest, OfTwoInstancesThatGetTheAnswersOneRuns) {
  const auto a = instance("a");
  const auto b = instance("b");
  for (int round = 0; round < 50; ++round) {
    a->acts = b->acts = 0;
    const Json id = begin(*a, "confirm");
    EXPECT_TRUE(wait_for(*a, id, "input_required").ok());
    std::thread other([&b, &id] { EXPECT_TRUE(task(*b, "tasks/update", id, yes()).ok()); });
    EXPECT_TRUE(task(*a, "tasks/update", id, yes()).ok());
    other.join();
    const Reply done = wait_for(*a, id, "completed");
    ASSERT_EQ(a->acts + b->acts, 1);
    ASSERT_EQ(said(done), Json(a->acts == 1 ? "deleted by a" : "deleted by b"));
  }
}

TEST_F(SharedTasksTest, ATaskWhoseInstanceDiedHasFailedAndIsNotRunAgain) {
  auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "endless");
  while (a->begun == 0) std::this_thread::yield();
  a->wire->is_cut = true;
  a.reset();
  clock_.advance(policy_.lease - 1ms);
  EXPECT_EQ(at(task(*b, "tasks/get", id), {"status"}), Json("working"));
  clock_.advance(1ms);
  const Reply failed = task(*b, "tasks/get", id);
  EXPECT_EQ(at(failed, {"status"}), Json("failed")) << show(failed);
  EXPECT_EQ(at(failed, {"error"}),
            parsed(R"({"code":-32603,"message":"The server instance that ran the task has ended"})"));
  EXPECT_EQ(b->begun, 0);
  EXPECT_TRUE(task(*b, "tasks/update", id, yes()).ok());
  EXPECT_EQ(at(task(*b, "tasks/get", id), {"status"}), Json("failed"));
}

TEST_F(SharedTasksTest, AnInstanceThatEndsLetsGoOfWhatItRuns) {
  auto a = instance("a");
  const auto b = instance("b");
  const Json working = begin(*a, "endless");
  const Json waiting = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, waiting, "input_required").ok());
  while (a->begun == 0) std::this_thread::yield();
  a.reset();
  EXPECT_EQ(at(task(*b, "tasks/get", working), {"status"}), Json("failed"));
  EXPECT_EQ(at(task(*b, "tasks/get", waiting), {"status"}), Json("input_required"));
}

TEST_F(SharedTasksTest, AnInstanceThatWasTakenForDeadWritesNothingAndStops) {
  const auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "endless");
  while (a->begun == 0) std::this_thread::yield();
  a->wire->is_cut = true;
  await_heartbeats(*a, 2);  // one may have gone through
  clock_.advance(policy_.lease);
  EXPECT_EQ(at(task(*b, "tasks/get", id), {"status"}), Json("failed"));
  while (!a->stopped) std::this_thread::yield();
  a->wire->is_cut = false;
  EXPECT_EQ(at(task(*a, "tasks/get", id), {"status"}), Json("failed"));
}

TEST_F(SharedTasksTest, HeartbeatsKeepATaskAlive) {
  const auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "endless");
  for (int i = 0; i < 10; ++i) {
    clock_.advance(policy_.lease - 1ms);
    await_heartbeats(*a, 3);  // the second begins after the clock moved, and has ended when the third begins
    ASSERT_EQ(at(task(*b, "tasks/get", id), {"status"}), Json("working"));
  }
  a->may_end = true;
  EXPECT_EQ(said(wait_for(*b, id, "completed")), Json("done all the same"));
}

TEST_F(SharedTasksTest, ACancellationElsewhereStopsTheRunAtTheNextHeartbeat) {
  const auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "endless");
  while (a->begun == 0) std::this_thread::yield();
  EXPECT_TRUE(task(*b, "tasks/cancel", id).ok());
  while (!a->stopped) std::this_thread::yield();
  EXPECT_EQ(at(task(*a, "tasks/get", id), {"status"}), Json("cancelled"));
  EXPECT_EQ(at(task(*b, "tasks/get", id), {"status"}), Json("cancelled"));
}

TEST_F(SharedTasksTest, AResultIsWrittenWhenTheStoreIsBack) {
  const auto a = instance("a");
  const Json id = begin(*a, "endless");
  while (a->begun == 0) std::this_thread::yield();
  a->wire->is_cut = true;
  const Reply away = task(*a, "tasks/get", id);
  ASSERT_FALSE(away.ok());
  EXPECT_EQ(away.error().code, protocol::internal_error);
  a->may_end = true;
  await_heartbeats(*a, 50);
  a->wire->is_cut = false;
  EXPECT_EQ(said(wait_for(*a, id, "completed")), Json("done all the same"));
}

TEST_F(SharedTasksTest, WithoutTheStoreNothingBegins) {
  const auto a = instance("a");
  a->wire->is_cut = true;
  const Reply refused = call(*a, "endless");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, protocol::internal_error);
  EXPECT_EQ(a->begun, 0);
}

TEST_F(SharedTasksTest, AClientThatLeavesDuringItsUpdateDoesNotStopTheTask) {
  const auto a = instance("a");
  const Json id = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, id, "input_required").ok());
  {
    ManualExecutor executor;
    Json params;
    params.set("taskId", id);
    params.set("inputResponses", yes());
    Exchanged updating(a->server, executor, Request(1, "tasks/update", modern(params, with_tasks())));
    updating.drop();
  }
  EXPECT_EQ(said(wait_for(*a, id, "completed")), Json("deleted by a"));
}

TEST_F(SharedTasksTest, AnInstanceWithoutTheToolLeavesTheTaskToTheOthers) {
  const auto a = instance("a");
  const auto b = instance("b");
  EXPECT_TRUE(b->server.remove_tool("confirm"));
  const Json id = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, id, "input_required").ok());
  EXPECT_FALSE(task(*b, "tasks/update", id, yes()).ok());
  EXPECT_EQ(at(task(*b, "tasks/get", id), {"status"}), Json("input_required"));
  EXPECT_TRUE(task(*a, "tasks/update", id, yes()).ok());
  EXPECT_EQ(said(wait_for(*b, id, "completed")), Json("deleted by a"));
}

TEST_F(SharedTasksTest, ATaskBelongsToItsPrincipalOnEachInstance) {  // X18
  const auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*b, id, "input_required").ok());
  for (const Principal& other :
       {Principal::anonymous(), Principal::authenticated("eve"), Principal::authenticated("")}) {
    for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
      const Reply reply = task(*b, method, id, yes(), other);
      ASSERT_FALSE(reply.ok());
      EXPECT_EQ(reply.error().code, protocol::invalid_params);
    }
  }
  EXPECT_EQ(at(task(*a, "tasks/get", id), {"status"}), Json("input_required"));
}

TEST_F(SharedTasksTest, ThereAreNoMoreTasksThanTheLimitsSayAndForgottenOnesDoNotCount) {
  policy_.tasks_max = 3;
  policy_.principal_tasks_max = 2;
  const auto a = instance("a");
  const auto b = instance("b");
  const Principal alice = Principal::authenticated("alice");
  const Principal bob = Principal::authenticated("bob");
  const auto taken = [](Instance& on, const Principal& principal) {
    const Reply created = call(on, "confirm", principal);
    return created.ok() && wait_for(on, at(created, {"taskId"}), "input_required", principal).ok();
  };
  EXPECT_TRUE(taken(*a, alice));
  EXPECT_TRUE(taken(*b, alice));
  const Reply third = call(*b, "confirm", alice);
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, protocol::internal_error);
  EXPECT_TRUE(taken(*b, bob));
  EXPECT_FALSE(call(*a, "confirm", bob).ok());
  clock_.advance(policy_.kept);
  EXPECT_TRUE(taken(*a, alice));
  EXPECT_TRUE(taken(*a, bob));
}

TEST_F(SharedTasksTest, AResultThatIsTooLargeToBeKeptFailsTheTask) {
  const auto a = instance("a");
  const Reply failed = wait_for(*a, begin(*a, "large"), "failed");
  EXPECT_EQ(at(failed, {"error", "code"}), Json(protocol::internal_error)) << show(failed);
}

class SealedTasksTest : public SharedTasksTest {
 protected:
  SealedTasksTest() { store_ = glass_; }
  std::shared_ptr<GlassStore> glass_ = std::make_shared<GlassStore>();
};

TEST_F(SealedTasksTest, WhoHasTheStoreReadsNothingOfIt) {
  const auto a = instance("a");
  const Json id = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, id, "input_required").ok());
  ASSERT_EQ(glass_->records.size(), 1U);
  const auto& [key, kept] = *glass_->records.begin();
  const std::string value(as_text(kept.value));
  EXPECT_TRUE(value.starts_with("sg1."));
  for (const std::string& word : {*id.as_string(), std::string("secret"), std::string("confirm")}) {
    EXPECT_EQ(value.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(id.as_string()->find(hex(key)), std::string::npos);
  EXPECT_EQ(hex(key).find(*id.as_string()), std::string::npos);
}

TEST_F(SealedTasksTest, OnlyTheSameRingAndTheSameServiceOpenATask) {
  const auto a = instance("a");
  const Json id = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, id, "input_required").ok());
  const auto stranger =
      std::make_unique<Instance>("c", store_, token::ephemeral_ring(system_entropy()), clock_, policy_);
  EXPECT_FALSE(task(*stranger, "tasks/get", id).ok());
  EXPECT_FALSE(task(*stranger, "tasks/update", id, yes()).ok());
  Server other(ServerInfo("other service", "1"),
               ServerOptions().task_store(store_).ring(ring_).clock(clock_));
  other.tool("confirm", "Asks.", [] { return std::string(); }, ToolOptions().task(TaskSupport::required));
  Json params;
  params.set("taskId", id);
  EXPECT_FALSE(ask(other, "tasks/get", modern(params, with_tasks())).ok());
  EXPECT_TRUE(task(*a, "tasks/get", id).ok());
}

TEST_F(SealedTasksTest, ATaskThatWasChangedOrPutInAnothersPlaceIsRefused) {
  const auto a = instance("a");
  const Json first = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, first, "input_required").ok());
  const token::TaskKey first_key = glass_->records.begin()->first;
  const Json second = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, second, "input_required").ok());
  ASSERT_EQ(glass_->records.size(), 2U);
  for (auto& [key, kept] : glass_->records) {
    if (key != first_key) kept = glass_->records[first_key];
  }
  EXPECT_TRUE(task(*a, "tasks/get", first).ok());
  EXPECT_FALSE(task(*a, "tasks/get", second).ok());
  glass_->records[first_key].value.back() ^= 1;
  EXPECT_FALSE(task(*a, "tasks/get", first).ok());
}

TEST_F(SealedTasksTest, AKeptTaskIsNoRequestState) {
  const auto a = instance("a");
  EXPECT_TRUE(wait_for(*a, begin(*a, "confirm"), "input_required").ok());
  Json params = call_params("confirm");
  params.set("requestState", as_text(glass_->records.begin()->second.value));
  params.set("inputResponses", yes());
  const Reply refused = ask(a->server, "tools/call", modern(params, with_tasks()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, protocol::invalid_params);
  EXPECT_EQ(a->acts, 0);
}

TEST_F(SharedTasksTest, WhoListensHearsOfChangesOnOtherInstances) {
  const auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "confirm");
  EXPECT_TRUE(wait_for(*a, id, "input_required").ok());
  ManualExecutor executor;
  Json wanted;
  wanted.set("notifications", Json::object({{"taskIds", Json::array({id})}}));
  Exchanged listening(b->server, executor, Request(7, "subscriptions/listen", modern(wanted, with_tasks())));
  const auto await_status = [&](std::string_view status) {
    while (at(listening.outlet.sent.back().params, {"status"}) != Json(status)) {
      executor.advance(policy_.poll_interval);
      std::this_thread::yield();
    }
  };
  await_status("input_required");
  EXPECT_TRUE(task(*a, "tasks/update", id, yes()).ok());
  await_status("completed");
  EXPECT_EQ(at(listening.outlet.sent.back().params, {"result", "content", "0", "text"}),
            Json("deleted by a"));
  const std::size_t told = listening.outlet.sent.size();
  EXPECT_GE(told, 3U);  // what lay between two looks is not told
  executor.advance(policy_.poll_interval);
  EXPECT_EQ(listening.outlet.sent.size(), told);
}

TEST_F(SharedTasksTest, WhoListensHearsOfADeath) {
  auto a = instance("a");
  const auto b = instance("b");
  const Json id = begin(*a, "endless");
  ManualExecutor executor;
  Json wanted;
  wanted.set("notifications", Json::object({{"taskIds", Json::array({id})}}));
  Exchanged listening(b->server, executor, Request(7, "subscriptions/listen", modern(wanted, with_tasks())));
  ASSERT_EQ(listening.outlet.sent.size(), 2U);
  EXPECT_EQ(at(listening.outlet.sent.back().params, {"status"}), Json("working"));
  a->wire->is_cut = true;
  a.reset();
  clock_.advance(policy_.lease);
  executor.advance(policy_.poll_interval);
  ASSERT_EQ(listening.outlet.sent.size(), 3U);
  EXPECT_EQ(at(listening.outlet.sent.back().params, {"status"}), Json("failed"));
}

}  // namespace
}  // namespace signet
