// How often sealing and opening allocate. The counting operator new serves this whole test program.
// ThreadSanitizer brings one of its own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIGNET_UNDER_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define SIGNET_UNDER_TSAN
#endif

#ifndef SIGNET_UNDER_TSAN
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include <signet/token/codec.h>
#include <signet/token/sealer.h>

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

// Not inlined, or g++ takes malloc under new for a mistake.
__attribute__((noinline)) void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace signet::token {
namespace {

TEST(Allocations, SealingAndOpeningAllocateNothingButTheResult) {
  ManualClock clock{Timestamp(std::chrono::milliseconds(1'790'000'000'000))};
  std::vector<KeyEntry> entries;
  entries.push_back(generate_key("2026-11-29", KeyStage::seal, clock.now(), system_entropy()));
  const auto rings = std::make_shared<SharedRing>(KeyRing::make(std::move(entries)).value());
  Sealer sealer(std::make_shared<NativeCodec>(rings, clock, system_entropy()), Policy(), clock,
                system_entropy());
  Binding binding;
  binding.method = "tools/call";
  binding.target = std::string(100, 't');
  binding.principal = Principal::authenticated(std::string(100, 'p'));
  const Flow flow = sealer.begin_flow();
  const Bytes state(4000, 's');
  // The first use on a thread makes its contexts.
  const std::string token = sealer.seal_now(binding, flow, state).value();
  ASSERT_TRUE(sealer.open_now(token, binding).ok());

  std::size_t before = allocations;
  const Result<std::string> sealed = sealer.seal_now(binding, flow, state);
  EXPECT_EQ(allocations - before, 1u);
  before = allocations;
  const Result<Opened, Refused> opened = sealer.open_now(token, binding);
  EXPECT_EQ(allocations - before, 1u);
  EXPECT_TRUE(sealed.ok() && opened.ok());

  std::string forged = token;
  forged.back() = forged.back() == 'A' ? 'E' : 'A';
  before = allocations;
  const Result<Opened, Refused> refused = sealer.open_now(forged, binding);
  EXPECT_LE(allocations - before, 1u) << "a refusal costs no more memory than the token's own size";
  EXPECT_FALSE(refused.ok());
}

}  // namespace
}  // namespace signet::token
#endif
