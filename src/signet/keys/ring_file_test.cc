#include <signet/keys/ring_file.h>

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <signet/keys/ring_text.h>
#include <signet/keys/rotation.h>

namespace signet::keys {
namespace {

using token::KeyEntry;
using token::KeyRing;
using token::KeyStage;

constexpr Timestamp now{std::chrono::milliseconds(1'790'000'000'000)};
// Nobody waits for it in these tests: they look themselves.
constexpr std::chrono::hours never{10'000};

std::vector<KeyEntry> one_key(const std::string& id) {
  std::vector<KeyEntry> entries;
  entries.push_back(token::generate_key(id, KeyStage::seal, now, system_entropy()));
  return entries;
}

struct RingFileTest : ::testing::Test {
  RingFileTest() {
    std::string name = std::filesystem::temp_directory_path() / "signet-ring-XXXXXX";
    folder = ::mkdtemp(name.data());
    path = folder / "ring.json";
  }
  ~RingFileTest() override { std::filesystem::remove_all(folder); }

  std::string unfinished() const { return folder / ".ring.json.unfinished"; }
  // As another program would put it there: at once.
  void put(const std::vector<KeyEntry>& entries) {
    const std::string fresh = folder / "fresh";
    ASSERT_TRUE(create_ring_file(fresh, entries).ok());
    std::filesystem::rename(fresh, path);
  }
  void put_text(const std::string& text) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
  }
  LogSink log() {
    return [this](LogLevel, std::string_view event, std::initializer_list<LogField>) {
      events.emplace_back(event);
    };
  }

  std::filesystem::path folder;
  std::string path;
  std::vector<std::string> events;
};

TEST_F(RingFileTest, IsCreatedForItsOwnerAloneAndNeverOverwritten) {
  ASSERT_TRUE(create_ring_file(path, one_key("a")).ok());
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(read_ring_file(path).value()->sealing().id(), "a");
  EXPECT_FALSE(create_ring_file(path, one_key("b")).ok());
  EXPECT_EQ(read_ring_file(path).value()->sealing().id(), "a");
}

TEST_F(RingFileTest, IsRefusedWhereGroupOrOthersMayReadOrWriteIt) {
  put(one_key("a"));
  for (const mode_t mode : {0604, 0620, 0602, 0660, 0666, 0644, 0601, 0610, 0650}) {
    ::chmod(path.c_str(), mode);
    EXPECT_FALSE(read_ring_file(path).ok()) << std::oct << mode;
    EXPECT_FALSE(read_ring_file(path, RingReader::administrator).ok()) << std::oct << mode;
  }
  for (const mode_t mode : {0600, 0400}) {
    ::chmod(path.c_str(), mode);
    EXPECT_TRUE(read_ring_file(path).ok()) << std::oct << mode;
  }
}

// What a process of another user and other groups finds of files that root makes for it.
struct UsersOfRingFiles : RingFileTest {
  static constexpr uid_t service = 54'321, somebody = 54'322;
  static constexpr gid_t shared = 54'323, other = 54'324;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
    ::chmod(folder.c_str(), 0777);
    put(one_key("a"));
    const bool gives = ::chown(path.c_str(), service, shared) == 0 && as(somebody, [] { return true; });
    if (!gives) GTEST_SKIP() << "this container has no other users";
  }
  void give(uid_t user, gid_t group, mode_t mode) const {
    ASSERT_EQ(::chown(path.c_str(), user, group), 0);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }
  // Whether the check holds in a process of this user, who is in `shared`.
  static bool as(uid_t user, const std::function<bool()>& check) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool became = ::setgroups(1, &shared) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0;
      ::_exit(became && check() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  bool read_as(uid_t user) const {
    return as(user, [this] { return read_ring_file(path).ok(); });
  }
  Result<std::shared_ptr<const KeyRing>> change() const {
    return change_ring_file(path, [](std::vector<KeyEntry>&) -> Result<void> { return {}; });
  }
};

// So a secret is mounted for an fsGroup: by root, for a group to read.
TEST_F(UsersOfRingFiles, ARingOfRootIsReadThroughAGroupThatTheProcessIsIn) {
  for (const mode_t mode : {0440, 0640}) {
    give(0, shared, mode);
    EXPECT_TRUE(read_as(service)) << std::oct << mode;
    give(0, other, mode);
    EXPECT_FALSE(read_as(service)) << "not in that group, " << std::oct << mode;
    EXPECT_FALSE(read_ring_file(path).ok()) << "nor is a server of root";
    EXPECT_TRUE(read_ring_file(path, RingReader::administrator).ok()) << "who looks after it may look";
  }
  for (const mode_t mode : {0660, 0460, 0450, 0444, 0644, 0441, 0442}) {
    give(0, shared, mode);
    EXPECT_FALSE(read_as(service)) << std::oct << mode;
  }
  // Whoever owns a file may change it, so its group says nothing.
  for (const uid_t owner : {service, somebody}) {
    give(owner, shared, 0440);
    EXPECT_FALSE(read_as(service)) << owner;
  }
}

TEST_F(UsersOfRingFiles, ARingOfAnotherUserIsRefusedByServersAndByOtherUsers) {
  give(service, service, 0600);
  EXPECT_TRUE(read_as(service));
  EXPECT_FALSE(read_as(somebody));
  EXPECT_FALSE(read_ring_file(path).ok()) << "a server of root takes no keys that somebody else made";
  EXPECT_TRUE(read_ring_file(path, RingReader::administrator).ok());
  EXPECT_FALSE(as(somebody, [this] { return read_ring_file(path, RingReader::administrator).ok(); }));
}

TEST_F(UsersOfRingFiles, RootChangesTheRingOfAServiceAndLeavesItToTheService) {
  give(service, shared, 0600);
  ASSERT_TRUE(change().ok());
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, service);
  EXPECT_EQ(status.st_gid, shared);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_TRUE(read_as(service));
  EXPECT_TRUE(as(service, [this] { return change().ok(); }));
  EXPECT_FALSE(as(somebody, [this] { return change().ok(); })) << "others may not";
}

TEST_F(UsersOfRingFiles, ARingThatAGroupMayReadIsNotChanged) {
  give(0, shared, 0440);
  EXPECT_FALSE(change().ok()) << "with mode 600 the group's servers could not read it any more";
  EXPECT_FALSE(as(service, [this] { return change().ok(); }));
}

// A mounted secret: ring.json -> ..data/ring.json, ..data -> a folder, and a new folder when it changes.
TEST_F(RingFileTest, IsReadAgainWhereAFolderOnTheWayIsReplaced) {
  const auto mount = [this](const std::string& name, const std::string& id) {
    std::filesystem::create_directory(folder / name);
    ASSERT_TRUE(create_ring_file(folder / name / "ring.json", one_key(id)).ok());
    std::filesystem::create_symlink(name, folder / "..data_tmp");
    std::filesystem::rename(folder / "..data_tmp", folder / "..data");
  };
  mount("..first", "a");
  std::filesystem::create_symlink("..data/ring.json", path);
  const std::shared_ptr<FileRing> source = FileRing::open(path, log(), never).value();
  EXPECT_EQ(source->current()->sealing().id(), "a");
  mount("..second", "b");
  EXPECT_TRUE(source->reload());
  EXPECT_EQ(source->current()->sealing().id(), "b");
}

// Runs this in a process that is killed when it writes more than so many bytes to a file.
void die_after_bytes(rlim_t bytes, const std::function<void()>& write) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0}, some{bytes, bytes};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &some);
    ::signal(SIGXFSZ, SIG_DFL);
    write();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it was to die in the middle";
}

