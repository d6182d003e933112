#include <signet/keys/ring_file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <signet/base/bytes.h>
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

// What a file of keys is opened for.
enum class Use : std::uint8_t { serve, look_after, change };

Use use_of(RingReader reader) { return reader == RingReader::server ? Use::serve : Use::look_after; }

bool in_own_groups(gid_t group) {
  if (group == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

bool belongs_to_right_user(const struct stat& status, Use use) {
  if (status.st_uid == ::geteuid()) return true;
  if (use != Use::serve && ::geteuid() == 0) return true;
  return use != Use::change && status.st_uid == 0;
}

// Nobody but the owner; or of a file that root alone may write, a group that was given it to read.
bool is_closed_to_others(const struct stat& status, Use use) {
  const mode_t others = status.st_mode & (S_IRWXG | S_IRWXO);
  if (others == 0) return true;
  if (use == Use::change || others != S_IRGRP || status.st_uid != 0) return false;
  return in_own_groups(status.st_gid) || (use == Use::look_after && ::geteuid() == 0);
}

// What is wrong with a file as a keeper of keys.
std::optional<std::string> fault_of(const struct stat& status, Use use) {
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  if (!belongs_to_right_user(status, use)) return "belongs to another user";
  if (!is_closed_to_others(status, use)) return "is open to group or others: make it mode 600";
  if (status.st_size > static_cast<off_t>(ring_bytes_max)) return "is larger than a ring can be";
  return std::nullopt;
}

struct PrivateFile {
  Secret text;
  struct stat status{};
};

// `name` is relative to the folder, which may be AT_FDCWD; `path` is for messages.
Result<PrivateFile> read_file(int folder, const std::string& name, int flags, Use use,
                              const std::string& path) {
  // Not blocking, so that a pipe in the file's place cannot hold a server up.
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
  if (!file.open()) return failure(system_says("cannot open", path));
  PrivateFile read;
  if (::fstat(file.get(), &read.status) != 0) return failure(system_says("cannot look at", path));
  if (const auto fault = fault_of(read.status, use)) return failure(path + " " + *fault);
  // A file that grows while it is read is cut here and is then no JSON.
  Bytes bytes(static_cast<std::size_t>(read.status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(system_says("cannot read", path));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  read.text = Secret(std::move(bytes));
  return read;
}

Result<std::vector<KeyEntry>> entries_in(const Secret& text, const std::string& path) {
  Result<std::vector<KeyEntry>> entries = parse_ring(as_text(text.expose()));
  if (!entries) return failure(path + ": " + entries.error().message);
  return entries;
}

Result<std::shared_ptr<const KeyRing>> ring_of(const std::string& path, std::vector<KeyEntry> entries) {
  Result<std::shared_ptr<const KeyRing>> ring = KeyRing::make(std::move(entries));
  if (!ring) return failure(path + ": " + ring.error().message);
  return ring;
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

// Whether the file belongs to whom another one does. An administrator who changes a service's file must not take it away
// from the service. The group of a file of mode 600 opens nothing, so it is kept where that is possible.
bool give_to_owner_of(const struct stat& like, int file) {
  if (::fchown(file, like.st_uid, like.st_gid) == 0) return true;
  return like.st_uid == ::geteuid();
}

// The folder of one ring file, locked: nobody else who writes ring files there does so meanwhile.
class LockedFolder {
 public:
  static Result<LockedFolder> of(const std::string& path) {
    const std::filesystem::path whole(path);
    const std::string parent = whole.parent_path().string();
    const std::string name = whole.filename().string();
    if (name.empty() || name == "." || name == "..") return failure(path + " names no file");
    LockedFolder folder(path, name, parent.empty() ? "." : parent);
    if (!folder.open_.open()) return failure(system_says("cannot open", folder.parent_));
    if (::flock(folder.open_.get(), LOCK_EX) != 0) return failure(system_says("cannot lock", folder.parent_));
    // Who holds the lock is the only one who writes there: what there is was left by a process that was killed.
    ::unlinkat(folder.open_.get(), folder.unfinished_.c_str(), 0);
    return folder;
  }

  Result<PrivateFile> read() const { return read_file(open_.get(), name_, O_NOFOLLOW, Use::change, path_); }

  // Puts a file of mode 600 with these bytes in the place of the one that is there, whose owner it gets.
  Result<void> replace(ByteView bytes, const struct stat& like) const {
    Result<void> written = write_unfinished(bytes, &like);
    if (!written) return written;
    if (::renameat(open_.get(), unfinished_.c_str(), open_.get(), name_.c_str()) == 0) return sync();
    return give_up("cannot replace");
  }

  // The same where there is no file.
  Result<void> create(ByteView bytes) const {
    Result<void> written = write_unfinished(bytes, nullptr);
    if (!written) return written;
    if (::renameat2(open_.get(), unfinished_.c_str(), open_.get(), name_.c_str(), RENAME_NOREPLACE) == 0) {
      return sync();
    }
    // Not every file system can rename without replacing.
    const bool linked = (errno == EINVAL || errno == ENOSYS) &&
                        ::linkat(open_.get(), unfinished_.c_str(), open_.get(), name_.c_str(), 0) == 0;
    if (!linked) return give_up("cannot create");
    ::unlinkat(open_.get(), unfinished_.c_str(), 0);
    return sync();
  }

 private:
  LockedFolder(std::string path, std::string name, std::string parent)
      : path_(std::move(path)),
        name_(std::move(name)),
        unfinished_("." + name_ + ".unfinished"),
        parent_(std::move(parent)),
        open_(::open(parent_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  Result<void> write_unfinished(ByteView bytes, const struct stat* like) const {
    const Descriptor file(::openat(open_.get(), unfinished_.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.open()) return failure(system_says("cannot create", path_));
    const bool owned = like == nullptr || give_to_owner_of(*like, file.get());
    // The mode again, because the umask may have taken more away.
    if (owned && ::fchmod(file.get(), 0600) == 0 && write_through(file.get(), bytes)) return {};
    return give_up("cannot write");
  }

  Result<void> sync() const {
    if (::fsync(open_.get()) != 0) return failure(system_says("cannot write through", parent_));
    return {};
  }

  Failure<Error> give_up(const std::string& what) const {
    Failure<Error> sentence = failure(system_says(what, path_));
    ::unlinkat(open_.get(), unfinished_.c_str(), 0);
    return sentence;
  }

  std::string path_;  // for messages
  std::string name_;
  std::string unfinished_;
  std::string parent_;
  Descriptor open_;
};

}  // namespace

Result<Secret> read_private_file(const std::string& path, RingReader reader) {
  Result<PrivateFile> file = read_file(AT_FDCWD, path, 0, use_of(reader), path);
  if (!file) return failure(std::move(file).error());
  return std::move(file->text);
}

Result<std::shared_ptr<const KeyRing>> read_ring_file(const std::string& path, RingReader reader) {
  Result<Secret> text = read_private_file(path, reader);
  if (!text) return failure(std::move(text).error());
  Result<std::vector<KeyEntry>> entries = entries_in(*text, path);
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
  Result<LockedFolder> folder = LockedFolder::of(real);
  if (!folder) return failure(std::move(folder).error());

  Result<PrivateFile> file = folder->read();
  if (!file) return failure(std::move(file).error());
  Result<std::vector<KeyEntry>> entries = entries_in(file->text, real);
  if (!entries) return failure(std::move(entries).error());
  Result<void> changed = change(*entries);
  if (!changed) return failure(std::move(changed).error());
  const Secret text = write_ring(*entries);
  Result<std::shared_ptr<const KeyRing>> ring = ring_of(path, std::move(*entries));
  if (!ring) return ring;
  Result<void> replaced = folder->replace(text.expose(), file->status);
  if (!replaced) return failure(std::move(replaced).error());
  return ring;
}

Result<void> create_ring_file(const std::string& path, const std::vector<KeyEntry>& entries) {
  Result<LockedFolder> folder = LockedFolder::of(path);
  if (!folder) return failure(std::move(folder).error());
  const Secret text = write_ring(entries);
  return folder->create(text.expose());
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
