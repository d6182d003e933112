// The tasks extension (io.modelcontextprotocol/tasks): calls that go on after their reply.
#include <chrono>
#include <string>
#include <thread>

#include "everything_server/parts.h"

namespace everything {
namespace {

using signet::Call;
using signet::ElicitResult;
using signet::PlainCall;
using signet::Server;
using signet::Task;
using signet::TaskStart;
using signet::TaskSupport;
using signet::ToolOptions;
using signet::ToolResult;

struct Person {
  std::string name;
};
struct Work {
  double seconds = 1;
  std::string label = "work";
};
struct File {
  std::string filename;
};

// Sleeps in slices, so that a cancelled task ends soon.
void sleep_for(PlainCall& call, double seconds) {
  const std::stop_token stop = call.stop_token();
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

ToolResult greet(Person person) { return signet::text("Hello, " + person.name + "!"); }

ToolResult slow_compute(PlainCall& call, Work work) {
  sleep_for(call, work.seconds);
  return signet::text("Computed " + work.label + ".");
}

ToolResult failing_job(PlainCall& call) {
  sleep_for(call, 1);
  return signet::error("The job failed, as it should.");
}

ToolResult protocol_error_job() {
  return signet::Fault(-32603, "The job ended in a protocol error, as it should.");
}

Task<ToolResult> confirm_delete(Call& call, File file) {
  auto question = signet::form("Delete " + file.filename + "?").boolean("confirm");
  ElicitResult answer = co_await call.elicit("confirm", question);
  co_return signet::text(answer.boolean("confirm") ? "Deleted " + file.filename + "."
                                                   : "Nothing was deleted.");
}

Task<ToolResult> multi_input(Call& call) {
  auto first =
      call.elicit("first", signet::form("The first value?").string("value", signet::Field().optional()));
  auto second =
      call.elicit("second", signet::form("The second value?").string("value", signet::Field().optional()));
  auto [one, two] = co_await signet::all(first, second);
  co_return signet::text("Got " + one.string("value") + " and " + two.string("value") + ".");
}

// Asks in a round of its own, then goes on as a task.
Task<ToolResult> tool_with_task(Call& call) {
  auto question = signet::form("What is your name?").string("name");
  ElicitResult who = co_await call.elicit("user_name", question);
  co_await call.start_task();
  co_return signet::text("Hello, " + who.string("name") + "!");
}

}  // namespace

void add_task_tools(Server& server) {
  server.tool("greet", "Greets; never a task.", greet);
  server.tool("slow_compute", "Sleeps; a task where it can be one.", slow_compute,
              ToolOptions().task(TaskSupport::optional));
  server.tool("failing_job", "A task that ends in a failure of the tool.", failing_job,
              ToolOptions().task(TaskSupport::required));
  server.tool("protocol_error_job", "A task that ends in an error.", protocol_error_job,
              ToolOptions().task(TaskSupport::required));
  server.tool("confirm_delete", "A task that asks.", confirm_delete,
              ToolOptions().task(TaskSupport::required));
  server.tool("multi_input", "A task that asks two things at once.", multi_input,
              ToolOptions().task(TaskSupport::required));
  server.tool("test_tool_with_task", "Asks first, then becomes a task.", tool_with_task,
              ToolOptions().task(TaskSupport::optional, TaskStart::by_handler));
}

}  // namespace everything
