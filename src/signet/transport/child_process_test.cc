#include <signet/transport/child_process.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <atomic>
#include <mutex>
#include <stdexcept>

#include <gtest/gtest.h>

#include <signet/protocol/transport_failure.h>

namespace signet {
namespace {

using protocol::TransportFailure;
using namespace std::chrono_literals;

class Deaf final : public Outlet {
 public:
  void notify(Notification) override {}
};

// A shell that plays the server.
class ChildProcessTest : public ::testing::Test {
 protected:
  void start(const std::string& script) {
    auto started = ChildProcess::start(loop, {"/bin/sh", "-c", script}, options);
    ASSERT_TRUE(started.ok()) << started.error().message;
    child = std::move(*started);
  }

  static Task<Reply> called(ChildProcess& process, Request request, Exchange& exchange) {
    const Task<Reply> calling = process.call(std::move(request), exchange);
    Reply reply = co_await calling;
    co_return reply;
  }

  Exchange exchange() {
    Exchange around;
    around.outlet = &outlet;
    around.executor = &loop.executor();
    return around;
  }

  Reply call(const std::string& script, std::string method = "tools/call") {
    start(script);
    return wait_for(Request(1, std::move(method), Json::object()));
  }

  Reply wait_for(Request request) {
    Exchange around = exchange();
    Task<Reply> task = called(*child, std::move(request), around);
    std::promise<Reply> result;
    loop.executor().post([&] {
      task.start([&] {
        Reply reply = task.take();
        task = Task<Reply>();
        result.set_value(std::move(reply));
      });
    });
    return result.get_future().get();
  }

