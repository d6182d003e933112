#include <signet/rounds/journal.h>

#include <signet/base/octets.h>
#include <signet/json/text.h>

#include <algorithm>
#include <optional>

namespace signet::rounds {

namespace {

constexpr std::uint8_t version = 1;

template <typename Entries, typename Matches>
auto* find(Entries& entries, Matches matches) {
  const auto found = std::find_if(entries.begin(), entries.end(), matches);
  return found == entries.end() ? nullptr : &*found;
}

template <typename Entries>
auto* question_of(Entries& entries, std::string_view key) {
  return find(entries, [key](const Entry& entry) { return entry.is_question() && entry.key == key; });
}

template <typename Entries>
auto* entry_of(Entries& entries, Entry::Kind kind, std::string_view key) {
  return find(entries, [kind, key](const Entry& entry) { return entry.kind == kind && entry.key == key; });
}

std::optional<Entry> read_entry(OctetReader& reader) {
  const std::optional<ByteView> kind_octet = reader.take(1);
  if (!kind_octet) return std::nullopt;
  const auto kind = static_cast<Entry::Kind>(kind_octet->front());
  if (kind < Entry::Kind::answered || kind > Entry::Kind::offered) return std::nullopt;

  const std::optional<std::string_view> key = reader.text(2);
  if (!key || key->size() > key_bytes_max) return std::nullopt;
  if (key->empty() != (kind == Entry::Kind::state)) return std::nullopt;

  Entry entry(kind, std::string(*key), Digest(), Json());
  if (entry.is_question()) {
    const std::optional<ByteView> digest = reader.take(entry.question.size());
    if (!digest) return std::nullopt;
    std::copy(digest->begin(), digest->end(), entry.question.begin());
  }

  const std::optional<std::string_view> text = reader.text(4);
  if (!text) return std::nullopt;
  if (text->empty()) {
    if (kind != Entry::Kind::open) return std::nullopt;
    return entry;
  }
  Result<Json, json::ParseError> value = json::parse(*text);
  if (!value.ok()) return std::nullopt;
  entry.value = std::move(*value);
  return entry;
}

void write_entry(Bytes& out, const Entry& entry) {
  out.push_back(static_cast<std::uint8_t>(entry.kind));
  put_text(out, entry.key, 2);
  if (entry.is_question()) out.insert(out.end(), entry.question.begin(), entry.question.end());
  const bool no_value = entry.kind == Entry::Kind::open && entry.value.is_null();
  put_text(out, no_value ? std::string() : json::write(entry.value), 4);
}

bool is_new(const Journal& journal, const Entry& entry) {
  if (entry.is_question()) return journal.find_question(entry.key) == nullptr;
  if (entry.kind == Entry::Kind::step) return journal.find_step(entry.key) == nullptr;
  return journal.find_state() == nullptr;
}

}  // namespace

Digest question_digest(const Json& question) { return sha256(as_bytes(json::canonical(question))); }

const Entry* Journal::find_question(std::string_view key) const { return question_of(entries_, key); }
const Entry* Journal::find_step(std::string_view key) const {
  return entry_of(entries_, Entry::Kind::step, key);
}
const Entry* Journal::find_state() const { return entry_of(entries_, Entry::Kind::state, {}); }
Entry* Journal::find_question(std::string_view key) { return question_of(entries_, key); }
Entry* Journal::find_step(std::string_view key) { return entry_of(entries_, Entry::Kind::step, key); }
Entry* Journal::find_state() { return entry_of(entries_, Entry::Kind::state, {}); }

Entry& Journal::add(Entry entry) {
  entries_.push_back(std::move(entry));
  return entries_.back();
}

void Journal::drop_open_except(const std::vector<std::string>& keep) {
  std::erase_if(entries_, [&keep](const Entry& entry) {
    return entry.kind == Entry::Kind::open && std::find(keep.begin(), keep.end(), entry.key) == keep.end();
  });
}

void Journal::drop_state() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.kind == Entry::Kind::state; });
}

Result<Bytes, Oversize> Journal::encode(std::size_t bytes_max) const {
  Bytes out;
  out.push_back(version);
  for (const Entry& entry : entries_) {
    write_entry(out, entry);
    if (out.size() > bytes_max) {
      return failure(Oversize(entry.kind == Entry::Kind::state ? "state" : entry.key, out.size()));
    }
  }
  return out;
}

Result<Journal, Malformed> Journal::decode(ByteView bytes) {
  OctetReader reader(bytes);
  const std::optional<ByteView> first = reader.take(1);
  if (!first || first->front() != version) return failure(Malformed());
  Journal journal;
  while (!reader.empty()) {
    std::optional<Entry> entry = read_entry(reader);
    if (!entry || !is_new(journal, *entry)) return failure(Malformed());
    if (journal.entries_.size() == entries_max) return failure(Malformed());
    journal.entries_.push_back(std::move(*entry));
  }
  return journal;
}

}  // namespace signet::rounds
