#include <signet/transport/http_server.h>

#include <sys/resource.h>

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
#include <signet/transport/guarded.h>
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
    if (health)
      return responder->respond(closing ? 503 : 200, text, closing ? "closing\n" : "ok\n", Fields());
    std::string metrics;
    if (!call_guarded(options_.log, "HttpOptions::metrics_text", [&] { metrics = options_.metrics_text(); }))
      return responder->respond(500, text, "The metrics could not be written", Fields());
    responder->respond(200, "text/plain; version=0.0.4; charset=utf-8", metrics, Fields());
  }

  bool closing = false;

 private:
  const HttpOptions& options_;
};

// Descriptors that are needed for other things than connections, at a guess: pipes, files, stores, the admin address.
constexpr std::size_t descriptors_besides = 64;

// An address that is listened on, and who has come there. Each waits for itself when the process is out of descriptors.
struct Door {
  Door(ConnectionContext& connections, std::size_t at_once_max)
      : shared(connections), connections_max(at_once_max) {}

  ConnectionContext& shared;
  const std::size_t connections_max;
  asio::ssl::context* secured = nullptr;
  std::unique_ptr<Acceptor> acceptor;  // null where nothing listens
  std::uint16_t port = 0;
  std::shared_ptr<void> pause;
  bool failing = false;
  std::list<std::shared_ptr<ServerConnection>> open;
};

std::string status_label(int status) { return "status=\"" + std::to_string(status) + "\""; }

}  // namespace

// Members in the order of their lives: what runs on the loop goes before the loop.
struct HttpServer::Impl {
  Impl(Service& served, HttpOptions given)
      : service(served),
        options(with_guarded_log(std::move(given))),
        context(1),
        executor(context),
        endpoint(service, executor, options, system_entropy()),
        admin(options),
        connections(options, endpoint),
        admin_connections(options, admin),
        front(connections, options.connections_max),
        side(admin_connections, options.admin_connections_max),
        timer(context),
        signals(context) {
    connections.answered = [this](int status) {
      if (options.metrics == nullptr) return;
      call_guarded(options.log, "Metrics::add",
                   [&] { options.metrics->add("signet_http_responses_total", status_label(status)); });
    };
    // A web page comes by a name, whatever that was made to point to; probes and scrapers come by address.
    admin_connections.any_address = true;
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

  Result<void> open_door(Door& door, const std::string& host, std::uint16_t port) {
    Result<std::unique_ptr<Acceptor>> opened = listen(host, port);
    if (!opened.ok()) return failure(std::move(opened).error());
    door.acceptor = std::move(opened).value();
    error_code error;
    door.port = door.acceptor->local_endpoint(error).port();
    return {};
  }

  Result<void> start() {
    Result<void> done = check();
    if (done.ok()) done = load_tls();
    if (done.ok()) done = open_door(front, options.host, options.port);
    if (done.ok() && options.admin_port) done = open_door(side, options.admin_host, *options.admin_port);
    if (!done.ok()) return done;
    front.secured = tls.get();
    for (Door* door : {&front, &side}) {
      if (door->acceptor != nullptr) accept(*door);
    }
    schedule_tick();
    if (!options.log) return {};
    options.log(LogLevel::info, "http_listening",
                {{"host", options.host}, {"port", std::to_string(front.port)}, {"path", options.path}});
    if (side.acceptor != nullptr)
      options.log(LogLevel::info, "http_admin_listening",
                  {{"host", options.admin_host}, {"port", std::to_string(side.port)}});
    warn_of_descriptors();
    return {};
  }

  // A process out of descriptors refuses nobody with a sentence: it does not answer.
  void warn_of_descriptors() const {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    if (options.connections_max + descriptors_besides <= limit.rlim_cur) return;
    options.log(LogLevel::warning, "http_connections_beyond_descriptors",
                {{"connections_max", std::to_string(options.connections_max)},
                 {"descriptors", std::to_string(limit.rlim_cur)},
                 {"hint", "raise ulimit -n, or lower HttpOptions::connections_max"}});
  }

  void accept(Door& door) {
    door.acceptor->async_accept([this, &door](error_code error, ServerSocket socket) {
      if (stopping || error == asio::error::operation_aborted) return;
      if (error) return pause(door, error);
      door.failing = false;
      take(std::move(socket), door);
      accept(door);
    });
  }

  // Out of descriptors, most likely: trying again at once would spin.
  void pause(Door& door, const error_code& error) {
    if (!door.failing && options.log)
      options.log(LogLevel::error, "http_accept_failed",
                  {{"port", std::to_string(door.port)}, {"reason", error.message()}});
    door.failing = true;
    door.pause = executor.post_after(accept_pause, [this, &door] { accept(door); });
  }

  void take(ServerSocket socket, Door& door) {
    // Those that are being turned away count too: beyond twice the limit there is not even an answer.
    if (door.open.size() >= 2 * door.connections_max) return;
    const bool full = door.open.size() >= door.connections_max;
    const std::shared_ptr<ServerConnection> connection =
        make_connection(std::move(socket), door.shared, full ? nullptr : door.secured);
    const auto place = door.open.insert(door.open.end(), connection);
    connection->start([this, &door, place] {
      door.open.erase(place);
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
    for (Door* door : {&front, &side}) {
      for (auto next = door->open.begin(); next != door->open.end();) {
        const std::shared_ptr<ServerConnection> connection = *next++;
        each(*connection);
      }
    }
  }

  // ---- the end ----

  void stop() {
    if (stopping) return;
    stopping = true;
    admin.closing = connections.closing = admin_connections.closing = true;
    close_doors();
    error_code ignored;
    signals.cancel(ignored);
    endpoint.begin_shutdown();
    for_each_connection([](ServerConnection& connection) { connection.close_when_idle(); });
    stop_when_idle();
    grace = executor.post_after(options.shutdown_grace, [this] { context.stop(); });
  }

  void close_doors() {
    error_code ignored;
    for (Door* door : {&front, &side}) {
      door->pause.reset();
      if (door->acceptor != nullptr) door->acceptor->close(ignored);
    }
  }

  void stop_when_idle() {
    if (stopping && front.open.empty() && side.open.empty() && endpoint.is_idle()) context.stop();
  }

  // After the loop has ended: what still runs is dropped, on a last round of the loop.
  void close_all() {
    stopping = true;
    close_doors();
    error_code ignored;
    endpoint.cancel_all();
    for_each_connection([](ServerConnection& connection) { connection.close_now(); });
    timer.cancel(ignored);
    signals.cancel(ignored);
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
  Door front;
  Door side;  // the admin address
  Timer timer;
  asio::signal_set signals;
  std::shared_ptr<void> grace;
  std::chrono::milliseconds tick_length{};
  std::uint64_t now = 0;
  bool stopping = false;
};

HttpServer::HttpServer(Service& service, HttpOptions options)
    : impl_(std::make_unique<Impl>(service, std::move(options))) {}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::start() { return impl_->start(); }

std::uint16_t HttpServer::port() const { return impl_->front.port; }

std::uint16_t HttpServer::admin_port() const { return impl_->side.port; }

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
