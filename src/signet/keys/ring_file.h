// Rings in files and in the environment, and files that are read again while a server serves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <signet/base/log.h>
#include <signet/base/result.h>
#include <signet/base/secret.h>
#include <signet/token/key_ring.h>

namespace signet::keys {

// Who reads a file that holds secrets.
enum class RingReader : std::uint8_t {
  server,         // takes no file that another user may have made or may read
  administrator,  // the same, but root may look at the files of all users
};

// The ring of a file, or one sentence that says what is wrong (never with a secret in it). The file must be a regular
// file that belongs to this user and that nobody else may read or write (mode 600 or 400); or it belongs to root, and
// nobody else may read it but a group that this process is in (mode 640 or 440: so a secret that Kubernetes mounts for
// an fsGroup). A symbolic link to one is followed.
Result<std::shared_ptr<const token::KeyRing>> read_ring_file(const std::string& path,
                                                             RingReader reader = RingReader::server);

// All of a file that holds a secret, under the same conditions.
Result<Secret> read_private_file(const std::string& path, RingReader reader = RingReader::server);

// The ring that an environment variable holds as text. The variable is wiped and removed, so that neither children nor
// readers of /proc find it: call this once, before other threads read the environment.
Result<std::shared_ptr<const token::KeyRing>> take_ring_from_environment(const char* variable);

// Changes a ring file: reads it, lets `change` alter the keys, checks that they are a ring, and puts the new file in
// the old one's place at once (owner and group kept, mode 600, written through to the disk). The file must belong to
// this user, or to anyone where this is root, and be open to nobody else. While it works, others who change or create
// ring files of that folder wait. Without `change` succeeding, or if the result is no ring, nothing is written.
// A process that is killed in the middle can leave the file `.<name>.unfinished` behind, which the next attempt to
// change that ring removes.
Result<std::shared_ptr<const token::KeyRing>> change_ring_file(
    const std::string& path, const std::function<Result<void>(std::vector<token::KeyEntry>&)>& change);

// Writes a new ring file, mode 600: all of it, through to the disk, or nothing, but for `.<name>.unfinished` as above.
// Fails where there is a file already.
Result<void> create_ring_file(const std::string& path, const std::vector<token::KeyEntry>& entries);

// How often the log says that a ring file is still no good.
inline constexpr std::chrono::minutes ring_reminder_default{10};

// The ring of a file that is looked at once an interval and read again when it changed: replaced, rewritten, or reached
// through another link. A new file that is no good leaves the old ring in force and is an error in the log, again after
// each `reminder` while it stays so; that it is mended, and each ring that comes into force, is a line too. Works on a
// thread of its own, which a forked child does not have: open it after the fork.
class FileRing final : public token::RingSource {
 public:
  static Result<std::shared_ptr<FileRing>> open(std::string path, LogSink log,
                                                std::chrono::milliseconds interval = std::chrono::seconds(1),
                                                std::chrono::milliseconds reminder = ring_reminder_default);
  ~FileRing() override;

  bool immediate() const override { return true; }
  std::shared_ptr<const token::KeyRing> current() const override { return ring_.current(); }
  Task<Result<std::shared_ptr<const token::KeyRing>>> ring(Executor& executor) override {
    return ring_.ring(executor);
  }

  // Looks at the file now. Returns whether the ring in force is what the file holds.
  bool reload();

 private:
  // What tells one state of the file from another without reading it.
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t changed_seconds = 0, changed_nanoseconds = 0, written_seconds = 0, written_nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  static std::optional<Stamp> stamp_of(const std::string& path);

  FileRing(std::string path, LogSink log, std::shared_ptr<const token::KeyRing> ring,
           std::optional<Stamp> stamp);
  void watch(std::chrono::milliseconds interval);

  std::string path_;
  LogSink log_;
  token::SharedRing ring_;

  std::mutex reloading_;
  std::optional<Stamp> stamp_;  // of what was read last
  std::string fault_;           // of what was read last; empty where it was good
  std::int64_t reloads_a_reminder_ = 1;
  std::int64_t untold_ = 0;  // reloads since the log was told of the fault

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread watcher_;
};

}  // namespace signet::keys
