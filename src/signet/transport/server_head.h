// The heads of responses. Internal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/clock.h>
#include <signet/transport/server_request.h>

namespace signet::transport {

struct HeadOptions {
  std::string_view content_type;              // empty: no body
  std::optional<std::size_t> content_length;  // nothing: until the end of chunks, or of the connection
  bool chunked = false;
  bool close = false;
  std::string_view date;
};

// Appends the status line and the header with its blank line.
void append_head(std::string& out, int status, const HeadOptions& options, const Fields& fields);

// One chunk (RFC 9112, section 7.1). Precondition: not empty.
void append_chunk(std::string& out, std::string_view bytes);

// `Sun, 06 Nov 1994 08:49:37 GMT`
std::string http_date(Timestamp time);

}  // namespace signet::transport
