#include <signet/cli/shown_text.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <signet/base/glyph.h>
#include <signet/protocol/header_codec.h>

namespace signet::cli {
namespace {

constexpr std::size_t columns_min = 8;  // for text, however narrow the terminal

// Generous: what counts twice and stands once makes a row short, and no row too long.
bool is_wide(std::uint32_t code) {
  return code >= 0x1100 &&
         (code <= 0x115f || (code >= 0x231a && code <= 0x27bf) || (code >= 0x2b00 && code <= 0x2bff) ||
          (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xa960 && code <= 0xa97f) ||
          (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
          (code >= 0xfe10 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
          (code >= 0xffe0 && code <= 0xffe6) || code >= 0x16fe0);
}

// The first character as it is shown, with its columns; `text` is not empty and loses it.
struct Shown {
  std::string text;
  std::size_t columns = 1;
};

Shown take_first(std::string_view& text) {
  const Glyph glyph = first_glyph(text);
  const std::string_view character = text.substr(0, glyph.bytes);
  text.remove_prefix(glyph.bytes);
  Shown shown;
  if (glyph.harmless) {
    shown.text = character;
    shown.columns = is_wide(code_point_of(character)) ? 2 : 1;
  } else if (static_cast<unsigned char>(character.front()) < 0x80) {
    shown.text = {'^', static_cast<char>(character.front() ^ 0x40)};
    shown.columns = 2;
  } else {
    shown.text = "?";
  }
  return shown;
}

// One row that grows until it is full.
struct Row {
  std::string text;
  std::size_t columns = 0;
  std::size_t break_at = 0;  // behind the last blank
  std::size_t columns_at_break = 0;

  void add(const Shown& shown) {
    text += shown.text;
    columns += shown.columns;
    if (shown.text != " ") return;
    break_at = text.size();
    columns_at_break = columns;
  }
  // Keeps what stands behind the last blank for the next row, and returns the rest.
  std::string split() {
    Row next;
    if (break_at > 0) {
      next.text = text.substr(break_at);
      next.columns = columns - columns_at_break;
      text.resize(break_at);
    }
    return std::exchange(*this, next).text;
  }
};

class Rows {
 public:
  explicit Rows(const Frame& frame) : frame_(frame) {}

  bool full() const { return count_ >= frame_.rows_max; }
  std::size_t room() const {
    const std::size_t taken = columns_of(count_ == 0 ? frame_.first : frame_.rest);
    return frame_.columns > taken + columns_min ? frame_.columns - taken : columns_min;
  }
  void add(const std::string& row) {
    out_ += count_++ == 0 ? frame_.first : frame_.rest;
    out_ += row;
    out_ += '\n';
  }
  std::string take() { return std::move(out_); }

 private:
  const Frame& frame_;
  std::size_t count_ = 0;
  std::string out_;
};

}  // namespace

std::uint32_t code_point_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  std::uint32_t code = lead & (0x7fU >> character.size());
  for (const char next : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(next) & 0x3fU);
  return code;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text.front() == '\n' || text.front() == '\t') {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += take_first(text).text;
    }
  }
  return out;
}

std::string one_line(std::string_view text, std::size_t bytes_max) {
  std::size_t end = std::min(text.size(), bytes_max);
  // Not in the middle of a character.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  std::string out = printable(text.substr(0, end));
  if (end < text.size()) out += "...";
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  const auto both_blank = [](char left, char right) { return left == ' ' && right == ' '; };
  out.erase(std::unique(out.begin(), out.end(), both_blank), out.end());
  return out;
}

std::string framed(std::string_view text, const Frame& frame) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  std::string_view left = text.substr(0, std::min(text.size(), frame.bytes_max));
  const std::size_t cut = text.size() - left.size();
  Rows rows(frame);
  Row row;
  while (!left.empty() && !rows.full()) {
    if (left.starts_with("\r\n")) left.remove_prefix(1);
    if (left.front() == '\n') {
      left.remove_prefix(1);
      rows.add(std::exchange(row, Row()).text);
      continue;
    }
    const bool tab = left.front() == '\t';
    if (tab) left.remove_prefix(1);
    const Shown shown = tab ? Shown{"  ", 2} : take_first(left);
    if (row.columns + shown.columns > rows.room() && !row.text.empty()) rows.add(row.split());
    row.add(shown);
  }
  std::size_t missing = left.size() + cut;
  if (!rows.full()) {
    rows.add(row.text);
  } else {
    missing += row.text.size();
  }
  std::string out = rows.take();
  if (missing > 0) out += "  (" + std::to_string(missing) + " bytes more are not shown)\n";
  return out;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += take_first(text).columns;
  return columns;
}

std::string ascii_only(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = first_glyph(text).bytes;
    out += static_cast<unsigned char>(text.front()) < 0x80 ? text.front() : '?';
    text.remove_prefix(bytes);
  }
  return out;
}

bool names_other_encoding(std::string_view locale) {
  if (locale.empty() || locale == "C" || locale == "POSIX") return false;
  const std::string low = protocol::lower_case(locale);
  return low.find("utf-8") == std::string::npos && low.find("utf8") == std::string::npos;
}

}  // namespace signet::cli
