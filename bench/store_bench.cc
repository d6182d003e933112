// Redemption, claim by claim, in each engine. One client: how long a round waits for its claim. Many: how many claims
// an engine takes when they come together, as they do from a busy server.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <signet/store/loop_for_tests.h>
#include <signet/store/memory.h>
#include <signet/store/redis.h>
#include <signet/store/sqlite.h>

namespace {

using namespace signet;
using namespace signet::store;

token::Claim next_claim() {
  token::Claim claim;
  system_entropy().fill(claim.token);
  claim.expires_at = system_clock().now() + std::chrono::minutes(10);
  return claim;
}

void claims(benchmark::State& state, const Stores& stores) {
  LoopForTests loop;
  const auto together = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    std::vector<Task<Result<token::ClaimOutcome>>> tasks;
    std::size_t done = 0;
    for (std::size_t i = 0; i < together; ++i) {
      tasks.push_back(stores.redemption->claim(next_claim(), loop));
      tasks.back().start([&done] { ++done; });
    }
    while (done < together) loop.run_one();
    for (auto& task : tasks) {
      const auto outcome = task.take();
      if (!outcome.ok() || *outcome != token::ClaimOutcome::won) state.SkipWithError("a claim did not win");
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))).string();
}

void memory(benchmark::State& state) {
  MemoryOptions options;
  options.claims_max = 100'000'000;
  claims(state, memory_stores(system_clock(), options));
}

void sqlite(benchmark::State& state) {
  const std::string path = temporary("signet_bench_sqlite_");
  {
    const auto stores = sqlite_stores(path, system_clock());
    if (!stores) return state.SkipWithError(stores.error().message.c_str());
    claims(state, *stores);
  }
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
}

// A redis-server on a socket of its own, without persistence.
void redis(benchmark::State& state) {
  const std::string socket = temporary("signet_bench_redis_");
  const pid_t server = ::fork();
  if (server == 0) {
    ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--save", "",
             "--logfile", "/dev/null", nullptr);
    ::_exit(127);
  }
  while (!std::filesystem::exists(socket) && ::waitpid(server, nullptr, WNOHANG) == 0)
    std::this_thread::yield();
  if (!std::filesystem::exists(socket)) return state.SkipWithError("there is no redis-server");
  {
    auto address = parse_redis_url("unix://" + socket);
    claims(state, redis_stores(std::move(*address), system_clock(), system_entropy()));
  }
  ::kill(server, SIGTERM);
  ::waitpid(server, nullptr, 0);
  std::filesystem::remove(socket);
}

BENCHMARK(memory)->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(sqlite)->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(redis)->Arg(1)->Arg(64)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
