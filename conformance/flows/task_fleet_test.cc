// Tasks of a fleet, over the engines that processes share: a process is killed, and others answer for its tasks.
#include <gtest/gtest.h>
#include <signal.h>
#include <signet/signet.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <signet/server/test_support.h>
#include <signet/store/testing_engines.h>
#include <signet/token/key_ring.h>

namespace signet {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// All processes make the same key of it.
class Sevens final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override { std::fill(out.begin(), out.end(), std::uint8_t{7}); }
};

std::shared_ptr<token::RingSource> shared_ring() {
  Sevens sevens;
  std::vector<token::KeyEntry> keys;
  keys.push_back(token::generate_key("fleet", token::KeyStage::seal, Timestamp(), sevens));
  return std::make_shared<token::SharedRing>(*token::KeyRing::make(std::move(keys)));
}

Task<ToolResult> confirm(std::string name, Call& call) {
  auto question = form("Delete it?").boolean("confirm");
  ElicitResult answer = co_await call.elicit("confirm", question);
  co_return text((answer.boolean("confirm") ? "deleted by " : "kept by ") + name);
}

// One process of the fleet, as far as its store is concerned: it has a connection of its own.
class Instance {
 public:
  Instance(std::string name, const std::string& engine, std::chrono::milliseconds lease)
      : stores_(engine.starts_with("unix://") ? store::redis_at(engine, system_clock())
                                              : *store::sqlite_stores(engine, system_clock())),
        server_(ServerInfo("fleet", "1"),
                ServerOptions().task_store(stores_.tasks).ring(shared_ring()).tasks(policy(lease))) {
    server_.tool(
        "confirm", "Asks.", [name](Call& call) { return confirm(name, call); },
        ToolOptions().task(TaskSupport::required));
    server_.tool(
        "endless", "Works until it is told to stop.",
        [this](PlainCall& call) {
          ++begun;
          const std::stop_token stop = call.stop_token();
          while (!stop.stop_requested()) std::this_thread::yield();
          stopped = true;
          return text("stopped");
        },
        ToolOptions().task(TaskSupport::required));
  }

  Json begin(std::string_view tool) {
    const Reply created = ask(server_, "tools/call", modern(call_params(tool), with_tasks()));
    EXPECT_EQ(at(created, {"resultType"}), Json("task")) << show(created);
    return at(created, {"taskId"});
  }
  Reply task(const std::string& method, const Json& id, const Json& responses = Json::object()) {
    return ask_task(server_, method, id, responses);
  }
  Reply wait_for(const Json& id, std::string_view status) { return wait_for_task(server_, id, status); }
  Server& server() { return server_; }

  std::atomic<int> begun{0};
  std::atomic<bool> stopped{false};

 private:
  static TaskPolicy policy(std::chrono::milliseconds lease) {
    TaskPolicy policy;
    policy.lease = lease;
    policy.heartbeat = 10ms;
    policy.poll_interval = 10ms;
    return policy;
  }

  store::Stores stores_;
  Server server_;
};

Json said(const Reply& reply) { return at(reply, {"result", "content", "0", "text"}); }

struct Sqlite {
  const char* missing() const { return nullptr; }
  std::string engine() const { return folder.file("tasks.db"); }
  store::Folder folder;
};
struct Redis {
  const char* missing() const { return server.runs() ? nullptr : "there is no redis-server on this machine"; }
  std::string engine() const { return server.url(); }
  store::RedisServer server;
};

template <typename Engine>
class TaskFleet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (shared_.missing() != nullptr) GTEST_SKIP() << shared_.missing();
  }
  std::unique_ptr<Instance> instance(std::string name, std::chrono::milliseconds lease = 1h) {
    return std::make_unique<Instance>(std::move(name), shared_.engine(), lease);
  }
  Engine shared_;
};

class EngineName {
 public:
  template <typename Engine>
  static std::string GetName(int) {
    return std::is_same_v<Engine, Sqlite> ? "sqlite" : "redis";
  }
};
using Engines = ::testing::Types<Sqlite, Redis>;
TYPED_TEST_SUITE(TaskFleet, Engines, EngineName);

TYPED_TEST(TaskFleet, AnswersGoToAnyInstanceAndItsResultIsReadFromAny) {
  const auto a = this->instance("a");
  const auto b = this->instance("b");
  const Json id = a->begin("confirm");
  EXPECT_TRUE(b->wait_for(id, "input_required").ok());
  EXPECT_TRUE(b->task("tasks/update", id, yes()).ok());
  EXPECT_EQ(said(a->wait_for(id, "completed")), Json("deleted by b"));
}

TYPED_TEST(TaskFleet, OneInstanceRunsWhereBothGetTheAnswers) {
  const auto a = this->instance("a");
  const auto b = this->instance("b");
  for (int round = 0; round < 20; ++round) {
    const Json id = a->begin("confirm");
    EXPECT_TRUE(b->wait_for(id, "input_required").ok());
    std::thread other([&b, &id] { EXPECT_TRUE(b->task("tasks/update", id, yes()).ok()); });
    EXPECT_TRUE(a->task("tasks/update", id, yes()).ok());
    other.join();
    const Json text = said(a->wait_for(id, "completed"));
    EXPECT_TRUE(text == Json("deleted by a") || text == Json("deleted by b"));
  }
}

