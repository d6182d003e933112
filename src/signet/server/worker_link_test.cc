// Plain functions that tell faster than anybody takes.
#include <signet/server/worker_link.h>

#include <signet/server/server.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace signet {
namespace {

using namespace testing;
using detail::WorkerLink;

Json chatty(std::string_view tool) {
  Json params = modern(call_params(tool));
  params.find("_meta")->set("io.modelcontextprotocol/logLevel", "debug");
  return params;
}

// Counts what it takes.
class CountingOutlet final : public Outlet {
 public:
  void notify(Notification notification) override {
    sent.push_back(std::move(notification));
    ++taken;
  }
  std::vector<Notification> sent;
  std::atomic<std::size_t> taken{0};
};

class PlainFlood : public ::testing::Test {
 protected:
  // Logs `count` messages of that size, whatever the stop token says.
  void offer(std::size_t count, std::size_t bytes) {
    server_.tool("flood", "Floods.", [this, count, bytes](PlainCall& call) {
      for (std::size_t told = 1; told <= count; ++told) {
        call.log("info", std::string(bytes, 'x') + std::to_string(told));
        const std::size_t under_way = told - std::min<std::size_t>(told, outlet_.taken.load());
        if (under_way > most_.load()) most_ = under_way;
      }
      ended_.set_value();
      return text("all told");
    });
  }
  void start() {
    call_ = std::make_unique<Exchanged>(server_, executor_, Request(1, "tools/call", chatty("flood")),
                                        [this](Exchange& exchange) { exchange.outlet = &outlet_; });
  }
  void run_to_the_end() {
    while (!call_->reply) executor_.run_one();
  }

  ManualExecutor executor_;
  CountingOutlet outlet_;
  std::atomic<std::size_t> most_{0};
  std::promise<void> ended_;
  Server server_{ServerInfo("s", "1")};
  std::unique_ptr<Exchanged> call_;
};

TEST_F(PlainFlood, WaitsForTheLoopAndLosesNothing) {
  offer(5'000, 10);
  start();
  run_to_the_end();
  EXPECT_EQ(text_of(*call_->reply), "all told");
  ASSERT_EQ(outlet_.sent.size(), 5'000U);
  for (std::size_t i = 0; i < outlet_.sent.size(); ++i) {
    ASSERT_EQ(at(outlet_.sent[i].params, {"data"}), Json(std::string(10, 'x') + std::to_string(i + 1)));
  }
  EXPECT_LE(most_, WorkerLink::notifications_max + 1);  // and the one that is just being taken
}

TEST_F(PlainFlood, KeepsNoMoreBytesUnderWayThanItsWindow) {
  constexpr std::size_t bytes = 100'000;
  offer(200, bytes);
  start();
  run_to_the_end();
  EXPECT_EQ(outlet_.sent.size(), 200U);
  EXPECT_LE(most_, WorkerLink::bytes_max / bytes + 1);
}

TEST_F(PlainFlood, MayTellWhatIsLargerThanTheWindow) {
  offer(3, 2 * WorkerLink::bytes_max);
  start();
  run_to_the_end();
  EXPECT_EQ(outlet_.sent.size(), 3U);
  EXPECT_LE(most_, 2U);
  EXPECT_EQ(text_of(*call_->reply), "all told");
}

TEST_F(PlainFlood, HandsOverAFewATurnSoThatOthersGetTheirs) {
  offer(1'000, 10);
  start();
  std::size_t most_in_a_turn = 0;
  while (!call_->reply) {
    const std::size_t before = outlet_.taken;
    executor_.run_one();
    most_in_a_turn = std::max(most_in_a_turn, outlet_.taken - before);
  }
  EXPECT_EQ(outlet_.taken, 1'000U);
  EXPECT_LE(most_in_a_turn, WorkerLink::turn_max);
}

TEST_F(PlainFlood, IsReleasedAtOnceWhenTheClientIsGone) {
  offer(1'000, 10);
  start();
  while (outlet_.taken == 0) executor_.run_one();
  call_->drop();
  const std::size_t taken = outlet_.taken;
  ended_.get_future().wait();  // though nobody runs the loop any more
  executor_.run();
  EXPECT_EQ(outlet_.taken, taken);
  EXPECT_FALSE(call_->reply);
}

TEST(WorkerLinkTest, WaitsWhileThePeerIsBehindAndGoesOnWhenItHasRead) {
  ManualExecutor executor;
  RecordingOutlet outlet;
  const auto link = std::make_shared<WorkerLink>(executor, outlet);
  bool ended = false;
  outlet.behind = true;
  link->notify(Notification("n", Json::object()));
  link->end([&ended] { ended = true; });
  executor.run();
  executor.advance(10 * WorkerLink::pause);
  EXPECT_TRUE(outlet.sent.empty());
  EXPECT_FALSE(ended);

  outlet.behind = false;
  executor.advance(WorkerLink::pause);
  EXPECT_EQ(outlet.sent.size(), 1U);
  EXPECT_TRUE(ended);
  link->close();
}

TEST(WorkerLinkTest, TellsNothingAfterTheEnd) {  // S60
  ManualExecutor executor;
  RecordingOutlet outlet;
  const auto link = std::make_shared<WorkerLink>(executor, outlet);
  int ended = 0;
  link->notify(Notification("before", Json::object()));
  link->end([&ended] { ++ended; });
  link->notify(Notification("after", Json::object()));
  link->end([&ended] { ++ended; });
  executor.run();
  ASSERT_EQ(outlet.sent.size(), 1U);
  EXPECT_EQ(outlet.sent[0].method, "before");
  EXPECT_EQ(ended, 1);
  link->close();
}

}  // namespace
}  // namespace signet
