// Server-sent events, read as they come (HTML Standard, "Event stream interpretation").
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>

namespace signet::transport {

struct SseEvent {
  std::string type;  // "message" unless named
  std::string data;
};

// An incremental parser of one stream; bytes may be cut anywhere. Not thread-safe.
class SseParser {
 public:
  // `event_bytes_max` bounds one line, and the data of one event.
  explicit SseParser(std::size_t event_bytes_max) : bytes_max_(event_bytes_max) {}

  // Takes the next bytes and appends the events that are complete. An error means that the stream crossed the
  // limit; the parser must not be used afterwards. What is incomplete when the stream ends never was an event.
  Result<void> feed(std::string_view bytes, std::vector<SseEvent>& events);

  // The last id sent, also of events without data, for Last-Event-ID; empty where there was none.
  const std::string& last_event_id() const { return last_id_; }
  // The last `retry` sent, at most one hour.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  bool take_line(std::string_view line, std::vector<SseEvent>& events);
  void take_field(std::string_view name, std::string_view value);

  std::size_t bytes_max_;
  std::string line_;
  bool after_cr_ = false;
  bool first_line_ = true;
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  std::string id_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace signet::transport
