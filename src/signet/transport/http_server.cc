#include <signet/transport/http_server.h>

#include <algorithm>
#include <csignal>
#include <list>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <signet/base/entropy.h>
#include <signet/transport/asio_executor.h>
#include <signet/transport/endpoint.h>
#include <signet/transport/server_connection.h>
#include <signet/transport/server_head.h>

namespace signet {
namespace {

using namespace transport;  // NOLINT(google-build-using-namespace): this file is of that room
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>,
                               asio::io_context::executor_type>;

constexpr int backlog = 1024;
constexpr std::chrono::milliseconds tick_min{5};
constexpr std::chrono::milliseconds tick_max{500};
constexpr std::chrono::milliseconds accept_pause{100};

// A quarter of the shortest time that is watched.
std::chrono::milliseconds tick_of(const HttpOptions& options) {
  const auto shortest =
      std::min({options.header_timeout, options.body_timeout, options.idle_timeout, options.write_timeout,
                options.json_answer_max, options.keepalive_interval, options.session_idle_timeout});
  return std::clamp(shortest / 4, tick_min, tick_max);
}

// What may be seen of the process on the second address.
class Admin final : public RequestHandler {
 public:
  explicit Admin(const HttpOptions& options) : options_(options) {}

  void handle(std::shared_ptr<const ServerRequest> request, std::shared_ptr<Responder> responder) override {
    constexpr std::string_view text = "text/plain; charset=utf-8";
    const std::string_view path = path_of(request->target());
    const bool health = path == "/healthz";
    if (!health && (path != "/metrics" || !options_.metrics_text))
      return responder->respond(404, text, "Not found", Fields());
    if (request->method() != "GET" && request->method() != "HEAD") {
      Fields fields;
      fields.emplace_back("Allow", "GET, HEAD");
      return responder->respond(405, text, "Method not allowed", fields);
    }
    if (!health)
      return responder->respond(200, "text/plain; version=0.0.4; charset=utf-8", options_.metrics_text(),
                                Fields());
    responder->respond(closing ? 503 : 200, text, closing ? "closing\n" : "ok\n", Fields());
  }

  bool closing = false;

 private:
  const HttpOptions& options_;
};

std::string status_label(int status) { return "status=\"" + std::to_string(status) + "\""; }

}  // namespace

// Members in the order of their lives: what runs on the loop goes before the loop.
struct HttpServer::Impl {
  Impl(Service& served, HttpOptions given)
      : service(served),
        options(std::move(given)),
        context(1),
        executor(context),
        endpoint(service, executor, options, system_entropy()),
        admin(options),
        connections(options, endpoint),
        admin_connections(options, admin),
        timer(context),
        signals(context) {
    connections.answered = [this](int status) {
      if (options.metrics != nullptr)
        options.metrics->add("signet_http_responses_total", status_label(status));
    };
    tick_length = tick_of(options);
    for (ConnectionContext* shared : {&connections, &admin_connections}) {
      shared->tick_length = tick_length;
      shared->date = http_date(system_clock().now());
    }
  }

  ~Impl() { close_all(); }

  // ---- listening ----

  Result<void> check() const {
    error_code error;
    const auto address = asio::ip::make_address(options.host, error);
    if (error) return failure("the host to listen on is no address: " + options.host);
    if (!address.is_loopback() && options.authenticator == nullptr && !options.allow_anonymous_public)
      return failure(
          "listening on " + options.host +
          " without authentication serves everybody; set an authenticator, or allow_anonymous_public");
    if (!options.path.starts_with('/')) return failure("the path must begin with /");
    if (options.tls_certificate_file.empty() != options.tls_key_file.empty())
      return failure("TLS needs both a certificate and a key");
    return {};
  }

  Result<void> load_tls() {
    if (options.tls_certificate_file.empty()) return {};
    tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    error_code error;
    tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                         asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1,
                     error);
    tls->use_certificate_chain_file(options.tls_certificate_file, error);
    if (error)
      return failure("the TLS certificate " + options.tls_certificate_file +
                     " cannot be used: " + error.message());
    tls->use_private_key_file(options.tls_key_file, asio::ssl::context::pem, error);
    if (error) return failure("the TLS key " + options.tls_key_file + " cannot be used: " + error.message());
    return {};
  }

  Result<std::unique_ptr<Acceptor>> listen(const std::string& host, std::uint16_t port) {
    error_code error;
    const auto address = asio::ip::make_address(host, error);
    if (error) return failure("the host to listen on is no address: " + host);
    const tcp::endpoint where(address, port);
    auto acceptor = std::make_unique<Acceptor>(context);
    acceptor->open(where.protocol(), error);
    if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor->bind(where, error);
    if (!error) acceptor->listen(backlog, error);
    if (error)
      return failure("cannot listen on " + host + ":" + std::to_string(port) + ": " + error.message());
    return acceptor;
  }

  Result<void> start() {
    Result<void> checked = check();
    if (checked.ok()) checked = load_tls();
    if (!checked.ok()) return checked;
    Result<std::unique_ptr<Acceptor>> opened = listen(options.host, options.port);
    if (!opened.ok()) return failure(std::move(opened).error());
    acceptor = std::move(opened).value();
    port = port_of(*acceptor);
    if (options.admin_port) {
      Result<std::unique_ptr<Acceptor>> second = listen(options.admin_host, *options.admin_port);
      if (!second.ok()) return failure(std::move(second).error());
      admin_acceptor = std::move(second).value();
      admin_port = port_of(*admin_acceptor);
      accept(*admin_acceptor, admin_connections, nullptr);
    }
    accept(*acceptor, connections, tls.get());
    schedule_tick();
    if (options.log)
      options.log(LogLevel::info, "http_listening",
                  {{"host", options.host}, {"port", std::to_string(port)}, {"path", options.path}});
    if (options.log && admin_acceptor)
      options.log(LogLevel::info, "http_admin_listening",
                  {{"host", options.admin_host}, {"port", std::to_string(admin_port)}});
    return {};
  }

