#include <signet/base/entropy.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <signet/base/bytes.h>

namespace signet {
namespace {

using Nonce = std::array<std::uint8_t, 24>;

Nonce draw() {
  Nonce nonce{};
  system_entropy().fill(nonce);
  return nonce;
}

TEST(Entropy, NeverRepeatsItselfOverManyBatchesAndThreads) {
  std::set<Nonce> seen;
  std::mutex mutex;
  const auto draw_many = [&seen, &mutex] {
    std::vector<Nonce> mine(20'000);
    for (Nonce& nonce : mine) nonce = draw();
    const std::lock_guard lock(mutex);
    seen.insert(mine.begin(), mine.end());
  };
  std::thread other(draw_many);
  draw_many();
  other.join();
  EXPECT_EQ(seen.size(), 40'000u);
}

TEST(Entropy, FillsEverySizeToTheLastByte) {
  for (const std::size_t size : {0u, 1u, 31u, 1023u, 1024u, 1025u, 5000u}) {
    Bytes ored(size);
    for (int i = 0; i < 16; ++i) {
      Bytes bytes(size);
      system_entropy().fill(bytes);
      for (std::size_t k = 0; k < size; ++k) ored[k] |= bytes[k];
    }
    for (const std::uint8_t byte : ored) EXPECT_NE(byte, 0) << size;
  }
}

TEST(Entropy, LooksEvenlySpread) {
  // A sanity check of the plumbing (zeros, a stuck batch), not of the cipher: 800 000 bits, half of them set
  // within ten standard deviations.
  Bytes bytes(100'000);
  system_entropy().fill(bytes);
  long bits = 0;
  for (const std::uint8_t byte : bytes) bits += __builtin_popcount(byte);
  EXPECT_NEAR(static_cast<double>(bits), 400'000.0, 10 * 447.2);
}

// Reads what a child draws after the parent has drawn.
std::vector<Nonce> drawn_by_child(std::size_t count) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      const Nonce nonce = draw();
      if (::write(ends[1], nonce.data(), nonce.size()) != static_cast<ssize_t>(nonce.size())) ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<Nonce> nonces(count);
  for (Nonce& nonce : nonces) {
    std::size_t have = 0;
    while (have < nonce.size()) {
      const ssize_t got = ::read(ends[0], nonce.data() + have, nonce.size() - have);
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return nonces;
}

TEST(Entropy, AChildNeverRepeatsItsParentOrItsSibling) {
  std::set<Nonce> seen = {draw()};
  const std::vector<Nonce> first = drawn_by_child(100);
  const std::vector<Nonce> second = drawn_by_child(100);
  seen.insert(first.begin(), first.end());
  seen.insert(second.begin(), second.end());
  for (int i = 0; i < 100; ++i) seen.insert(draw());
  EXPECT_EQ(seen.size(), 301u);
}

}  // namespace
}  // namespace signet