TEST_F(RingFileTest, AProcessThatIsKilledLeavesNoHalfRing) {
  die_after_bytes(40, [this] { static_cast<void>(create_ring_file(path, one_key("a"))); });
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path)));
  ASSERT_TRUE(create_ring_file(path, one_key("b")).ok()) << "nor is anything in the way of the next";
  EXPECT_FALSE(std::filesystem::exists(unfinished()));

  die_after_bytes(40, [this] {
    static_cast<void>(change_ring_file(path, [](std::vector<KeyEntry>&) -> Result<void> { return {}; }));
  });
  EXPECT_EQ(read_ring_file(path).value()->sealing().id(), "b");
}

TEST_F(RingFileTest, WhatAKilledProcessLeftIsRemovedByTheNextChange) {
  put(one_key("a"));
  const auto leave = [this] { std::ofstream(unfinished()) << "half a ring"; };
  leave();
  ASSERT_TRUE(change_ring_file(path, [](std::vector<KeyEntry>&) -> Result<void> { return {}; }).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  leave();
  EXPECT_FALSE(
      change_ring_file(path, [](std::vector<KeyEntry>&) -> Result<void> { return failure("no"); }).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "also where it is refused";
  leave();
  EXPECT_FALSE(create_ring_file(path, one_key("b")).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);

  // Not what it points to, where it is a link.
  std::ofstream(folder / "precious") << "precious";
  std::filesystem::create_symlink(folder / "precious", unfinished());
  ASSERT_TRUE(change_ring_file(path, [](std::vector<KeyEntry>&) -> Result<void> { return {}; }).ok());
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(unfinished())));
  EXPECT_EQ(std::filesystem::file_size(folder / "precious"), 8u);
}

