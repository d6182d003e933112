#include <signet/keys/ring_file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <signet/base/bytes.h>
#include <signet/base/entropy.h>
#include <signet/base/secret.h>
#include <signet/keys/ring_text.h>

namespace signet::keys {
namespace {

using token::KeyEntry;
using token::KeyRing;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_;
};

std::string system_says(const std::string& what, const std::string& path) {
  return what + " " + path + ": " + std::strerror(errno);
}

// What is wrong with a file as a keeper of keys.
std::optional<std::string> fault_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "belongs to another user";
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) return "is open to group or others: make it mode 600";
  if (status.st_size > static_cast<off_t>(ring_bytes_max)) return "is larger than a ring can be";
  return std::nullopt;
}

Result<std::vector<KeyEntry>> read_entries(const std::string& path) {
  Result<Secret> text = read_private_file(path);
  if (!text) return failure(std::move(text).error());
  Result<std::vector<KeyEntry>> entries = parse_ring(as_text(text->expose()));
  if (!entries) return failure(path + ": " + entries.error().message);
  return entries;
}

Result<std::shared_ptr<const KeyRing>> ring_of(const std::string& path, std::vector<KeyEntry> entries) {
  Result<std::shared_ptr<const KeyRing>> ring = KeyRing::make(std::move(entries));
  if (!ring) return failure(path + ": " + ring.error().message);
  return ring;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool write_through(int file, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0;
}

// Makes a new file of mode 600 with these bytes, or nothing.
Result<void> write_new(const std::string& path, ByteView bytes, const struct stat* like) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.open()) return failure(system_says("cannot create", path));
  // An administrator who changes a service's file must not take it away from the service.
  const bool owned = like == nullptr || (like->st_uid == ::geteuid() && like->st_gid == ::getegid()) ||
                     ::fchown(file.get(), like->st_uid, like->st_gid) == 0;
  // The mode again, because the umask may have taken more away.
  if (owned && ::fchmod(file.get(), 0600) == 0 && write_through(file.get(), bytes)) return {};
  const std::string sentence = system_says("cannot write", path);
  ::unlink(path.c_str());
  return failure(sentence);
}

}  // namespace

