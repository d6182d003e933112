#include <signet/transport/line_splitter.h>

#include <utility>

namespace signet::transport {

void LineSplitter::feed(std::string_view bytes, std::vector<Line>& lines) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    // One byte more than the limit may be the CR of the line end.
    if (!too_long_ && line_.size() + piece.size() > line_bytes_max_ + 1) {
      too_long_ = true;
      line_ = std::string();
    }
    if (!too_long_) line_ += piece;
    if (end == std::string_view::npos) return;
    end_line(lines);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(std::vector<Line>& lines) { end_line(lines); }

void LineSplitter::end_line(std::vector<Line>& lines) {
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  Line line;
  line.too_long = too_long_ || line_.size() > line_bytes_max_;
  if (!line.too_long) line.text = std::move(line_);
  line_ = std::string();
  too_long_ = false;
  if (line.too_long || line.text.find_first_not_of(" \t\r") != std::string::npos)
    lines.push_back(std::move(line));
}

}  // namespace signet::transport
