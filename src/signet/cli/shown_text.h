// Texts of a server, as a terminal may show them. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace signet::cli {

// Text of a server, made harmless to show: control characters, C1 controls, bidirectional overrides and bytes that are no
// UTF-8 become visible marks; line ends and tabs stay.
std::string printable(std::string_view text);

// The same on one line and at most `bytes_max` long, for names. Blanks in a row become one, so that no text can push what it
// says to the beginning of the terminal's next row.
std::string one_line(std::string_view text, std::size_t bytes_max = 200);

// How a text of more than one line stands among our own lines.
struct Frame {
  Frame(std::string before_first, std::string before_rest, std::size_t row_columns)
      : first(std::move(before_first)), rest(std::move(before_rest)), columns(row_columns) {}

  std::string first;    // in front of the first row
  std::string rest;     // in front of every other
  std::size_t columns;  // of a row, with what stands in front
  std::size_t rows_max = 200;
  std::size_t bytes_max = std::size_t{16} << 10;
};

// The text in rows that a terminal does not break, each behind the frame's words: no line end and no row that is full makes a
// part of the text look like a line of ours. Harmless as `printable`. Ends with a line end. Beyond the limits it is cut,
// and a row says how much is missing.
std::string framed(std::string_view text, const Frame& frame);

// What one character of UTF-8 stands for. Precondition: it is one, as first_glyph cuts it off.
std::uint32_t code_point_of(std::string_view character);

// The columns that a text takes, at most: characters of double width count twice, no character counts for nothing.
std::size_t columns_of(std::string_view text);

// The same text for a terminal that takes no UTF-8: every other character than ASCII is a question mark.
std::string ascii_only(std::string_view text);

// Whether the locale that these variables name (the first of them that is set and not empty: LC_ALL, LC_CTYPE, LANG) has
// another encoding than UTF-8. No locale, and C, say nothing about a terminal.
bool names_other_encoding(std::string_view locale);

}  // namespace signet::cli