Result<Secret> read_private_file(const std::string& path) {
  // Not blocking, so that a pipe in the file's place cannot hold a server up.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return failure(system_says("cannot open", path));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failure(system_says("cannot look at", path));
  if (const auto fault = fault_of(status)) return failure(path + " " + *fault);
  // A file that grows while it is read is cut here and is then no JSON.
  Bytes bytes(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(system_says("cannot read", path));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return Secret(std::move(bytes));
}

Result<std::shared_ptr<const KeyRing>> read_ring_file(const std::string& path) {
  Result<std::vector<KeyEntry>> entries = read_entries(path);
  if (!entries) return failure(std::move(entries).error());
  return ring_of(path, std::move(*entries));
}

Result<std::shared_ptr<const KeyRing>> take_ring_from_environment(const char* variable) {
  char* value = std::getenv(variable);
  if (value == nullptr) return failure(std::string("the environment has no variable ") + variable);
  const std::size_t size = std::strlen(value);
  Result<std::vector<KeyEntry>> entries = parse_ring(std::string_view(value, size));
  // In place, so that it is gone from /proc/self/environ too.
  wipe({reinterpret_cast<std::uint8_t*>(value), size});
  ::unsetenv(variable);
  if (!entries) return failure(std::string(variable) + ": " + entries.error().message);
  return ring_of(variable, std::move(*entries));
}

Result<std::shared_ptr<const KeyRing>> change_ring_file(
    const std::string& path, const std::function<Result<void>(std::vector<KeyEntry>&)>& change) {
  // The file itself, where the path is a link: the link stays.
  std::error_code unresolved;
  const std::string real = std::filesystem::canonical(path, unresolved).string();
  if (unresolved) return failure("cannot find " + path + ": " + unresolved.message());
  const Descriptor folder(::open(folder_of(real).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.open() || ::flock(folder.get(), LOCK_EX) != 0)
    return failure(system_says("cannot lock", folder_of(real)));

  Result<std::vector<KeyEntry>> entries = read_entries(real);
  if (!entries) return failure(std::move(entries).error());
  Result<void> changed = change(*entries);
  if (!changed) return failure(std::move(changed).error());
  const Secret text = write_ring(*entries);
  Result<std::shared_ptr<const KeyRing>> ring = ring_of(path, std::move(*entries));
  if (!ring) return ring;

  struct stat status{};
  if (::stat(real.c_str(), &status) != 0) return failure(system_says("cannot look at", real));
  std::array<std::uint8_t, 8> number;
  system_entropy().fill(number);
  const std::string fresh = real + "." + hex(number);
  Result<void> written = write_new(fresh, text.expose(), &status);
  if (!written) return failure(std::move(written).error());
  if (::rename(fresh.c_str(), real.c_str()) != 0) {
    const std::string sentence = system_says("cannot replace", real);
    ::unlink(fresh.c_str());
    return failure(sentence);
  }
  if (::fsync(folder.get()) != 0) return failure(system_says("cannot write through", folder_of(real)));
  return ring;
}

Result<void> create_ring_file(const std::string& path, const std::vector<KeyEntry>& entries) {
  const Secret text = write_ring(entries);
  return write_new(path, text.expose(), nullptr);
}

std::optional<FileRing::Stamp> FileRing::stamp_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  Stamp stamp;
  stamp.device = status.st_dev;
  stamp.inode = status.st_ino;
  stamp.size = static_cast<std::uint64_t>(status.st_size);
  stamp.changed_seconds = status.st_ctim.tv_sec;
  stamp.changed_nanoseconds = status.st_ctim.tv_nsec;
  stamp.written_seconds = status.st_mtim.tv_sec;
  stamp.written_nanoseconds = status.st_mtim.tv_nsec;
  return stamp;
}

Result<std::shared_ptr<FileRing>> FileRing::open(std::string path, LogSink log,
                                                 std::chrono::milliseconds interval,
                                                 std::chrono::milliseconds reminder) {
  // The stamp first: a change between the two is then seen as one.
  const std::optional<Stamp> stamp = stamp_of(path);
  Result<std::shared_ptr<const KeyRing>> ring = read_ring_file(path);
  if (!ring) return failure(std::move(ring).error());
  std::shared_ptr<FileRing> source(new FileRing(std::move(path), std::move(log), std::move(*ring), stamp));
  source->reloads_a_reminder_ =
      std::max<std::int64_t>(1, reminder / std::max(interval, std::chrono::milliseconds(1)));
  source->watcher_ = std::thread([watched = source.get(), interval] { watched->watch(interval); });
  return source;
}

FileRing::FileRing(std::string path, LogSink log, std::shared_ptr<const KeyRing> ring,
                   std::optional<Stamp> stamp)
    : path_(std::move(path)), log_(std::move(log)), ring_(std::move(ring)), stamp_(stamp) {}

FileRing::~FileRing() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  watcher_.join();
}

void FileRing::watch(std::chrono::milliseconds interval) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
    lock.unlock();
    reload();
    lock.lock();
  }
}

bool FileRing::reload() {
  const std::lock_guard lock(reloading_);
  const std::optional<Stamp> stamp = stamp_of(path_);
  const bool same = stamp == stamp_;
  if (same && fault_.empty()) return true;
  // A file that was no good is read again even if it looks the same: it may have been read half written.
  Result<std::shared_ptr<const KeyRing>> ring = read_ring_file(path_);
  stamp_ = stamp;
  if (!ring) {
    const bool known = same && fault_ == ring.error().message;
    fault_ = ring.error().message;
    untold_ = known ? untold_ + 1 : 0;
    if (untold_ >= reloads_a_reminder_) untold_ = 0;
    if (log_ && untold_ == 0)
      log_(LogLevel::error, "key_ring_not_reloaded", {{"why", fault_}, {"in_force", "the old ring"}});
    return false;
  }
  if (log_ && !fault_.empty()) log_(LogLevel::info, "key_ring_mended", {{"was", fault_}});
  fault_.clear();
  ring_.replace(*ring);
  token::log_ring(log_, "key_ring_reloaded", **ring);
  return true;
}

}  // namespace signet::keys
