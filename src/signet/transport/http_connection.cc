#include <signet/transport/http_connection_impl.h>

#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace signet::transport {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Kind = TransportFailure::Kind;

constexpr std::size_t head_bytes_max = std::size_t{64} << 10;
constexpr std::size_t read_bytes = std::size_t{16} << 10;

bool ends_stream(error_code error) {
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
}

std::string tls_reason(SSL* ssl, error_code error) {
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK) return X509_verify_cert_error_string(verdict);
  return error.message();
}

}  // namespace

HttpConnection::HttpConnection(asio::io_context& context, asio::ssl::context& trust, Executor& executor)
    : trust_(trust),
      executor_(executor),
      resolver_(context),
      socket_(context),
      input_(head_bytes_max + read_bytes) {}

template <typename Start>
OneShot<IoResult> HttpConnection::begin(Start start) {
  const OneShot<IoResult> done;
  start([self = shared_from_this(), done](error_code error, auto... rest) {
    std::size_t bytes = 0;
    if constexpr (sizeof...(rest) == 1) {
      if constexpr ((std::is_same_v<decltype(rest), std::size_t> && ...)) bytes = (rest + ...);
    }
    done.set(IoResult(error, bytes));
  });
  return done;
}

std::shared_ptr<void> HttpConnection::close_after(std::chrono::milliseconds timeout) {
  if (timeout.count() == 0) return nullptr;
  return executor_.post_after(timeout, [weak = weak_from_this()] {
    const std::shared_ptr<HttpConnection> self = weak.lock();
    if (!self) return;
    self->timed_out_ = true;
    self->close();
  });
}

Task<std::vector<tcp::endpoint>> HttpConnection::resolve(std::string host, std::uint16_t port) {
  std::vector<tcp::endpoint> endpoints;
  if (host == "localhost" || host.ends_with(".localhost")) {
    // Both families, whatever the hosts file says (RFC 6761): servers listen on either.
    endpoints.emplace_back(asio::ip::address_v4::loopback(), port);
    endpoints.emplace_back(asio::ip::address_v6::loopback(), port);
    co_return endpoints;
  }
  error_code numeric;
  const asio::ip::address address = asio::ip::make_address(host, numeric);
  if (!numeric) {
    endpoints.emplace_back(address, port);
    co_return endpoints;
  }
  const OneShot<std::vector<tcp::endpoint>> found;
  resolver_.async_resolve(
      host, std::to_string(port),
      [self = shared_from_this(), found](error_code error, tcp::resolver::results_type results) {
        std::vector<tcp::endpoint> all;
        if (!error) {
          for (const auto& entry : results) all.push_back(entry.endpoint());
        }
        found.set(std::move(all));
      });
  endpoints = co_await found;
  co_return endpoints;
}

Task<Failed> HttpConnection::open(HttpUrl url, std::optional<HttpUrl> proxy,
                                  std::chrono::milliseconds timeout) {
  const HttpUrl& first = proxy ? *proxy : url;
  const std::shared_ptr<void> deadline = close_after(timeout);
  std::string host = first.host;
  const Task<std::vector<tcp::endpoint>> resolving = resolve(host, first.port);
  const std::vector<tcp::endpoint> endpoints = co_await resolving;
  if (endpoints.empty()) co_return TransportFailure(Kind::unreachable, "the name " + host + " was not found");
  const OneShot<IoResult> connecting =
      begin([&](auto handler) { asio::async_connect(socket_, endpoints, std::move(handler)); });
  const IoResult connected = co_await connecting;
  if (connected.error) {
    const std::string why = timed_out_ ? std::string("no answer in time") : connected.error.message();
    co_return TransportFailure(Kind::unreachable, "no connection to " + first.authority() + ": " + why);
  }
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  if (!url.tls) co_return std::nullopt;
  if (proxy) {
    const Task<Failed> tunnelling = open_tunnel(url);
    Failed failed = co_await tunnelling;
    if (failed) co_return failed;
  }
  const Task<Failed> shaking = handshake(url.host);
  Failed failed = co_await shaking;
  co_return failed;
}

Task<Failed> HttpConnection::open_tunnel(HttpUrl url) {
  const std::string host = url.host.find(':') != std::string::npos ? "[" + url.host + "]" : url.host;
  const std::string target = host + ":" + std::to_string(url.port);
  const Task<Failed> sending =
      send("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n", std::chrono::milliseconds(0));
  Failed failed = co_await sending;
  if (failed) co_return failed;
  parser_ = std::make_unique<Parser>();
  parser_->skip(true);
  while (!parser_->is_header_done()) {
    const OneShot<IoResult> reading = begin_read();
    const IoResult read = co_await reading;
    if (read.error) co_return TransportFailure(Kind::unreachable, "the proxy closed the connection");
    input_.commit(read.bytes);
    failed = parse(false);
    if (failed) co_return TransportFailure(Kind::unreachable, "the proxy did not answer in HTTP");
  }
  if (status() / 100 != 2) {
    co_return TransportFailure(Kind::unreachable,
                               "the proxy refused with status " + std::to_string(status()));
  }
  parser_.reset();
  co_return std::nullopt;
}

Task<Failed> HttpConnection::handshake(std::string host) {
  tls_.emplace(socket_, trust_);
  error_code numeric;
  const bool is_name = (asio::ip::make_address(host, numeric), numeric.failed());
  if (is_name) {
    SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
    SSL_set1_host(tls_->native_handle(), host.c_str());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_->native_handle()), host.c_str());
  }
  tls_->set_verify_mode(asio::ssl::verify_peer);
  const OneShot<IoResult> shaking =
      begin([&](auto handler) { tls_->async_handshake(asio::ssl::stream_base::client, std::move(handler)); });
  const IoResult shaken = co_await shaking;
  if (!shaken.error) co_return std::nullopt;
  if (timed_out_) co_return TransportFailure(Kind::unreachable, "no TLS handshake with " + host + " in time");
  co_return TransportFailure(Kind::tls, "no trusted TLS connection to " + host + ": " +
                                            tls_reason(tls_->native_handle(), shaken.error));
}

