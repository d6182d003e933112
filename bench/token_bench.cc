// What sealing and opening a state costs, beside the raw XAES-256-GCM of the same contexts.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <signet/base/clock.h>
#include <signet/base/digest.h>
#include <signet/base/entropy.h>
#include <signet/token/aead.h>
#include <signet/token/base64url.h>
#include <signet/token/codec.h>
#include <signet/token/key_ring.h>
#include <signet/token/sealer.h>

#include "allocations.h"

namespace signet::token {
namespace {

// A server's ring and clock. The keys' ids are as long as the ones `signet keys` makes.
struct Setting {
  explicit Setting(int keys) {
    std::vector<KeyEntry> entries;
    for (int i = 0; i < keys; ++i) {
      const std::string id = "2026-11-29-" + std::to_string(i);
      entries.push_back(
          generate_key(id, i == keys / 2 ? KeyStage::seal : KeyStage::accept, Timestamp(), entropy));
    }
    ring = KeyRing::make(std::move(entries)).value();
    codec = std::make_shared<NativeCodec>(std::make_shared<SharedRing>(ring), clock, entropy);
    sealer = std::make_unique<Sealer>(codec, policy(), clock, entropy);
    binding.method = "tools/call";
    binding.target = "resolve_ticket";
    binding.arguments = sha256(as_bytes(R"({"ticket":4711})"));
    binding.audience = "tickets.example.com";
    binding.principal = Principal::authenticated(R"(["web","https://idp.example.com","alice"])");
    binding.protocol_version = "2026-07-28";
    flow = sealer->begin_flow();
  }

  static Policy policy() {
    Policy policy;
    policy.sealed_bytes_max = policy.accepted_bytes_max = 1 << 20;
    return policy;
  }

  const Clock& clock = system_clock();
  Entropy& entropy = system_entropy();
  std::shared_ptr<const KeyRing> ring;
  std::shared_ptr<NativeCodec> codec;
  std::unique_ptr<Sealer> sealer;
  Binding binding;
  Flow flow;
};

void report(benchmark::State& state, std::size_t allocated) {
  state.counters["allocations"] = static_cast<double>(allocated) / static_cast<double>(state.iterations());
}

// The floor: the same key, the same contexts, nothing else.
void raw_seal(benchmark::State& state) {
  const Setting setting(1);
  Bytes text(static_cast<std::size_t>(state.range(0)), 's');
  const std::array<std::uint8_t, xaes_nonce_bytes> nonce{};
  AeadTag tag;
  const std::size_t before = bench::allocations();
  for (auto _ : state) {
    setting.ring->sealing().request_state_key().seal(nonce, as_bytes("sg1.2026-11-29-0"), text, tag);
    benchmark::DoNotOptimize(tag);
  }
  report(state, bench::allocations() - before);
}

void raw_open(benchmark::State& state) {
  const Setting setting(1);
  const XaesKey& key = setting.ring->sealing().request_state_key();
  Bytes sealed(static_cast<std::size_t>(state.range(0)), 's');
  const std::array<std::uint8_t, xaes_nonce_bytes> nonce{};
  AeadTag tag;
  key.seal(nonce, as_bytes("sg1.2026-11-29-0"), sealed, tag);
  Bytes text(sealed.size());
  const std::size_t before = bench::allocations();
  for (auto _ : state) {
    std::copy(sealed.begin(), sealed.end(), text.begin());
    const bool authentic = key.open(nonce, as_bytes("sg1.2026-11-29-0"), text, tag);
    benchmark::DoNotOptimize(authentic);
  }
  report(state, bench::allocations() - before);
}

void token_seal(benchmark::State& state) {
  const Setting setting(static_cast<int>(state.range(1)));
  const Bytes text(static_cast<std::size_t>(state.range(0)), 's');
  const std::size_t before = bench::allocations();
  for (auto _ : state) {
    Result<std::string> token = setting.sealer->seal_now(setting.binding, setting.flow, text);
    benchmark::DoNotOptimize(token);
  }
  report(state, bench::allocations() - before);
}

void token_open(benchmark::State& state) {
  const Setting setting(static_cast<int>(state.range(1)));
  const Bytes text(static_cast<std::size_t>(state.range(0)), 's');
  const std::string token = setting.sealer->seal_now(setting.binding, setting.flow, text).value();
  const std::size_t before = bench::allocations();
  for (auto _ : state) {
    Result<Opened, Refused> opened = setting.sealer->open_now(token, setting.binding);
    if (!opened) state.SkipWithError("refused");
    benchmark::DoNotOptimize(opened);
  }
  report(state, bench::allocations() - before);
}

// As raw_seal, with a token's nonce and spelling but without claims.
void codec_seal(benchmark::State& state) {
  const Setting setting(1);
  const Bytes text(static_cast<std::size_t>(state.range(0)), 's');
  for (auto _ : state) {
    Result<std::string> token = setting.codec->immediate()->seal_now(text, {});
    benchmark::DoNotOptimize(token);
  }
}

void nonce(benchmark::State& state) {
  std::array<std::uint8_t, xaes_nonce_bytes> bytes;
  for (auto _ : state) {
    system_entropy().fill(bytes);
    benchmark::DoNotOptimize(bytes);
  }
}

void base64url_encode(benchmark::State& state) {
  const Bytes bytes(static_cast<std::size_t>(state.range(0)), 7);
  std::string text(base64url_size(bytes.size()), 'A');
  for (auto _ : state) {
    encode_base64url(bytes, text.data());
    benchmark::DoNotOptimize(text.data());
  }
}

void base64url_decode(benchmark::State& state) {
  const std::string text = encode_base64url(Bytes(static_cast<std::size_t>(state.range(0)), 7));
  Bytes bytes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(decode_base64url(text, bytes));
}

constexpr std::int64_t sizes[] = {100, 500, 4096, 65536};

void each_size(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t size : sizes) benchmark->Arg(size);
}
void each_size_and_ring(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t size : sizes) benchmark->Args({size, 1});
  for (const std::int64_t keys : {10, 100, 1000}) benchmark->Args({500, keys});
}

BENCHMARK(raw_seal)->Apply(each_size);
BENCHMARK(token_seal)->Apply(each_size_and_ring);
BENCHMARK(raw_open)->Apply(each_size);
BENCHMARK(token_open)->Apply(each_size_and_ring);
BENCHMARK(codec_seal)->Arg(500);
BENCHMARK(nonce);
BENCHMARK(base64url_encode)->Arg(528);
BENCHMARK(base64url_decode)->Arg(528);

}  // namespace
}  // namespace signet::token

BENCHMARK_MAIN();
