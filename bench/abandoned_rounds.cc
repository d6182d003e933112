// What calls leave behind that ask something and are never finished: nothing, since the state travels with the client.
//   abandoned_rounds [COUNT]     a million by default; fails where the process has grown by more than a mebibyte
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <signet/base/task.h>
#include <signet/server/call.h>
#include <signet/server/server.h>

namespace {

using namespace signet;

constexpr long warm_up = 10'000;
constexpr long grown_bytes_max = 1 << 20;

struct Ticket {
  int ticket;
};

Task<ToolResult> resolve(Call& call, Ticket input) {
  auto how = form("How was it resolved?").choice("resolution", {"Fixed", "Won't fix", "Duplicate"});
  ElicitResult answer = co_await call.elicit("resolution", how);
  co_return text(std::to_string(input.ticket) + answer.string("resolution"));
}

// A call that asks waits for nothing, so there is nothing to run.
class NoExecutor final : public Executor {
 public:
  void post(std::function<void()>) override { std::abort(); }
  std::shared_ptr<void> post_after(std::chrono::milliseconds, std::function<void()>) override {
    std::abort();
  }
};

class NoOutlet final : public Outlet {
 public:
  void notify(Notification) override {}
  Task<Reply> request(std::string, Json) override { std::abort(); }
};

// One first round; its state is thrown away. False where nothing was asked.
bool abandon(Server& server, long number) {
  Json capabilities;
  capabilities.set("elicitation", Json::object());
  Json meta;
  meta.set("io.modelcontextprotocol/protocolVersion", "2026-07-28");
  meta.set("io.modelcontextprotocol/clientCapabilities", std::move(capabilities));
  Json arguments;
  arguments.set("ticket", static_cast<std::int64_t>(number));
  Json params;
  params.set("name", "resolve");
  params.set("arguments", std::move(arguments));
  params.set("_meta", std::move(meta));

  NoExecutor executor;
  NoOutlet outlet;
  Exchange exchange;
  exchange.executor = &executor;
  exchange.outlet = &outlet;
  Task<Reply> task = server.call(
      Request(Json(static_cast<std::int64_t>(number)), "tools/call", std::move(params)), exchange);
  task.start([] {});
  if (!task.finished()) return false;
  const Reply reply = task.take();
  return reply.ok() && reply->contains("requestState");
}

long resident_bytes() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  Server server(ServerInfo("tickets", "1"));
  server.tool("resolve", "Resolves a ticket.", resolve);
  long before = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < warm_up + count; ++i) {
    if (i == warm_up) before = resident_bytes();
    if (!abandon(server, i)) return std::cerr << "call " << i << " asked nothing\n", 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const long after = resident_bytes();
  std::cout << count << " abandoned rounds: resident before " << before / 1024 << " KiB, after "
            << after / 1024 << " KiB, coroutine frames alive " << detail::frames_alive() << ", "
            << took.count() * 1e6 / static_cast<double>(warm_up + count) << " us a round\n";
  return after - before > grown_bytes_max ? 1 : 0;
}
