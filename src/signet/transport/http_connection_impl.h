// One connection of an HTTP/1.1 client, plain or TLS, direct or through a proxy. Internal.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <signet/base/executor.h>
#include <signet/base/one_shot.h>
#include <signet/base/task.h>
#include <signet/protocol/transport_failure.h>
#include <signet/transport/http_url.h>
#include <signet/transport/message_parser.h>

namespace signet::transport {

using protocol::TransportFailure;
using Failed = std::optional<TransportFailure>;

struct IoResult {
  IoResult(boost::system::error_code code, std::size_t count) : error(code), bytes(count) {}
  boost::system::error_code error;
  std::size_t bytes;
};

// The next piece of a body. `end` with an empty piece: the body is complete.
struct BodyPiece {
  BodyPiece() = default;
  std::string bytes;
  bool end = false;
  Failed failed;
};

// A body whose pieces are taken out as they come. Unlike string_body it reserves nothing: what the peer announces
// as the length costs no memory.
struct PieceBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool is_request, typename Fields>
    reader(boost::beast::http::header<is_request, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, boost::system::error_code& error) { error = {}; }
    template <typename Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      std::size_t size = 0;
      for (auto at = boost::asio::buffer_sequence_begin(buffers);
           at != boost::asio::buffer_sequence_end(buffers); ++at) {
        const boost::asio::const_buffer buffer(*at);
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      return size;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

// Used on the thread of its event loop, by one task at a time; the task holds the shared pointer. Dropping the
// task and calling close() is safe at any moment: buffers live as long as the operations on them.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(boost::asio::io_context& context, boost::asio::ssl::context& trust, Executor& executor);

  // Connects, through `proxy` if there is one, and shakes hands for TLS, all within `timeout`.
  Task<Failed> open(HttpUrl url, std::optional<HttpUrl> proxy, std::chrono::milliseconds timeout);

  Task<Failed> send(std::string bytes, std::chrono::milliseconds timeout);

  // Reads status line and fields of the next final response. `silence` of zero waits for ever.
  Task<Failed> read_head(std::chrono::milliseconds silence);
  int status() const;
  // The first field of that name, or empty. Borrowed until the next read_head.
  std::string_view field(std::string_view name) const;

  Task<BodyPiece> read_body(std::chrono::milliseconds silence);

  // The response was read to its end, and another request may follow.
  bool reusable() const;
  // The peer has closed, or sent what nobody asked for, since.
  bool stale();
  // Nothing at all has arrived on it since the last send.
  bool silent() const { return !heard_; }
  void close();

 private:
  using Parser = MessageParser<false, PieceBody>;

  template <typename Start>
  OneShot<IoResult> begin(Start start);
  std::shared_ptr<void> close_after(std::chrono::milliseconds timeout);
  Task<std::vector<boost::asio::ip::tcp::endpoint>> resolve(std::string host, std::uint16_t port);
  Task<Failed> open_tunnel(HttpUrl url);
  Task<Failed> handshake(std::string host);
  OneShot<IoResult> begin_read();
  Failed read_failure(boost::system::error_code error) const;
  Failed parse(bool at_end);

  boost::asio::ssl::context& trust_;
  Executor& executor_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::ip::tcp::socket socket_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  boost::beast::flat_buffer input_;
  std::string output_;
  std::unique_ptr<Parser> parser_;
  bool timed_out_ = false;
  bool heard_ = false;
  bool broken_ = false;
};

}  // namespace signet::transport
