// One connection of the HTTP server, plain or TLS. Internal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <signet/transport/http_server.h>
#include <signet/transport/server_request.h>

namespace signet::transport {

// No type erasure on the way of every read: the executor is the io_context's own.
using ServerSocket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

// What the connections of one server share. On the loop's thread.
struct ConnectionContext {
  ConnectionContext(const HttpOptions& all, RequestHandler& to) : options(all), handler(to) {}

  const HttpOptions& options;
  RequestHandler& handler;
  std::uint64_t now = 0;  // ticks since the start
  std::chrono::milliseconds tick_length{1000};
  std::string date;                          // for the header Date
  bool any_address = false;                  // Host may be any IP address
  std::size_t bodies_bytes = 0;              // of large bodies that are being read
  bool closing = false;                      // no more requests after those being served
  std::function<void(int status)> answered;  // counts

  // In ticks, rounded up, one more because the current one has begun.
  std::uint64_t deadline(std::chrono::milliseconds time) const {
    return now + static_cast<std::uint64_t>(time / tick_length) + 2;
  }
};

class ServerConnection {
 public:
  ServerConnection() = default;
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;
  virtual ~ServerConnection() = default;

  // `closed` is called once at the end; it may release the connection.
  virtual void start(std::function<void()> closed) = 0;
  // Answers 503 and closes.
  virtual void turn_away() = 0;
  // Looks at its deadlines, and keeps an idle stream alive.
  virtual void tick() = 0;
  // Closes now if no request is being served, else after its answer.
  virtual void close_when_idle() = 0;
  virtual void close_now() = 0;
};

// `tls` null: plain HTTP.
std::shared_ptr<ServerConnection> make_connection(ServerSocket socket, ConnectionContext& context,
                                                  boost::asio::ssl::context* tls);

}  // namespace signet::transport
