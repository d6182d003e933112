#include <signet/keys/ring_file.h>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0660, 0666, 0644, 0601}) {
    ::chmod(path.c_str(), mode);
    EXPECT_FALSE(read_ring_file(path).ok()) << std::oct << mode;
  }
  for (const mode_t mode : {0600, 0400}) {
    ::chmod(path.c_str(), mode);
    EXPECT_TRUE(read_ring_file(path).ok()) << std::oct << mode;
  }
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
