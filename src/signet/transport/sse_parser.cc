#include <signet/transport/sse_parser.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace signet::transport {

Result<void> SseParser::feed(std::string_view bytes, std::vector<SseEvent>& events) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() > bytes_max_) return failure("an event is longer than the limit");
    if (end == std::string_view::npos) {
      line_.append(piece);
      return {};
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    bool fits = false;
    if (line_.empty()) {
      fits = take_line(piece, events);
    } else {
      line_.append(piece);
      fits = take_line(line_, events);
      line_.clear();
    }
    if (!fits) return failure("an event is longer than the limit");
  }
  return {};
}

bool SseParser::take_line(std::string_view line, std::vector<SseEvent>& events) {
  if (std::exchange(first_line_, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.empty()) {
    last_id_ = id_;
    if (has_data_) {
      events.push_back(SseEvent{type_.empty() ? "message" : std::move(type_), std::move(data_)});
    }
    type_.clear();
    data_.clear();
    has_data_ = false;
    return true;
  }
  if (line.front() == ':') return true;
  const std::size_t colon = line.find(':');
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
  return data_.size() <= bytes_max_;
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_.append(value);
    has_data_ = true;
  } else if (name == "event") {
    type_ = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_ = value;
  } else if (name == "retry") {
    std::uint32_t milliseconds = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    if (error == std::errc() && end == value.data() + value.size() && !value.empty()) {
      retry_ = std::chrono::milliseconds(std::min<std::uint32_t>(milliseconds, 3'600'000));
    }
  }
}

}  // namespace signet::transport