  static std::uint16_t port_of(const Acceptor& from) {
    error_code error;
    return from.local_endpoint(error).port();
  }

  void accept(Acceptor& from, ConnectionContext& shared, asio::ssl::context* secured) {
    from.async_accept([this, &from, &shared, secured](error_code error, ServerSocket socket) {
      if (stopping || error == asio::error::operation_aborted) return;
      if (error) {
        // Out of descriptors, most likely: trying again at once would spin.
        pause = executor.post_after(accept_pause,
                                    [this, &from, &shared, secured] { accept(from, shared, secured); });
        return;
      }
      take(std::move(socket), shared, secured);
      accept(from, shared, secured);
    });
  }

  void take(ServerSocket socket, ConnectionContext& shared, asio::ssl::context* secured) {
    // Those that are being turned away count too: beyond twice the limit there is not even an answer.
    if (open.size() >= 2 * options.connections_max) return;
    const bool full = open.size() >= options.connections_max;
    const std::shared_ptr<ServerConnection> connection =
        make_connection(std::move(socket), shared, full ? nullptr : secured);
    const auto place = open.insert(open.end(), connection);
    connection->start([this, place] {
      open.erase(place);
      stop_when_idle();
    });
    if (full) connection->turn_away();
  }

  // ---- time ----

  void schedule_tick() {
    timer.expires_after(tick_length);
    timer.async_wait([this](error_code error) {
      if (error) return;
      tick();
      schedule_tick();
    });
  }

  void tick() {
    ++now;
    const std::string date = http_date(system_clock().now());
    for (ConnectionContext* shared : {&connections, &admin_connections}) {
      shared->now = now;
      shared->date = date;
    }
    endpoint.tick(now, tick_length);
    stop_when_idle();
    for_each_connection([this](ServerConnection& connection) {
      connection.tick();
      if (stopping) connection.close_when_idle();
    });
  }

  // A connection may go while it is looked at, and only that one.
  template <typename F>
  void for_each_connection(const F& each) {
    for (auto next = open.begin(); next != open.end();) {
      const std::shared_ptr<ServerConnection> connection = *next++;
      each(*connection);
    }
  }

  // ---- the end ----

  void stop() {
    if (stopping) return;
    stopping = true;
    admin.closing = connections.closing = admin_connections.closing = true;
    error_code ignored;
    for (const auto* listening : {&acceptor, &admin_acceptor}) {
      if (*listening != nullptr) (*listening)->close(ignored);
    }
    signals.cancel(ignored);
    endpoint.begin_shutdown();
    for_each_connection([](ServerConnection& connection) { connection.close_when_idle(); });
    stop_when_idle();
    grace = executor.post_after(options.shutdown_grace, [this] { context.stop(); });
  }

  void stop_when_idle() {
    if (stopping && open.empty() && endpoint.is_idle()) context.stop();
  }

  // After the loop has ended: what still runs is dropped, on a last round of the loop.
  void close_all() {
    stopping = true;
    error_code ignored;
    for (const auto* listening : {&acceptor, &admin_acceptor}) {
      if (*listening != nullptr) (*listening)->close(ignored);
    }
    endpoint.cancel_all();
    for_each_connection([](ServerConnection& connection) { connection.close_now(); });
    timer.cancel(ignored);
    signals.cancel(ignored);
    pause.reset();
    grace.reset();
    context.restart();
    context.poll();
  }

  Service& service;
  const HttpOptions options;
  std::unique_ptr<asio::ssl::context> tls;
  asio::io_context context;
  AsioExecutor executor;
  Endpoint endpoint;
  Admin admin;
  ConnectionContext connections;
  ConnectionContext admin_connections;
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<Acceptor> admin_acceptor;
  Timer timer;
  asio::signal_set signals;
  std::shared_ptr<void> pause;
  std::shared_ptr<void> grace;
  std::list<std::shared_ptr<ServerConnection>> open;
  std::chrono::milliseconds tick_length{};
  std::uint64_t now = 0;
  std::uint16_t port = 0;
  std::uint16_t admin_port = 0;
  bool stopping = false;
};

HttpServer::HttpServer(Service& service, HttpOptions options)
    : impl_(std::make_unique<Impl>(service, std::move(options))) {}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::start() { return impl_->start(); }

std::uint16_t HttpServer::port() const { return impl_->port; }

std::uint16_t HttpServer::admin_port() const { return impl_->admin_port; }

void HttpServer::run() {
  std::signal(SIGPIPE, SIG_IGN);
  auto busy = asio::make_work_guard(impl_->context);
  impl_->context.run();
  impl_->close_all();
}

void HttpServer::stop() {
  asio::post(impl_->context, [impl = impl_.get()] { impl->stop(); });
}

void HttpServer::stop_on_signals() {
  error_code ignored;
  impl_->signals.add(SIGINT, ignored);
  impl_->signals.add(SIGTERM, ignored);
  impl_->signals.async_wait([impl = impl_.get()](error_code error, int) {
    if (!error) impl->stop();
  });
}

Executor& HttpServer::executor() { return impl_->executor; }

Result<void> serve_http(Service& service, HttpOptions options,
                        const std::function<void(std::uint16_t port)>& listening) {
  HttpServer server(service, std::move(options));
  Result<void> started = server.start();
  if (!started.ok()) return started;
  server.stop_on_signals();
  if (listening) listening(server.port());
  server.run();
  return {};
}

}  // namespace signet
