// The engines of the stores, as the tests open them, and what they run on.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <signet/store/memory.h>
#include <signet/store/redis.h>
#include <signet/store/sqlite.h>

extern char** environ;

namespace signet::store {

inline const Timestamp start{std::chrono::milliseconds(1'790'000'000'000)};

// Not random, and different for each number; spread over all bytes as the ids of tokens are.
inline token::TokenId id_of(std::uint32_t number) {
  const Digest digest = sha256(as_bytes(std::to_string(number)));
  token::TokenId id{};
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

class NoEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override { std::fill(out.begin(), out.end(), std::uint8_t{0}); }
};
inline NoEntropy no_entropy;

// A directory that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "signet_store_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline pid_t spawn(std::vector<std::string> words, const std::vector<std::string>& environment = {}) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? child : -1;
}

// A redis-server on a socket of its own, which ends with the test.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {}) : options_(std::move(options)) { launch(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() { kill_it(); }

  bool runs() const { return process_ > 0; }
  std::string url() const { return "unix://" + folder_.file("socket"); }
  void launch() {
    std::vector<std::string> words = {
        "redis-server", "--port", "0",     "--unixsocket",  folder_.file("socket"), "--save", "",
        "--appendonly", "no",     "--dir", folder_.file("")};
    words.insert(words.end(), options_.begin(), options_.end());
    process_ = spawn(std::move(words));
    while (runs() && !listens()) {
      if (::waitpid(process_, nullptr, WNOHANG) != 0) process_ = -1;
      std::this_thread::yield();
    }
  }
  // It stays, and answers nothing.
  void stop() const { ::kill(process_, SIGSTOP); }
  void kill_it() {
    if (!runs()) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    std::filesystem::remove(folder_.file("socket"));
    process_ = -1;
  }

 private:
  // The file of the socket is there before anybody listens on it.
  bool listens() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    folder_.file("socket").copy(address.sun_path, sizeof address.sun_path - 1);
    const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool accepted = ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(client);
    return accepted;
  }

  Folder folder_;
  std::vector<std::string> options_;
  pid_t process_ = -1;
};

inline Stores redis_at(const std::string& url, const Clock& clock, RedisOptions options = RedisOptions()) {
  auto address = parse_redis_url(url);
  return redis_stores(std::move(*address), clock, no_entropy, std::move(options));
}

struct Memory {
  static Stores open(Memory&, const Clock& clock, const Limits& limits) {
    MemoryOptions options;
    options.limits = limits;
    return memory_stores(clock, options);
  }
  const char* missing() const { return nullptr; }
};
struct Sqlite {
  static Stores open(Sqlite& self, const Clock& clock, const Limits& limits) {
    SqliteOptions options;
    options.limits = limits;
    return *sqlite_stores(self.folder.file("claims.db"), clock, options);
  }
  const char* missing() const { return nullptr; }
  Folder folder;
};
struct Redis {
  static Stores open(Redis& self, const Clock& clock, const Limits& limits) {
    RedisOptions options;
    options.limits = limits;
    return redis_at(self.server.url(), clock, options);
  }
  const char* missing() const { return server.runs() ? nullptr : "there is no redis-server on this machine"; }
  RedisServer server;
};

using Engines = ::testing::Types<Memory, Sqlite, Redis>;
class EngineName {
 public:
  template <typename Engine>
  static std::string GetName(int) {
    if (std::is_same_v<Engine, Memory>) return "memory";
    return std::is_same_v<Engine, Sqlite> ? "sqlite" : "redis";
  }
};

}  // namespace signet::store
