// The floor that bench/http compares with: Beast reads a POST, and a response made beforehand goes out. No JSON is looked at.
//   bench_bare_beast PORT
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
// The executor by its type: any_io_executor costs about a third of this program's time.
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;
using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;

std::string make_response() {
  std::string body =
      R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"42 for the bench"}],)"
      R"("resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1"}}}})";
  return "HTTP/1.1 200 OK\r\nDate: Sun, 29 Nov 2026 12:00:00 GMT\r\nContent-Type: "
         "application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, const std::string& response) : socket_(std::move(socket)), response_(response) {
    buffer_.reserve(4096);
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
  }

  void read() {
    parser_.emplace();
    http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (!error) self->write();
    });
  }

 private:
  void write() {
    asio::async_write(socket_, asio::buffer(response_),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  Socket socket_;
  const std::string& response_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
};

void accept(Acceptor& acceptor, const std::string& response) {
  acceptor.async_accept([&acceptor, &response](error_code error, Socket socket) {
    if (!error) std::make_shared<Connection>(std::move(socket), response)->read();
    accept(acceptor, response);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string response = make_response();
  asio::io_context context(1);
  const tcp::endpoint where(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::atoi(argv[1])));
  Acceptor acceptor(context, where);
  accept(acceptor, response);
  context.run();
}