  EventLoop loop;
  ChildProcessOptions options;
  Deaf outlet;
  std::unique_ptr<ChildProcess> child;
};

constexpr const char* answer = R"(printf '{"jsonrpc":"2.0","id":1,"result":{"a":1}}\n')";

TEST_F(ChildProcessTest, FindsTheAnswerBetweenJunkBlanksAndOtherAnswers) {
  std::string logged;
  std::mutex mutex;
  options.log = [&](LogLevel, std::string_view event, std::initializer_list<LogField>) {
    const std::lock_guard lock(mutex);
    logged += std::string(event) + "\n";
  };
  const Reply reply = call(
      "read l; echo banner; echo; echo '{oops'; printf '{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\\n';"
      "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"re'; printf 'sult\":{\"a\":1}}\\r\\n'; cat > /dev/null");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(*reply, Json::object({{"a", 1}}));
  const std::lock_guard lock(mutex);
  EXPECT_NE(logged.find("junk_on_stdout"), std::string::npos);
  EXPECT_NE(logged.find("reply_ignored"), std::string::npos);
}

TEST_F(ChildProcessTest, ALogThatThrowsEndsNothing) {
  std::atomic<int> lines{0};
  options.log = [&](LogLevel, std::string_view, std::initializer_list<LogField>) {
    ++lines;
    throw std::runtime_error("log");
  };
  EXPECT_TRUE(call(std::string("read l; echo banner; ") + answer + "; cat > /dev/null").ok());
  EXPECT_GE(lines, 1);
}

TEST_F(ChildProcessTest, SaysHowTheProcessEnded) {
  const Reply exited = call("read l; exit 3");
  ASSERT_FALSE(exited.ok());
  EXPECT_EQ(exited.error().message, "the server process exited with status 3");
  EXPECT_EQ(protocol::transport_failure(exited.error())->kind, TransportFailure::Kind::closed);
  const Reply killed = call("read l; kill -9 $$");
  ASSERT_FALSE(killed.ok());
  EXPECT_EQ(killed.error().message, "the server process was killed by signal 9");
}

TEST_F(ChildProcessTest, TakesTheLastWordsOfAProcessThatHasGone) {
  const Reply reply = call(std::string("read l; ") + answer + "; exit 0");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
}

constexpr const char* tells_environment =
    R"(read l; printf '{"jsonrpc":"2.0","id":1,"result":{"token":"%s","ring":"%s","other":"%s"}}\n' )"
    R"("$SIGNET_TOKEN" "$SIGNET_RING" "$OF_THE_TEST")";

TEST_F(ChildProcessTest, TheChildGetsNoSecretOfOurs) {
  ::setenv("SIGNET_TOKEN", "secret", 1);
  ::setenv("OF_THE_TEST", "here", 1);
  const Reply reply = call(tells_environment);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(*reply, Json::object({{"token", ""}, {"ring", ""}, {"other", "here"}}));
}

TEST_F(ChildProcessTest, TheChildGetsWhatItIsGivenByName) {
  ::setenv("SIGNET_TOKEN", "secret", 1);
  ::setenv("OF_THE_TEST", "here", 1);
  options.environment = {{"SIGNET_RING", "ring.json"}, {"OF_THE_TEST", "there"}};
  const Reply reply = call(tells_environment);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(*reply, Json::object({{"token", ""}, {"ring", "ring.json"}, {"other", "there"}}));
}

TEST_F(ChildProcessTest, AProgramThatIsNotThereIsAnErrorAtOnce) {
  EXPECT_FALSE(ChildProcess::start(loop, {"/nonexistent/program"}).ok());
  EXPECT_FALSE(ChildProcess::start(loop, {}).ok());
}

TEST_F(ChildProcessTest, AProgramThatOnlyRepeatsIsNoServer) {
  const Reply reply = call("cat", "server/discover");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(protocol::transport_failure(reply.error())->kind, TransportFailure::Kind::not_mcp);
}

TEST_F(ChildProcessTest, GivesUpALineThatIsTooLong) {
  options.line_bytes_max = 1000;
  const Reply reply = call("read l; head -c 5000 /dev/zero | tr '\\0' x; cat > /dev/null");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(protocol::transport_failure(reply.error())->kind, TransportFailure::Kind::too_large);
}

TEST_F(ChildProcessTest, KeepsTheNewestOfStandardError) {
  options.standard_error = ChildProcessOptions::Stderr::capture;
  options.stderr_bytes_max = 100;
  const Reply reply = call(std::string("read l; head -c 300000 /dev/zero | tr '\\0' e >&2; echo end >&2; ") +
                           answer + "; cat > /dev/null");
  ASSERT_TRUE(reply.ok());
  child.reset();
}

// The server's input holds one request and nothing else: no answer to what a modern server may not ask, no word about
// garbage, no cancellation of what is done.
TEST_F(ChildProcessTest, WritesNothingButItsOwnMessages) {  // C8 C9 C16 C32
  const std::string seen = std::filesystem::temp_directory_path() / ("seen" + std::to_string(::getpid()));
  const Reply reply =
      call("read l; echo garbage; printf '{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"ping\"}\\n'; " +
           std::string(answer) + "; printf '%s\\n' \"$l\" > " + seen + "; cat >> " + seen);
  ASSERT_TRUE(reply.ok());
  child.reset();
  std::ifstream file(seen);
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::filesystem::remove(seen);
  EXPECT_EQ(all, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}\n");
}

class Listener final : public Outlet {
 public:
  void notify(Notification notification) override { heard.push_back(std::move(notification.method)); }
  std::vector<std::string> heard;
};

TEST_F(ChildProcessTest, NotificationsOfASubscriptionGoToItAlone) {  // C10
  start(
      "read a; read b; for id in 1 2 2 3; do printf "
      "'{\"jsonrpc\":\"2.0\",\"method\":\"n/%s\",\"params\":{\"_meta\":"
      "{\"io.modelcontextprotocol/subscriptionId\":%s}}}\\n' $id $id; done; for id in 1 2; do printf "
      "'{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\\n' $id; done; cat > /dev/null");
  std::array<Listener, 2> listeners;
  std::vector<Exchange> around(2, exchange());
  std::vector<Task<Reply>> running;
  std::promise<void> done;
  int ended = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    around[i].outlet = &listeners[i];
    const int id = static_cast<int>(i) + 1;
    running.push_back(called(*child, Request(id, "subscriptions/listen", Json::object()), around[i]));
  }
  loop.executor().post([&] {
    for (Task<Reply>& one : running) {
      one.start([&] {
        if (++ended == 2) done.set_value();
      });
    }
  });
  done.get_future().wait();
  std::promise<void> dropped;
  loop.executor().post([&] {
    running.clear();
    dropped.set_value();
  });
  dropped.get_future().wait();
  EXPECT_EQ(listeners[0].heard, (std::vector<std::string>{"n/1"}));
  EXPECT_EQ(listeners[1].heard, (std::vector<std::string>{"n/2", "n/2"}));
}

TEST_F(ChildProcessTest, InheritsNoDescriptor) {
  const std::string marker = std::filesystem::temp_directory_path() / ("marker" + std::to_string(::getpid()));
  const int open = ::open(marker.c_str(), O_RDWR | O_CREAT, 0600);  // without O_CLOEXEC
  ASSERT_GE(open, 0);
  const Reply reply =
      call("read l; n=$(ls -l /proc/$$/fd | grep -c " + marker +
           "); printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":%d}}\\n' $n; cat > /dev/null");
  ::close(open);
  std::filesystem::remove(marker);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(*reply, Json::object({{"n", 0}}));
}

