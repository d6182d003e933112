// What a server offers of one kind: by name, in the order of registration, page by page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace signet::detail {

// The opaque cursor that stands behind the entry `key` of the list `kind`: says nothing, changes never.
std::string cursor_after(std::string_view kind, std::string_view key);

// Entries are immutable and shared, so that a call that runs goes on when its entry is removed. `T::key` is unique.
// Thread-safe.
template <typename T>
class Catalogue {
 public:
  explicit Catalogue(std::string_view kind) : kind_(kind) {}

  // False where the key is taken.
  bool add(std::shared_ptr<const T> entry) {
    const std::unique_lock lock(mutex_);
    if (!by_key_.emplace(entry->key, entry).second) return false;
    entries_.push_back(std::move(entry));
    ever_ = true;
    return true;
  }

  bool remove(std::string_view key) {
    const std::unique_lock lock(mutex_);
    const auto found = by_key_.find(std::string(key));
    if (found == by_key_.end()) return false;
    std::erase(entries_, found->second);
    by_key_.erase(found);
    return true;
  }

  std::shared_ptr<const T> find(const std::string& key) const {
    const std::shared_lock lock(mutex_);
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
  }

  // Whether there has ever been an entry: then the server has this feature.
  bool ever() const {
    const std::shared_lock lock(mutex_);
    return ever_;
  }

  std::vector<std::shared_ptr<const T>> all() const {
    const std::shared_lock lock(mutex_);
    return entries_;
  }

  struct Page {
    std::vector<std::shared_ptr<const T>> entries;
    std::string next;  // empty behind the last page
  };
  // Nothing where the cursor is not one of this list.
  std::optional<Page> page(const std::string* cursor, std::size_t size) const {
    const std::shared_lock lock(mutex_);
    auto from = entries_.begin();
    if (cursor != nullptr) {
      from = std::find_if(from, entries_.end(),
                          [&](const auto& entry) { return cursor_after(kind_, entry->key) == *cursor; });
      if (from == entries_.end()) return std::nullopt;
      ++from;
    }
    Page page;
    const auto count = std::min<std::size_t>(size, static_cast<std::size_t>(entries_.end() - from));
    page.entries.assign(from, from + static_cast<std::ptrdiff_t>(count));
    const bool more = from + static_cast<std::ptrdiff_t>(count) != entries_.end();
    if (more) page.next = cursor_after(kind_, page.entries.back()->key);
    return page;
  }

 private:
  const std::string kind_;
  mutable std::shared_mutex mutex_;
  std::vector<std::shared_ptr<const T>> entries_;
  std::unordered_map<std::string, std::shared_ptr<const T>> by_key_;
  bool ever_ = false;
};

}  // namespace signet::detail
