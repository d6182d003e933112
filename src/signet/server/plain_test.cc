// Handlers that are plain functions, and what handlers tell while they run.
#include <signet/server/server.h>

#include <signet/protocol/errors.h>
#include <signet/server/test_support.h>
#include <signet/server/worker_pool.h>

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace signet {
namespace {

using namespace testing;

struct Steps {
  int steps;
};

template <typename Done>
void run_until(ManualExecutor& executor, Done done) {
  while (!done()) {
    executor.run();
    std::this_thread::yield();
  }
}

Json with_meta(Json params, std::string_view meta) {
  params.set("_meta", parsed(meta));
  return modern(params);
}

TEST(PlainFunction, MayReturnALiteral) {
  Server server(ServerInfo("s", "1"));
  server.tool("hello", "Hello.", [] { return "hello"; });
  ManualExecutor executor;
  Exchanged told(server, executor, Request(1, "tools/call", modern(call_params("hello", "{}"))));
  run_until(executor, [&told] { return told.reply.has_value(); });
  EXPECT_EQ(text_of(*told.reply), "hello");
  EXPECT_EQ((*told.reply)->find("structuredContent"), nullptr);
}

TEST(PlainFunction, TellsItsProgressInOrderBeforeTheReply) {  // B22, S29, S58, S59
  Server server(ServerInfo("s", "1"));
  server.tool("steps", "Steps.", [](PlainCall& call, Steps args) {
    for (int i = 1; i <= args.steps; ++i) call.progress(i, args.steps);
    call.progress(1, args.steps);  // not larger than before: not sent
    call.log("info", "done");
    return text("steps:" + std::to_string(args.steps));
  });
  ManualExecutor executor;
  Exchanged told(
      server, executor,
      Request(1, "tools/call", with_meta(call_params("steps", R"({"steps":3})"), R"({"progressToken":0})")));
  run_until(executor, [&told] { return told.reply.has_value(); });
  EXPECT_EQ(text_of(*told.reply), "steps:3");
  ASSERT_EQ(told.outlet.sent.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(told.outlet.sent[static_cast<std::size_t>(i)].method, "notifications/progress");
    EXPECT_EQ(at(told.outlet.sent[static_cast<std::size_t>(i)].params, {"progressToken"}), Json(0));
    EXPECT_EQ(at(told.outlet.sent[static_cast<std::size_t>(i)].params, {"progress"}), Json(i + 1));
  }
  Exchanged untold(server, executor,
                   Request(1, "tools/call", modern(call_params("steps", R"({"steps":3})"))));
  run_until(executor, [&untold] { return untold.reply.has_value(); });
  EXPECT_TRUE(untold.outlet.sent.empty());
}

TEST(Handler, LogsOnlyFromTheLevelThatTheRequestSets) {  // S79, S80
  Server server(ServerInfo("s", "1"));
  server.tool("log_it", "Logs.", [](Call& call) -> Task<ToolResult> {
    call.log("warning", "fixture-log");
    co_return text("logged");
  });
  const auto count = [&server](std::string_view meta) {
    ManualExecutor executor;
    Exchanged call(server, executor, Request(1, "tools/call", with_meta(call_params("log_it"), meta)));
    return call.outlet.sent.size();
  };
  EXPECT_EQ(count("{}"), 0U);
  EXPECT_EQ(count(R"({"io.modelcontextprotocol/logLevel":"info"})"), 1U);
  EXPECT_EQ(count(R"({"io.modelcontextprotocol/logLevel":"warning"})"), 1U);
  EXPECT_EQ(count(R"({"io.modelcontextprotocol/logLevel":"error"})"), 0U);
}

TEST(PlainFunction, IsToldToStopAndReachesNobodyOnceTheClientIsGone) {  // S21, S31, S60
  Server server(ServerInfo("s", "1"));
  std::promise<void> begun;
  std::promise<bool> stopped;
  server.tool("slow", "Slow.", [&begun, &stopped](PlainCall& call) {
    begun.set_value();
    const std::stop_token stop = call.stop_token();
    while (!stop.stop_requested()) std::this_thread::yield();
    call.progress(1);
    stopped.set_value(true);
    return text("never seen");
  });
  ManualExecutor executor;
  Exchanged slow(server, executor,
                 Request(1, "tools/call", with_meta(call_params("slow"), R"({"progressToken":1})")));
  begun.get_future().wait();
  slow.drop();
  EXPECT_TRUE(stopped.get_future().get());
  executor.run();
  EXPECT_TRUE(slow.outlet.sent.empty());
  EXPECT_FALSE(slow.reply);
}

TEST(PlainFunction, IsToldToStopWhenTheClientCancels) {
  Server server(ServerInfo("s", "1"));
  server.tool("slow", "Slow.", [](PlainCall& call) {
    const std::stop_token stop = call.stop_token();
    while (!stop.stop_requested()) std::this_thread::yield();
    return text("stopped");
  });
  ManualExecutor executor;
  Exchanged slow(server, executor, Request(1, "tools/call", modern(call_params("slow"))));
  slow.stop.request_stop();
  run_until(executor, [&slow] { return slow.reply.has_value(); });
  EXPECT_EQ(text_of(*slow.reply), "stopped");
}

TEST(PlainFunction, IsRefusedWhereAllThreadsAreBusyAndTheQueueIsFull) {
  Server server(ServerInfo("s", "1"), ServerOptions().worker_threads(1, 1));
  std::promise<void> begun;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> calls{0};
  server.tool("blocks", "Blocks.", [&begun, &calls, released] {
    if (++calls == 1) begun.set_value();
    released.wait();
    return text("done");
  });
  ManualExecutor executor;
  Exchanged running(server, executor, Request(1, "tools/call", modern(call_params("blocks"))));
  begun.get_future().wait();
  Exchanged waiting(server, executor, Request(2, "tools/call", modern(call_params("blocks"))));
  Exchanged refused(server, executor, Request(3, "tools/call", modern(call_params("blocks"))));
  ASSERT_TRUE(refused.reply);
  EXPECT_EQ(refused.reply->error().code, protocol::internal_error);
  EXPECT_EQ(refused.reply->error().message, "The server is busy");
  release.set_value();
  run_until(executor, [&] { return running.reply && waiting.reply; });
  EXPECT_EQ(text_of(*running.reply), "done");
  EXPECT_EQ(text_of(*waiting.reply), "done");
}

TEST(PlainFunction, DoesNotHoldUpCoroutines) {
  Server server(ServerInfo("s", "1"));
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  server.tool("blocks", "Blocks.", [released] {
    released.wait();
    return text("slow");
  });
  server.tool("fast", "Fast.", [](Call&) -> Task<ToolResult> { co_return text("fast"); });
  ManualExecutor executor;
  std::vector<std::unique_ptr<Exchanged>> blocked;
  for (int i = 0; i < 24; ++i) {
    blocked.push_back(std::make_unique<Exchanged>(server, executor,
                                                  Request(i, "tools/call", modern(call_params("blocks")))));
  }
  EXPECT_EQ(text_of(testing::ask(server, "tools/call", modern(call_params("fast")))), "fast");
  release.set_value();
  run_until(executor, [&blocked] {
    return std::all_of(blocked.begin(), blocked.end(),
                       [](const auto& call) { return call->reply.has_value(); });
  });
}

TEST(PlainFunction, OfATaskIsToldToStopWhenTheServerGoes) {
  std::promise<void> begun;
  std::atomic<bool> stopped{false};
  {
    Server server(ServerInfo("s", "1"));
    server.tool(
        "slow", "Slow.",
        [&begun, &stopped](PlainCall& call) {
          begun.set_value();
          const std::stop_token stop = call.stop_token();
          while (!stop.stop_requested()) std::this_thread::yield();
          stopped = true;
          return text("never read");
        },
        ToolOptions().task(TaskSupport::required));
    EXPECT_EQ(
        at(testing::ask(server, "tools/call", modern(call_params("slow"), with_tasks())), {"resultType"}),
        Json("task"));
    begun.get_future().wait();
  }
  EXPECT_TRUE(stopped);
}

TEST(WorkerPool, SaysWhatItWaitsFor) {
  using std::chrono::milliseconds;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::size_t functions = 0;
  {
    detail::WorkerPool pool(
        2, 2,
        [&functions, &release](std::size_t still) {
          functions = still;
          release.set_value();
        },
        milliseconds(0));
    std::promise<void> begun;
    EXPECT_TRUE(pool.submit([&begun, released] {
      begun.set_value();
      released.wait();
    }));
    begun.get_future().wait();
  }
  EXPECT_EQ(functions, 1U);
  bool told = false;
  {
    const detail::WorkerPool idle(2, 2, [&told](std::size_t) { told = true; }, milliseconds(0));
  }
  EXPECT_FALSE(told);
}

TEST(WorkerPool, RunsEverythingOnAtMostItsThreads) {
  std::atomic<int> at_once{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  {
    detail::WorkerPool pool(3, 1000);
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(pool.submit([&] {
        const int now = ++at_once;
        int seen = most.load();
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --at_once;
        ++done;
      }));
    }
    while (done < 200) std::this_thread::yield();
  }
  EXPECT_LE(most, 3);
  EXPECT_EQ(done, 200);
}

}  // namespace
}  // namespace signet
