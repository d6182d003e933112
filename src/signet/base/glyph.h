// What a terminal or the reader of a log may be shown of a text that somebody else wrote.
#pragma once

#include <cstddef>
#include <string_view>

namespace signet {

// The first character of a text.
struct Glyph {
  std::size_t bytes;  // 1 to 4
  // No control character (C0 with line ends and tabs, DEL, C1), nothing that reorders text or breaks a line (bidirectional
  // marks and overrides, U+2028, U+2029), and no byte that is not UTF-8: 8-bit terminals take some for controls.
  bool harmless;
};

// `text` is not empty.
Glyph first_glyph(std::string_view text);

}  // namespace signet
