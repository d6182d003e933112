// Redemption, states and tasks in one file, for the processes of one machine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <signet/base/clock.h>
#include <signet/base/result.h>
#include <signet/store/stores.h>

namespace signet::store {

struct SqliteOptions {
  Limits limits;
  std::int64_t file_bytes_max = std::int64_t{4} << 30;  // beyond, what is to be kept fails
  // For other processes' writes. Less than HttpOptions::json_answer_max: a refusal that came later would look different.
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(2);
  std::size_t queue_max = 10'000;  // operations waiting; beyond, they fail
};

// Claims, states and tasks in the SQLite database `path` (made if absent, readable by its owner alone), shared by all
// processes that open it; it must be on a local file system. A claim is on the disk before it is won (WAL, synchronous=FULL), so it
// survives the end of the process and of the power. A file that others may write to is refused, and where a file is removed or
// replaced while it is open everything fails until the program starts again. One thread of its own does all the work, and commits once for all
// operations that have gathered. An error names what is wrong with the file. Borrows the clock.
Result<Stores> sqlite_stores(const std::string& path, const Clock& clock,
                             SqliteOptions options = SqliteOptions());

}  // namespace signet::store