TEST_F(ChildProcessTest, EndsAProcessThatIgnoresEverything) {
  options.step_max = 20ms;
  ASSERT_TRUE(call(std::string("trap '' TERM; read l; ") + answer + "; while :; do sleep 1; done").ok());
  const int pid = child->process_id();
  child.reset();
  EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(pid)));
}

TEST_F(ChildProcessTest, DroppingACallCancelsItByName) {  // C11, C32
  start("read l; read c; case $c in *notifications/cancelled*'\"requestId\":1'*) exit 42;; esac; exit 1");
  Exchange around = exchange();
  Task<Reply> first = called(*child, Request(1, "tools/call", Json::object()), around);
  std::promise<Reply> result;
  Task<Reply> second;
  loop.executor().post([&] {
    first.start([] {});
    first = Task<Reply>();
    second = called(*child, Request(2, "tools/call", Json::object()), around);
    second.start([&] {
      Reply reply = second.take();
      second = Task<Reply>();
      result.set_value(std::move(reply));
    });
  });
  const Reply reply = result.get_future().get();
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().message, "the server process exited with status 42");
}

TEST_F(ChildProcessTest, SendsNothingButItsRequestsEvenWhenItIsAsked) {  // C8, C9
  start(
      "read l; printf '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\\n'; "
      "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\\n'; read next; "
      "case $next in *'\"id\":2'*'\"method\":\"tools/call\"'*) "
      "printf '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"clean\":true}}\\n';; esac; cat > /dev/null");
  ASSERT_TRUE(wait_for(Request(1, "tools/call", Json::object())).ok());
  const Reply second = wait_for(Request(2, "tools/call", Json::object()));
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(*second, Json::object({{"clean", true}}));
}

class Hearing final : public Outlet {
 public:
  void notify(Notification notification) override { heard.push_back(std::move(notification.method)); }
  std::vector<std::string> heard;
};

TEST_F(ChildProcessTest, NotificationsGoToTheSubscriptionTheyName) {  // C10
  start(
      "read a; read b; printf '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/two\",\"params\":{\"_meta\":"
      "{\"io.modelcontextprotocol/subscriptionId\":2}}}\\n'; "
      "printf '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/one\",\"params\":{\"_meta\":"
      "{\"io.modelcontextprotocol/subscriptionId\":1}}}\\n'; "
      "printf "
      "'{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\\n'; "
      "cat > /dev/null");
  Hearing first;
  Hearing second;
  Exchange around_first = exchange();
  Exchange around_second = exchange();
  around_first.outlet = &first;
  around_second.outlet = &second;
  Task<Reply> one = called(*child, Request(1, "subscriptions/listen", Json::object()), around_first);
  Task<Reply> two = called(*child, Request(2, "subscriptions/listen", Json::object()), around_second);
  std::promise<void> over;
  loop.executor().post([&] {
    one.start([&one] { one = Task<Reply>(); });
    two.start([&two, &over] {
      two = Task<Reply>();
      over.set_value();
    });
  });
  over.get_future().wait();
  EXPECT_EQ(first.heard, std::vector<std::string>{"notifications/one"});
  EXPECT_EQ(second.heard, std::vector<std::string>{"notifications/two"});
}

}  // namespace
}  // namespace signet