TEST_F(RingFileTest, IsCreatedOnlyUnderANameOfItsOwn) {
  std::filesystem::create_symlink("nowhere", path);
  EXPECT_FALSE(create_ring_file(path, one_key("a")).ok()) << "a link that leads nowhere is there too";
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
  for (const std::string name : {"", ".", ".."}) {
    EXPECT_FALSE(create_ring_file((folder / "").string() + name, one_key("a")).ok()) << name;
  }
  EXPECT_FALSE(create_ring_file(folder / "none" / "ring.json", one_key("a")).ok());
}

TEST_F(RingFileTest, MustBeARegularFile) {
  EXPECT_FALSE(read_ring_file(path).ok());
  EXPECT_FALSE(read_ring_file(folder).ok());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(read_ring_file(path).ok());
}

TEST_F(RingFileTest, IsFollowedThroughALink) {
  put(one_key("a"));
  const std::string link = folder / "link.json";
  std::filesystem::create_symlink(path, link);
  EXPECT_TRUE(read_ring_file(link).ok());
}

TEST_F(RingFileTest, SaysWhatIsWrongWithTheKeysTogether) {
  std::vector<KeyEntry> two = one_key("a");
  two.push_back(token::generate_key("a", KeyStage::accept, now, system_entropy()));
  put(two);
  const auto ring = read_ring_file(path);
  ASSERT_FALSE(ring.ok());
  EXPECT_NE(ring.error().message.find(path), std::string::npos);
}

TEST_F(RingFileTest, LargerThanARingCanBeIsRefused) {
  put_text(std::string(ring_bytes_max + 1, ' '));
  EXPECT_FALSE(read_ring_file(path).ok());
}

