// The attacker is anybody who can open a connection: bytes go into a real connection of the HTTP server, before
// authentication, with a small service of both eras behind it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <signet/base/entropy.h>
#include <signet/transport/asio_executor.h>
#include <signet/transport/endpoint.h>
#include <signet/transport/server_connection.h>
#include <signet/transport/testing_service.h>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using signet::transport::ServerSocket;

// Lets everybody in but those who say otherwise, so that bodies wait for it.
class Porter final : public signet::Authenticator {
 public:
  signet::Task<signet::Result<signet::Principal, signet::Challenge>> authenticate(
      const signet::CallerHeaders& caller) override {
    const std::string who = caller.header("Authorization").value_or("");
    if (who == "throw") throw std::runtime_error("as asked");
    if (who == "no") co_return signet::failure(signet::Challenge(signet::Challenge::Kind::unauthenticated));
    co_return signet::Principal::anonymous();
  }
};

// One loop, one listening socket and one endpoint for all inputs.
class Front {
 public:
  Front()
      : context_(1),
        executor_(context_),
        acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        endpoint_(service_, executor_, options_, signet::system_entropy()),
        shared_(options_, endpoint_) {}

  void feed(const std::uint8_t* data, std::size_t size) {
    ServerSocket client(context_);
    error_code ignored;
    client.connect(acceptor_.local_endpoint(), ignored);
    if (ignored) return;  // the fuzzer's own timer interrupted the call
    ServerSocket server(context_);
    acceptor_.accept(server);
    bool closed = false;
    const auto connection = signet::transport::make_connection(std::move(server), shared_, nullptr);
    connection->start([&] { closed = true; });
    // Small enough for the socket's buffer, so that writing does not wait for the reader.
    asio::write(client, asio::buffer(data, size), ignored);
    client.shutdown(tcp::socket::shutdown_send, ignored);
    run();
    client.close(ignored);
    run();
    connection->close_now();
    endpoint_.cancel_all();
    run();
    if (!closed || signet::detail::frames_alive() != 0) std::abort();
  }

 private:
  void run() {
    for (int round = 0; round < 3; ++round) {
      context_.restart();
      context_.poll();
    }
  }

  static signet::HttpOptions options() {
    signet::HttpOptions options;
    options.cors = true;
    options.log = nullptr;
    options.protected_resource.emplace();
    options.sessions_max = 4;
    options.authenticator = std::make_shared<Porter>();
    return options;
  }

  const signet::HttpOptions options_ = options();
  signet::transport::TestingService service_;
  asio::io_context context_;
  signet::transport::AsioExecutor executor_;
  asio::basic_socket_acceptor<tcp, asio::io_context::executor_type> acceptor_;
  signet::transport::Endpoint endpoint_;
  signet::transport::ConnectionContext shared_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Front front;
  if (size <= std::size_t{32} << 10) front.feed(data, size);
  return 0;
}
