// The parser of HTTP/1.1 messages of both ends. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>

namespace signet::transport {

// Beast's parser with its faults in chunked bodies mended. It adds the fields of a trailer to those of the header, where they
// would be read after every check of the header was passed: here they are dropped (RFC 9110, section 6.5.1). A field
// longer than its container can hold, which the limit of the header does not keep out of a trailer, throws: here it is an
// error. And chunk extensions and trailers together may have chunk_overhead_bytes_max in one message.
// What is incomplete stays in the reader's buffer, so the reader must limit that.
template <bool is_request, typename Body>
class MessageParser final : public boost::beast::http::parser<is_request, Body> {
 public:
  static constexpr std::size_t chunk_overhead_bytes_max = std::size_t{16} << 10;

 private:
  using Text = boost::beast::string_view;

  void on_field_impl(boost::beast::http::field name, Text name_text, Text value,
                     boost::system::error_code& error) override {
    error = {};
    if (this->is_header_done()) return add_overhead(name_text.size() + value.size(), error);
    // The container keeps two octets more of each.
    constexpr std::size_t longest = std::numeric_limits<std::uint16_t>::max() - 2;
    if (name_text.size() > longest || value.size() > longest) {
      error = boost::beast::http::error::header_limit;
      return;
    }
    this->get().insert(name, name_text, value);
  }

  void on_chunk_header_impl(std::uint64_t, Text extensions, boost::system::error_code& error) override {
    error = {};
    add_overhead(extensions.size(), error);
  }

  void add_overhead(std::size_t size, boost::system::error_code& error) {
    overhead_bytes_ += size;
    if (overhead_bytes_ > chunk_overhead_bytes_max) error = boost::beast::http::error::header_limit;
  }

  std::size_t overhead_bytes_ = 0;
};

}  // namespace signet::transport