TEST_F(RingFileTest, IsChangedAtOnceAndOnlyIntoARing) {
  put(one_key("a"));
  const auto add_accepting = [](std::vector<KeyEntry>& entries) -> Result<void> {
    entries.push_back(token::generate_key("b", KeyStage::accept, now, system_entropy()));
    return {};
  };
  ASSERT_TRUE(change_ring_file(path, add_accepting).ok());
  EXPECT_EQ(read_ring_file(path).value()->keys().size(), 2u);
  EXPECT_FALSE(change_ring_file(path, add_accepting).ok()) << "the id is there already";
  EXPECT_FALSE(change_ring_file(path, [](std::vector<KeyEntry>& entries) -> Result<void> {
                 entries.clear();
                 return {};
               }).ok());
  EXPECT_FALSE(
      change_ring_file(path, [](std::vector<KeyEntry>&) -> Result<void> { return failure("no"); }).ok());
  EXPECT_EQ(read_ring_file(path).value()->keys().size(), 2u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing is left behind";
}

TEST_F(RingFileTest, OfManyChangesAtOnceNoneIsLost) {
  put(one_key("a"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      const auto changed = change_ring_file(path, [i](std::vector<KeyEntry>& entries) -> Result<void> {
        const std::string id = "k" + std::to_string(i);
        entries.push_back(token::generate_key(id, KeyStage::accept, now, system_entropy()));
        return {};
      });
      EXPECT_TRUE(changed.ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read_ring_file(path).value()->keys().size(), 9u);
}

TEST_F(RingFileTest, OfManyWhoTakeTheNextStepAtOnceOneDoes) {
  put(one_key("a"));
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, &taken] {
      const auto changed = change_ring_file(path, [](std::vector<KeyEntry>& entries) {
        return rotate(entries, RotationStep::accept, now, RotationTimes(), std::nullopt, system_entropy());
      });
      if (changed.ok()) ++taken;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(read_ring_file(path).value()->keys().size(), 2u);
}

TEST_F(RingFileTest, AChangeThroughALinkLeavesTheLink) {
  put(one_key("a"));
  const std::string link = folder / "link.json";
  std::filesystem::create_symlink(path, link);
  ASSERT_TRUE(change_ring_file(link, [](std::vector<KeyEntry>&) -> Result<void> { return {}; }).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(RingFileTest, IsReadAgainWhenItChanges) {
  put(one_key("a"));
  const std::shared_ptr<FileRing> source = FileRing::open(path, log(), never).value();
  EXPECT_TRUE(source->reload());
  EXPECT_TRUE(events.empty()) << "nothing changed";
  put(one_key("b"));
  EXPECT_TRUE(source->reload());
  EXPECT_EQ(source->current()->sealing().id(), "b");
  EXPECT_EQ(events, std::vector<std::string>{"key_ring_reloaded"});
}

TEST_F(RingFileTest, ABrokenNewFileLeavesTheOldRingInForceAndIsReportedOnce) {
  put(one_key("a"));
  const std::shared_ptr<FileRing> source = FileRing::open(path, log(), never, 100 * never).value();
  put_text("{");
  EXPECT_FALSE(source->reload());
  EXPECT_FALSE(source->reload());
  EXPECT_EQ(source->current()->sealing().id(), "a");
  EXPECT_EQ(events, std::vector<std::string>{"key_ring_not_reloaded"});

  std::filesystem::remove(path);
  EXPECT_FALSE(source->reload());
  EXPECT_EQ(source->current()->sealing().id(), "a");
  EXPECT_EQ(events.size(), 2u);

  put(one_key("c"));
  EXPECT_TRUE(source->reload());
  EXPECT_EQ(source->current()->sealing().id(), "c");
  EXPECT_EQ(events.back(), "key_ring_reloaded");
}

TEST_F(RingFileTest, AFileThatStaysBrokenIsReportedAgainAndThatItIsMendedToo) {
  put(one_key("a"));
  const std::shared_ptr<FileRing> source = FileRing::open(path, log(), never, 3 * never).value();
  put_text("{");
  for (int looks = 0; looks < 3; ++looks) EXPECT_FALSE(source->reload());
  EXPECT_EQ(events.size(), 1u) << "not before its time";
  EXPECT_FALSE(source->reload());
  EXPECT_EQ(events.size(), 2u);
  for (int looks = 0; looks < 3; ++looks) EXPECT_FALSE(source->reload());
  EXPECT_EQ(events, std::vector<std::string>(3, "key_ring_not_reloaded"));
  events.clear();
  put(one_key("b"));
  EXPECT_TRUE(source->reload());
  EXPECT_TRUE(source->reload());
  EXPECT_EQ(events, (std::vector<std::string>{"key_ring_mended", "key_ring_reloaded"}));
}

TEST_F(RingFileTest, AFileThatBecomesReadableByOthersIsABrokenOne) {
  put(one_key("a"));
  const std::shared_ptr<FileRing> source = FileRing::open(path, log(), never).value();
  ::chmod(path.c_str(), 0644);
  EXPECT_FALSE(source->reload());
  EXPECT_EQ(events, std::vector<std::string>{"key_ring_not_reloaded"});
}

TEST_F(RingFileTest, IsWatchedByAThreadOfItsOwn) {
  put(one_key("a"));
  std::mutex mutex;
  std::condition_variable reloaded;
  bool seen = false;
  const auto notice = [&](LogLevel, std::string_view, std::initializer_list<LogField>) {
    const std::lock_guard lock(mutex);
    seen = true;
    reloaded.notify_all();
  };
  const std::shared_ptr<FileRing> source = FileRing::open(path, notice, std::chrono::milliseconds(1)).value();
  put(one_key("b"));
  std::unique_lock lock(mutex);
  reloaded.wait(lock, [&seen] { return seen; });
  EXPECT_EQ(source->current()->sealing().id(), "b");
}

TEST_F(RingFileTest, DoesNotOpenWithoutAGoodRing) {
  EXPECT_FALSE(FileRing::open(path, log(), never).ok());
  put_text("{}");
  EXPECT_FALSE(FileRing::open(path, log(), never).ok());
}

TEST(RingEnvironment, IsTakenOutOfTheEnvironment) {
  const Secret text = write_ring(one_key("a"));
  ::setenv("SIGNET_TEST_RING", std::string(as_text(text.expose())).c_str(), 1);
  const char* memory = std::getenv("SIGNET_TEST_RING");
  EXPECT_EQ(take_ring_from_environment("SIGNET_TEST_RING").value()->sealing().id(), "a");
  EXPECT_EQ(memory[0], '\0');
  EXPECT_EQ(std::getenv("SIGNET_TEST_RING"), nullptr);
  EXPECT_FALSE(take_ring_from_environment("SIGNET_TEST_RING").ok());
  ::setenv("SIGNET_TEST_RING", "{}", 1);
  EXPECT_FALSE(take_ring_from_environment("SIGNET_TEST_RING").ok());
}

}  // namespace
}  // namespace signet::keys
