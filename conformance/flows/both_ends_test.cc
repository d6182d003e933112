// A server and its client in one program, with nothing between them but Service.
#include <signet/client/client.h>
#include <signet/client/wait.h>
#include <signet/signet.h>
#include <signet/transport/event_loop.h>

#include <gtest/gtest.h>

namespace {

struct Guest {
  std::string name;
};

signet::Task<signet::ToolResult> welcome(signet::Call& call) {
  signet::Elicited<Guest> guest = co_await call.elicit<Guest>("guest", "Who is it?");
  if (!guest.accepted()) co_return signet::text("Nobody.");
  co_return signet::text("Welcome, " + guest->name + "!");
}

TEST(BothEnds, TalkInOneProgram) {
  signet::Server server(signet::ServerInfo("inn", "1"));
  server.tool("welcome", "Welcomes.", welcome);
  server.resource("inn://menu", "Menu", [] { return signet::ResourceContents::text("soup"); });

  signet::EventLoop loop;
  signet::ClientOptions options;
  options.on_form = signet::answer_with([](const signet::Question& question) {
    EXPECT_EQ(question.message(), "Who is it?");
    return signet::Answer::accept(signet::Json::object({{"name", "Ada"}}));
  });
  signet::Client client(server, loop.executor(), options);
  const auto outcome = signet::wait(loop.executor(), client.call_tool("welcome", signet::Json()));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->text(), "Welcome, Ada!");
  const signet::Called<signet::ReadResourceResult> menu =
      signet::wait(loop.executor(), client.read_resource("inn://menu"));
  ASSERT_TRUE(menu.ok()) << menu.error().message;
  EXPECT_EQ(*menu->contents.front().find_string("text"), "soup");
}

}  // namespace
