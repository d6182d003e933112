// Bytes from a pipe, cut into lines of bounded length. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace signet::transport {

struct Line {
  std::string text;       // without its end (LF or CRLF); empty where too_long
  bool too_long = false;  // more than the limit; skipped to its end
};

// Keeps at most `line_bytes_max` bytes of an unfinished line.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  // Appends to `lines` those that `bytes` complete. Lines of blanks are left out.
  void feed(std::string_view bytes, std::vector<Line>& lines);
  // What stands behind the last line end, at the end of input.
  void finish(std::vector<Line>& lines);

 private:
  void end_line(std::vector<Line>& lines);

  std::size_t line_bytes_max_;
  std::string line_;
  bool too_long_ = false;
};

}  // namespace signet::transport
