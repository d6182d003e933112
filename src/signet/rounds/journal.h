// What a flow of rounds has come to: asked, answered, remembered. Pure values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/base/digest.h>
#include <signet/base/result.h>
#include <signet/json/value.h>

namespace signet::rounds {

// One line of a journal.
struct Entry {
  enum class Kind : std::uint8_t {
    answered = 1,  // `question` is the digest of what was asked, `value` what was answered
    open = 2,      // asked and not answered; `value` is the question where nobody will ask it again in the
                   // same words (explicit style), else null
    step = 3,      // `value` is what a step computed
    state =
        4,  // `value` is the handler's own state (explicit style); the key is empty, and there is one at most
    offered = 5,  // as answered, but `value` is still to be checked: the handler ended at an earlier question
  };
  Entry(Kind entry_kind, std::string entry_key, Digest question_digest, Json entry_value)
      : kind(entry_kind),
        key(std::move(entry_key)),
        question(question_digest),
        value(std::move(entry_value)) {}
  Kind kind;
  std::string key;
  Digest question;
  Json value;

  bool is_question() const { return kind == Kind::answered || kind == Kind::open || kind == Kind::offered; }
};

inline constexpr std::size_t key_bytes_max = 256;
inline constexpr std::size_t entries_max = 1024;

// The digest to which an answer is pinned: SHA-256 of the canonical form of {"method", "params"}.
Digest question_digest(const Json& question);

// Why a journal has no byte form: with the entry of this key it is larger than it may be.
struct Oversize {
  Oversize(std::string crossing_key, std::size_t bytes_so_far)
      : key(std::move(crossing_key)), bytes(bytes_so_far) {}
  std::string key;  // of a question or a step; `state` for the handler's own state
  std::size_t bytes;
};

// Bytes that are no journal.
struct Malformed {};

// Entries in the order in which they came to be. Keys of questions are unique, and keys of steps.
class Journal {
 public:
  Journal() = default;

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find_question(std::string_view key) const;
  const Entry* find_step(std::string_view key) const;
  const Entry* find_state() const;
  Entry* find_question(std::string_view key);
  Entry* find_step(std::string_view key);
  Entry* find_state();

  // Precondition: no entry of that key and family.
  Entry& add(Entry entry);
  // Forgets the open questions that `keep` does not name.
  void drop_open_except(const std::vector<std::string>& keep);
  void drop_state();

  // The byte form: version 1, then the entries in order; equal journals have equal forms.
  //
  //   journal = %x01 *entry
  //   entry   = kind key [digest] value      kind: 1 octet; digest: 32 octets, questions only
  //   key     = length16 *octet              big-endian
  //   value   = length32 *octet              JSON text; empty stands for no value (open questions only)
  Result<Bytes, Oversize> encode(std::size_t bytes_max) const;

  // Strict: the version, exact lengths, valid JSON, unique keys, nothing behind the last entry. Never allocates
  // more than a small multiple of `bytes`.
  static Result<Journal, Malformed> decode(ByteView bytes);

 private:
  std::vector<Entry> entries_;
};

}  // namespace signet::rounds