TYPED_TEST(TaskFleet, ACancellationReachesTheInstanceThatRuns) {
  const auto a = this->instance("a");
  const auto b = this->instance("b");
  const Json id = a->begin("endless");
  while (a->begun == 0) std::this_thread::yield();
  EXPECT_TRUE(b->task("tasks/cancel", id).ok());
  while (!a->stopped) std::this_thread::yield();
  EXPECT_EQ(at(a->task("tasks/get", id), {"status"}), Json("cancelled"));
}

TYPED_TEST(TaskFleet, AnswersAndACancellationAtOnceAreBothAcknowledged) {
  const auto a = this->instance("a");
  for (int round = 0; round < 20; ++round) {
    const Json id = a->begin("confirm");
    EXPECT_TRUE(a->wait_for(id, "input_required").ok());
    std::thread other([&a, &id] { EXPECT_TRUE(a->task("tasks/update", id, yes()).ok()); });
    EXPECT_TRUE(a->task("tasks/cancel", id).ok());
    other.join();
    const Json status = at(a->task("tasks/get", id), {"status"});
    EXPECT_TRUE(status == Json("cancelled") || status == Json("completed"));
  }
}

TYPED_TEST(TaskFleet, WhoListensHearsOfOtherInstances) {
  const auto a = this->instance("a");
  const auto b = this->instance("b");
  const Json id = a->begin("confirm");
  EXPECT_TRUE(a->wait_for(id, "input_required").ok());
  ManualExecutor executor;
  Json wanted;
  wanted.set("notifications", Json::object({{"taskIds", Json::array({id})}}));
  Exchanged listening(b->server(), executor,
                      Request(7, "subscriptions/listen", modern(wanted, with_tasks())));
  const auto await_status = [&](std::string_view status) {
    while (listening.outlet.sent.empty() ||
           at(listening.outlet.sent.back().params, {"status"}) != Json(status)) {
      executor.advance(10ms);
      std::this_thread::yield();
    }
  };
  await_status("input_required");
  EXPECT_TRUE(a->task("tasks/update", id, yes()).ok());
  await_status("completed");
  EXPECT_EQ(said(Reply(listening.outlet.sent.back().params)), Json("deleted by a"));
}

TYPED_TEST(TaskFleet, AnInstanceThatEndsLetsGoOfWhatItRuns) {
  const long frames = detail::frames_alive();
  for (int round = 0; round < 20; ++round) {
    auto a = this->instance("a");
    const Json id = a->begin("endless");
    a->begin("confirm");
    a.reset();
    EXPECT_TRUE(this->instance("b")->wait_for(id, "failed").ok());  // long before its lease ends
  }
  EXPECT_EQ(detail::frames_alive(), frames);
}

// Not a test of its own: the process that is killed. It tells the ids of a task that works and one that waits.
TEST(TaskFleetChild, Serves) {
  const char* engine = std::getenv("SIGNET_FLEET_ENGINE");
  const char* ids = std::getenv("SIGNET_FLEET_IDS");
  if (engine == nullptr || ids == nullptr) GTEST_SKIP() << "runs inside the tests of fleets only";
  Instance instance("killed", engine, 500ms);
  const Json working = instance.begin("endless");
  const Json waiting = instance.begin("confirm");
  ASSERT_TRUE(instance.wait_for(waiting, "input_required").ok());
  while (instance.begun == 0) std::this_thread::yield();
  const std::string draft = std::string(ids) + ".draft";
  std::ofstream(draft) << *working.as_string() << " " << *waiting.as_string();
  ASSERT_EQ(std::rename(draft.c_str(), ids), 0);
  while (true) ::pause();
}

TYPED_TEST(TaskFleet, AKilledProcessLeavesWhatWaitsToTheOthersAndWhatWorkedHasFailed) {
  const store::Folder folder;
  const std::string ids = folder.file("ids");
  const pid_t child =
      store::spawn({"/proc/self/exe", "--gtest_filter=TaskFleetChild.*"},
                   {"SIGNET_FLEET_ENGINE=" + this->shared_.engine(), "SIGNET_FLEET_IDS=" + ids});
  ASSERT_GT(child, 0);
  while (!std::filesystem::exists(ids)) {
    ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "the process that was to be killed has ended";
    std::this_thread::yield();
  }
  std::string working;
  std::string waiting;
  std::ifstream(ids) >> working >> waiting;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  const auto b = this->instance("b");
  EXPECT_TRUE(b->task("tasks/update", waiting, yes()).ok());
  EXPECT_EQ(said(b->wait_for(waiting, "completed")), Json("deleted by b"));
  const Reply failed = b->wait_for(working, "failed");
  EXPECT_EQ(at(failed, {"error", "message"}), Json("The server instance that ran the task has ended"));
  EXPECT_EQ(b->begun, 0);
}

}  // namespace
}  // namespace signet