Task<Failed> HttpConnection::send(std::string bytes, std::chrono::milliseconds timeout) {
  output_ = std::move(bytes);
  heard_ = false;
  const std::shared_ptr<void> deadline = close_after(timeout);
  const OneShot<IoResult> writing = begin([&](auto handler) {
    if (tls_) {
      asio::async_write(*tls_, asio::buffer(output_), std::move(handler));
    } else {
      asio::async_write(socket_, asio::buffer(output_), std::move(handler));
    }
  });
  const IoResult written = co_await writing;
  if (!written.error) co_return std::nullopt;
  broken_ = true;
  if (timed_out_) co_return TransportFailure(Kind::timed_out, "the server does not take the request", true);
  co_return TransportFailure(Kind::closed, "the connection broke while sending: " + written.error.message(),
                             true);
}

OneShot<IoResult> HttpConnection::begin_read() {
  return begin([&](auto handler) {
    const auto space = input_.prepare(read_bytes);
    if (tls_) {
      tls_->async_read_some(space, std::move(handler));
    } else {
      socket_.async_read_some(space, std::move(handler));
    }
  });
}

Failed HttpConnection::read_failure(error_code error) const {
  if (timed_out_) return TransportFailure(Kind::timed_out, "the server was silent for too long", true);
  if (ends_stream(error))
    return TransportFailure(Kind::closed, "the server closed the connection before its answer", true);
  return TransportFailure(Kind::closed, "the connection broke: " + error.message(), true);
}

// Gives the parser what has been read. `at_end`: nothing more will come.
Failed HttpConnection::parse(bool at_end) {
  error_code error;
  while (input_.size() > 0 && !parser_->is_done()) {
    const std::size_t used = parser_->put(input_.data(), error);
    input_.consume(used);
    if (error == http::error::need_more) {
      error = {};
      // The head of a chunk and the trailer are parsed whole, and the parser has no limit to them.
      if (input_.size() > head_bytes_max) error = http::error::header_limit;
      break;
    }
    if (error) break;
    if (used == 0) break;
  }
  if (!error && at_end && !parser_->is_done()) parser_->put_eof(error);
  if (!error) return std::nullopt;
  broken_ = true;
  if (error == http::error::partial_message || error == http::error::end_of_stream)
    return read_failure(asio::error::eof);
  return TransportFailure(Kind::not_mcp, "the answer is not valid HTTP: " + error.message(), true);
}

Task<Failed> HttpConnection::read_head(std::chrono::milliseconds silence) {
  for (;;) {
    parser_ = std::make_unique<Parser>();
    parser_->header_limit(head_bytes_max);
    parser_->body_limit(boost::none);
    parser_->eager(true);
    Failed failed = parse(false);
    if (failed) co_return failed;
    while (!parser_->is_header_done()) {
      const std::shared_ptr<void> deadline = close_after(silence);
      const OneShot<IoResult> reading = begin_read();
      const IoResult read = co_await reading;
      if (read.error) {
        broken_ = true;
        co_return read_failure(read.error);
      }
      heard_ = true;
      input_.commit(read.bytes);
      failed = parse(false);
      if (failed) co_return failed;
    }
    if (status() / 100 != 1) break;
    if (status() == 101)
      co_return TransportFailure(Kind::not_mcp, "the server switches to another protocol", true);
  }
  const std::string_view encoding = field("Transfer-Encoding");
  if (!encoding.empty() && !boost::beast::iequals(encoding, "chunked")) {
    broken_ = true;
    co_return TransportFailure(Kind::not_mcp, "the answer has an unknown transfer encoding", true);
  }
  co_return std::nullopt;
}

int HttpConnection::status() const { return static_cast<int>(parser_->get().result_int()); }

std::string_view HttpConnection::field(std::string_view name) const {
  const auto found = parser_->get().find(boost::beast::string_view(name.data(), name.size()));
  if (found == parser_->get().end()) return {};
  return {found->value().data(), found->value().size()};
}

Task<BodyPiece> HttpConnection::read_body(std::chrono::milliseconds silence) {
  BodyPiece piece;
  for (;;) {
    std::string& body = parser_->get().body();
    if (!body.empty()) {
      piece.bytes = std::move(body);
      body.clear();
      co_return piece;
    }
    if (parser_->is_done()) {
      piece.end = true;
      co_return piece;
    }
    const std::shared_ptr<void> deadline = close_after(silence);
    const OneShot<IoResult> reading = begin_read();
    const IoResult read = co_await reading;
    if (read.error && !ends_stream(read.error)) {
      broken_ = true;
      piece.failed = read_failure(read.error);
      co_return piece;
    }
    if (read.error) broken_ = true;
    input_.commit(read.bytes);
    piece.failed = parse(read.error.failed());
    if (piece.failed) co_return piece;
  }
}

bool HttpConnection::reusable() const {
  return !broken_ && !timed_out_ && socket_.is_open() && parser_ && parser_->is_done() &&
         parser_->keep_alive() && input_.size() == 0;
}

bool HttpConnection::stale() {
  char byte = 0;
  const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return !(got == -1 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

void HttpConnection::close() {
  broken_ = true;
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace signet::transport
