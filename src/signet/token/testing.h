// What the tests of this room share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/task.h>

namespace signet::token::testing {

inline Bytes unhex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// Repeatable bytes for tests; the same seed gives the same bytes.
class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : random_(seed) {}
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(random_());
  }

 private:
  std::mt19937_64 random_;
};

// Gives the bytes it was given, once.
class FixedEntropy final : public Entropy {
 public:
  explicit FixedEntropy(Bytes bytes) : bytes_(std::move(bytes)) {}
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = bytes_.at(used_++);
  }

 private:
  Bytes bytes_;
  std::size_t used_ = 0;
};

// An executor for tasks that never wait: nothing may be posted to it.
class NoExecutor final : public Executor {
 public:
  void post(std::function<void()>) override { std::abort(); }
  std::shared_ptr<void> post_after(std::chrono::milliseconds, std::function<void()>) override {
    std::abort();
  }
};

// The result of a task that does not wait for anything outside.
template <typename T>
T run(Task<T> task) {
  bool done = false;
  task.start([&done] { done = true; });
  if (!done) std::abort();
  return task.take();
}

// A file of `name: value` lines in blocks divided by empty lines; `#` begins a comment.
using Block = std::map<std::string, std::string>;
inline std::vector<Block> read_blocks(const std::string& path) {
  std::ifstream file(path);
  std::vector<Block> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) inside = false;
    const std::size_t colon = line.find(": ");
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    if (!inside) blocks.emplace_back();
    inside = true;
    blocks.back()[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return blocks;
}

}  // namespace signet::token::testing
