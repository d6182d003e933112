// Runs a fuzz target without libFuzzer, so that every build tests it: over its corpus, and over a fixed number of inputs
// made from the corpus by a seeded generator. The search for new inputs is tools/fuzz.
//
// When a promise breaks, the input that broke it is written to the working folder as TARGET_replay.input.
// Usage: TARGET_replay [--inputs N] [--seed S] [CORPUS_FILE_OR_FOLDER...]
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

const Input* running = nullptr;
std::FILE* left_behind = nullptr;

// Only calls that a signal handler may make.
void leave_input(int) {
  if (running != nullptr && left_behind != nullptr) {
    [[maybe_unused]] const ssize_t written = ::write(::fileno(left_behind), running->data(), running->size());
  }
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void run(const Input& input) {
  running = &input;
  LLVMFuzzerTestOneInput(input.data(), input.size());
  running = nullptr;
}

std::size_t below(Random& random, std::size_t bound) { return bound == 0 ? 0 : random() % bound; }

Input read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

void read_corpus(const std::filesystem::path& path, std::vector<Input>& corpus) {
  if (!std::filesystem::is_directory(path)) {
    corpus.push_back(read_file(path));
    return;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) corpus.push_back(read_file(entry.path()));
  }
}

// What parsers of text stumble over, besides random bytes.
std::uint8_t telling_byte(Random& random) {
  static constexpr char bytes[] = "{}[]\",:.\\/0129-+eE \r\n\t%=_;<>\0\x7f\x80\xc0\xe0\xf4\xff";
  return static_cast<std::uint8_t>(bytes[below(random, sizeof bytes - 1)]);
}

void mutate(Input& input, const std::vector<Input>& corpus, Random& random) {
  const std::size_t at = below(random, input.size() + 1);
  const std::size_t length = below(random, input.size() - at + 1);
  const auto begin = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(random, 7)) {
    case 0:
      if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1u << below(random, 8));
      break;
    case 1:
      if (at < input.size()) input[at] = telling_byte(random);
      break;
    case 2:
      input.insert(begin, telling_byte(random));
      break;
    case 3:
      input.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
      break;
    case 4: {
      const Input piece(begin, begin + static_cast<std::ptrdiff_t>(length));
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
      break;
    }
    case 5: {
      const Input& other = corpus[below(random, corpus.size())];
      const std::size_t from = below(random, other.size() + 1);
      input.insert(begin, other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
      break;
    }
    default:
      input.insert(begin, below(random, 64), telling_byte(random));
  }
  if (input.size() > 65536) input.resize(65536);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 100'000;
  std::uint64_t seed = 1;
  std::vector<Input> corpus;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--inputs") == 0 && i + 1 < argc) {
      inputs = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::filesystem::exists(argv[i])) {
      read_corpus(argv[i], corpus);
    }
  }
  const std::size_t files = corpus.size();
  if (corpus.empty()) corpus.emplace_back();
  const std::filesystem::path left = std::filesystem::path(argv[0]).filename().string() + ".input";
  left_behind = std::fopen(left.c_str(), "wb");
  std::signal(SIGABRT, leave_input);
  for (const Input& input : corpus) run(input);

  Random random(seed);
  for (std::size_t i = 0; i < inputs; ++i) {
    Input input = corpus[below(random, corpus.size())];
    const std::size_t changes = 1 + below(random, 4);
    for (std::size_t change = 0; change < changes; ++change) mutate(input, corpus, random);
    run(input);
  }
  std::filesystem::remove(left);
  std::cout << files << " files and " << inputs << " inputs of seed " << seed << ", no promise broken\n";
}
