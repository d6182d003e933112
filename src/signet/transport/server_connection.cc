#include <signet/transport/server_connection.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <signet/protocol/header_codec.h>
#include <signet/transport/message_parser.h>
#include <signet/transport/server_gate.h>
#include <signet/transport/server_head.h>

namespace signet::transport {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

using TlsSocket = asio::ssl::stream<ServerSocket>;
using Parser = MessageParser<true, http::string_body>;

// Read ahead of the request being served, at most; more is read after its answer.
constexpr std::size_t pipeline_bytes_max = std::size_t{64} << 10;
constexpr std::size_t read_bytes = std::size_t{16} << 10;
// After a refusal the rest of what the client sends is read and thrown away, so that it gets to read the answer.
constexpr std::size_t linger_bytes_max = std::size_t{16} << 20;
constexpr std::chrono::milliseconds linger_timeout{2000};
// A body beyond this takes part in bodies_bytes_max: smaller ones are never in the way of one another.
constexpr std::size_t large_body_bytes = std::size_t{64} << 10;
constexpr std::size_t buffer_bytes_kept = std::size_t{64} << 10;

using ReadMessage = http::request<http::string_body>;

// A message of the parser, as the rest of the server sees it.
class RequestView : public ServerRequest {
 public:
  RequestView(const ReadMessage& message, bool came_by_tls) : message_(message) { secure = came_by_tls; }

  std::string_view method() const override { return as_std(message_.method_string()); }
  std::string_view target() const override { return as_std(message_.target()); }
  std::string_view body() const override { return message_.body(); }
  std::size_t header_count(std::string_view name) const override {
    std::size_t count = 0;
    each(name, [&count](std::string_view) { ++count; });
    return count;
  }
  std::optional<std::string_view> header(std::string_view name) const override {
    std::size_t count = 0;
    std::string_view found;
    each(name, [&](std::string_view value) {
      ++count;
      found = value;
    });
    if (count != 1) return std::nullopt;
    return protocol::trim_blanks(found);
  }
  std::optional<std::string_view> doubled(std::string_view prefix) const override {
    std::vector<std::string_view> names;
    for (const auto& field : message_) {
      const std::string_view name = as_std(field.name_string());
      if (protocol::equal_ignoring_case(name.substr(0, prefix.size()), prefix)) names.push_back(name);
    }
    std::ranges::sort(names, {}, protocol::lower_case);
    const auto twin = std::ranges::adjacent_find(names, protocol::equal_ignoring_case);
    return twin != names.end() ? std::optional(*twin) : std::nullopt;
  }
  std::optional<std::string> list(std::string_view name) const override {
    std::optional<std::string> joined;
    each(name, [&joined](std::string_view value) {
      if (joined) *joined += ',';
      if (!joined) joined.emplace();
      *joined += value;
    });
    return joined;
  }

 private:
  static std::string_view as_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

  // The fields of that name, in order. A few fields are searched faster one by one than in the parser's tree.
  template <typename F>
  void each(std::string_view name, const F& take) const {
    for (const auto& field : message_) {
      const std::string_view present = as_std(field.name_string());
      if (present.size() == name.size() && protocol::equal_ignoring_case(present, name))
        take(as_std(field.value()));
    }
  }

  const ReadMessage& message_;
};

struct MessageOwner {
  explicit MessageOwner(ReadMessage read) : message(std::move(read)) {}
  ReadMessage message;
};

class OwnedRequest final : private MessageOwner, public RequestView {
 public:
  OwnedRequest(ReadMessage read, bool came_by_tls)
      : MessageOwner(std::move(read)), RequestView(message, came_by_tls) {}
};

template <typename Stream>
class Connection final : public ServerConnection, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, ConnectionContext& context) : stream_(std::move(stream)), context_(context) {}

  void start(std::function<void()> closed) override {
    closed_ = std::move(closed);
    error_code ignored;
    socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    peer_address_ = socket().remote_endpoint(ignored).address().to_string();
    phase_deadline_ = context_.deadline(context_.options.header_timeout);
    if constexpr (by_tls) {
      stream_.async_handshake(asio::ssl::stream_base::server, [self = self()](error_code error) {
        if (error) return self->close_now();
        self->read();
      });
    } else {
      read();
    }
  }

  void turn_away() override {
    closing_ = true;
    if constexpr (by_tls) return close_now();
    refuse(Refusal(503, "Too many connections", true));
  }

  void tick() override {
    if (phase_ == Phase::closed) return;
    if (write_deadline_ != 0 && context_.now >= write_deadline_) return close_now();
    if (phase_deadline_ != 0 && context_.now >= phase_deadline_) return time_out();
    if (streaming_ && !writing_ && context_.now >= keepalive_at_) write_event(": keep-alive\n\n");
  }

  void close_when_idle() override {
    closing_ = true;
    if (answer_ == nullptr && !writing_) close_now();
  }

  void close_now() override {
    if (phase_ == Phase::closed) return;
    const std::shared_ptr<Connection> alive = self();
    phase_ = Phase::closed;
    phase_deadline_ = write_deadline_ = 0;
    release_body();  // not in the destructor: the context need not live as long
    error_code ignored;
    socket().close(ignored);
    abandon_answer();
    const std::function<void()> closed = std::exchange(closed_, nullptr);
    if (closed) closed();
  }

 private:
  static constexpr bool by_tls = std::is_same_v<Stream, TlsSocket>;

  enum class Phase : std::uint8_t { idle, header, body, serving, linger, closed };

  // The answer to the request being served. Cut from the connection when it is complete or the client has gone.
  class Answer final : public Responder {
   public:
    explicit Answer(Connection& connection) : connection_(&connection) {}
    void respond(int status, std::string_view content_type, std::string_view body,
                 const Fields& fields) override {
      if (Connection* connection = connection_) connection->respond(status, content_type, body, fields);
    }
    void open_stream(const Fields& fields) override {
      if (Connection* connection = connection_) connection->open_stream(fields);
    }
    void write(std::string_view events) override {
      if (Connection* connection = connection_) connection->write_checked(events);
    }
    void end_stream() override {
      if (Connection* connection = connection_) connection->end_stream();
    }
    bool is_behind() const override { return connection_ != nullptr && connection_->is_behind(); }
    void cut() { connection_ = nullptr; }

   private:
    Connection* connection_;
  };

  std::shared_ptr<Connection> self() { return this->shared_from_this(); }

  ServerSocket& socket() {
    if constexpr (by_tls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  // ---- reading ----

  void read() {
    if (reading_ || ended_ || phase_ == Phase::closed) return;
    if ((phase_ == Phase::serving || congested()) && unread().size() >= pipeline_bytes_max) return;
    reading_ = true;
    // Only here: while a read is under way, its bytes land where `prepare` said, and the buffer must not move.
    buffer_.consume(parsed_);
    parsed_ = 0;
    stream_.async_read_some(buffer_.prepare(read_bytes),
                            [self = self()](error_code error, std::size_t count) {
                              self->reading_ = false;
                              self->on_read(error, count);
                            });
  }

  void on_read(error_code error, std::size_t count) {
    if (phase_ == Phase::closed) return;
    if (error) return on_end();
    buffer_.commit(count);
    if (final_) return throw_away();
    advance();
    read();
  }

  // The client sends nothing more. What is being served has lost its reader: that is how requests are cancelled.
  void on_end() {
    ended_ = true;
    abandon_answer();
    if (!writing_) close_now();
    closing_ = true;
  }

  // The client does not read its answers: no more requests are taken from it until it does.
  bool congested() const { return unwritten() > context_.options.queue_bytes_max; }
  // Long before it is congested, and cut off.
  bool is_behind() const { return unwritten() > context_.options.queue_bytes_max / 4; }
  std::size_t unwritten() const { return out_.size() + in_flight_.size() - written_; }

  // What has arrived and was not parsed yet.
  asio::const_buffer unread() const { return buffer_.cdata() + parsed_; }
  std::string_view unread_text() const {
    const asio::const_buffer bytes = unread();
    return {static_cast<const char*>(bytes.data()), bytes.size()};
  }

  void throw_away() {
    parser_.reset();
    release_body();
    lingered_ += unread().size();
    parsed_ = buffer_.size();
    if (lingered_ > linger_bytes_max) return close_now();
    if (phase_ == Phase::linger) phase_deadline_ = std::min(context_.deadline(linger_timeout), linger_end_);
    read();
  }

  // Takes as many requests from the buffer as can be answered at once.
  void advance() {
    in_advance_ = true;
    while (answer_ == nullptr && !final_ && phase_ != Phase::closed && unread().size() != 0 && !congested()) {
      if (!parse()) break;
      dispatch();
    }
    in_advance_ = false;
  }

  void begin_request() {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(static_cast<std::uint32_t>(context_.options.header_bytes_max));
    parser_->body_limit(context_.options.body_bytes_max);
    header_checked_ = false;
    head_only_ = false;
    principal_.reset();
    start_bytes_ = 0;
    phase_ = Phase::header;
    phase_deadline_ = context_.deadline(context_.options.header_timeout);
  }

  // Some clients send a line break behind a body (RFC 9112, section 2.2). True if something follows it.
  bool skip_empty_lines() {
    while (unread_text().starts_with("\r\n")) parsed_ += 2;
    return !unread_text().empty() && unread_text() != "\r";
  }

  // A field that goes on in the next line is read in two ways, and belongs to no request of today (RFC 9112, 5.2).
  static bool is_folded(std::string_view head) {
    return head.find("\r\n ") != std::string_view::npos || head.find("\r\n\t") != std::string_view::npos;
  }

  // True if a whole request has been read.
  bool parse() {
    if (!parser_) {
      if (!skip_empty_lines()) return false;
      begin_request();
    }
    while (!parser_->is_done()) {
      if (unread().size() == 0) return false;
      error_code error;
      const std::string_view arrived = unread_text();
      const std::size_t taken = parser_->put(unread(), error);
      parsed_ += taken;
      if (!parser_->is_header_done()) start_bytes_ += taken;
      if (parser_->is_header_done() && !header_checked_) {
        header_checked_ = true;
        // The parser takes the fields whole, so all of them have just arrived; the line before them, maybe earlier.
        const std::string_view head = arrived.substr(0, arrived.find("\r\n\r\n"));
        // The parser's own limit counts otherwise, and lets a little more through.
        if (std::exchange(start_bytes_, 0) + head.size() + 4 > context_.options.header_bytes_max) {
          refuse(refusal_of(http::error::header_limit));
          return false;
        }
        if (is_folded(head)) {
          refuse(Refusal(400, "A header field goes over several lines", true));
          return false;
        }
        if (!admit_header(error && error != http::error::need_more)) return false;
      }
      if (!error && header_checked_ && !find_place_for_body()) return false;
      // The head of a chunk and the trailer are parsed whole: what is no limit to the parser is one to us.
      if (error == http::error::need_more &&
          start_bytes_ + unread().size() > context_.options.header_bytes_max)
        error = http::error::header_limit;
      if (error == http::error::need_more) return false;
      if (error) {
        refuse(refusal_of(error));
        return false;
      }
    }
    return true;
  }

  static Refusal refusal_of(const error_code& error) {
    if (error == http::error::header_limit) return Refusal(431, "The header is too large", true);
    if (error == http::error::body_limit) return Refusal(413, "The body is too large", true);
    return Refusal(400, "This is no HTTP/1.1 request", true);
  }

  // Behind a proxy with another name everything is refused, and the operator must hear why.
  void log_source(const RequestView& head, std::string_view why) const {
    constexpr std::size_t shown_max = 100;
    if (!context_.options.log) return;
    context_.options.log(LogLevel::warning, "http_source_refused",
                         {{"why", std::string(why)},
                          {"host", std::string(authority_of(head).substr(0, shown_max))},
                          {"origin", std::string(head.header("Origin").value_or("").substr(0, shown_max))},
                          {"hint", "HttpOptions::allowed_hosts, allowed_origins"}});
  }

  // What can be refused before the body is read; false if it was, or if it is still to be found out.
  bool admit_header(bool broken) {
    phase_ = Phase::body;
    phase_deadline_ = context_.deadline(context_.options.body_timeout);
    const auto& message = parser_->get();
    const RequestView head(message, by_tls);
    std::optional<Refusal> refusal = check_framing(head);
    if (!refusal) {
      refusal = check_source(head, context_.options, context_.any_address);
      if (refusal) log_source(head, refusal->message);
    }
    const std::optional<std::string_view> expected = head.header("Expect");
    if (!refusal && expected && !protocol::equal_ignoring_case(*expected, "100-continue"))
      refusal = Refusal(417, "This expectation cannot be met", true);
    if (refusal) {
      refusal->close = true;  // the body stays unread
      refuse(*refusal);
      return false;
    }
    expects_continue_ = expected.has_value() && message.version() >= 11;
    if (broken || parser_->is_done()) return true;
    if (context_.handler.wants_heads()) return ask_for_admission();
    return begin_body();
  }

  // False if the body cannot be read now.
  bool begin_body() {
    if (!find_place_for_body()) return false;
    phase_ = Phase::body;
    phase_deadline_ = context_.deadline(context_.options.body_timeout);
    if (expects_continue_) write("HTTP/1.1 100 Continue\r\n\r\n");
    return true;
  }

  // Nothing of a body is kept for somebody who may not send it. True if that is known already.
  bool ask_for_admission() {
    phase_ = Phase::serving;
    phase_deadline_ = 0;
    keep_alive_ = false;  // where the answer comes now, the body stays unread
    head_only_ = parser_->get().method() == http::verb::head;
    auto head = std::make_shared<OwnedRequest>(ReadMessage(parser_->get().base()), by_tls);
    head->peer_address = peer_address_;
    answer_ = std::make_shared<Answer>(*this);
    in_admission_ = true;
    context_.handler.admit(std::move(head), answer_, [weak = this->weak_from_this()](Principal who) {
      if (const auto self = weak.lock()) self->go_on(std::move(who));
    });
    in_admission_ = false;
    return answer_ == nullptr && !final_ && phase_ != Phase::closed;
  }

  void go_on(Principal who) {
    if (answer_ == nullptr) return;
    std::exchange(answer_, nullptr)->cut();
    principal_ = std::move(who);
    begin_body();
    if (!in_admission_) go_on_soon();
  }

  // A large body has a place as long as it is read: for what it says its size is, or for as much as it may have. False if there
  // is none, and the request was refused.
  bool find_place_for_body() {
    if (body_bytes_ != 0) return true;
    const auto length = parser_->content_length();
    const std::size_t size = length ? static_cast<std::size_t>(*length) : parser_->get().body().size();
    if (size <= large_body_bytes || parser_->is_done()) return true;
    const std::size_t needed = length ? size : context_.options.body_bytes_max;
    if (context_.bodies_bytes != 0 && context_.bodies_bytes + needed > context_.options.bodies_bytes_max) {
      refuse(Refusal(503, "Too many large bodies at once", true));
      return false;
    }
    context_.bodies_bytes += needed;
    body_bytes_ = needed;
    return true;
  }

  void release_body() { context_.bodies_bytes -= std::exchange(body_bytes_, 0); }

  void dispatch() {
    phase_ = Phase::serving;
    phase_deadline_ = 0;
    http_1_0_ = parser_->get().version() < 11;
    keep_alive_ = parser_->get().keep_alive() && !http_1_0_;
    head_only_ = parser_->get().method() == http::verb::head;
    auto request = std::make_shared<OwnedRequest>(parser_->release(), by_tls);
    parser_.reset();
    request->peer_address = peer_address_;
    request->principal = std::exchange(principal_, std::nullopt);
    release_body();
    answer_ = std::make_shared<Answer>(*this);
    const std::shared_ptr<Connection> alive = self();
    context_.handler.handle(std::move(request), answer_);
  }

  // ---- answering ----

  // Without a request that could be trusted.
  void refuse(const Refusal& refusal) {
    keep_alive_ = false;
    respond(refusal.status, "text/plain; charset=utf-8", refusal.message, Fields());
  }

  void respond(int status, std::string_view content_type, std::string_view body, const Fields& fields) {
    if (streaming_ || final_) return;
    if (closing_ || context_.closing) keep_alive_ = false;
    HeadOptions head;
    head.content_type = content_type;
    head.content_length = body.size();
    head.close = !keep_alive_;
    head.date = context_.date;
    append_head(out_, status, head, fields);
    if (!head_only_) out_ += body;
    if (context_.answered) context_.answered(status);
    complete();
  }

  void open_stream(const Fields& fields) {
    if (streaming_ || final_) return;
    streaming_ = true;
    if (closing_ || context_.closing) keep_alive_ = false;
    HeadOptions head;
    head.content_type = "text/event-stream";
    head.chunked = !http_1_0_;
    head.close = !keep_alive_;
    head.date = context_.date;
    Fields all = fields;
    all.emplace_back("Cache-Control", "no-cache, no-transform");
    all.emplace_back("X-Accel-Buffering", "no");
    append_head(out_, 200, head, all);
    if (context_.answered) context_.answered(200);
    keepalive_at_ = context_.deadline(context_.options.keepalive_interval) - 1;
    flush();
  }

  // A reader that lags behind loses its connection, not the server its memory.
  void write_checked(std::string_view events) {
    if (!streaming_) return;
    if (congested()) return close_now();
    write_event(events);
  }

  void write_event(std::string_view events) {
    keepalive_at_ = context_.deadline(context_.options.keepalive_interval) - 1;
    if (http_1_0_) return write(events);
    append_chunk(out_, events);
    flush();
  }

  void end_stream() {
    if (!streaming_) return;
    streaming_ = false;
    if (!http_1_0_) out_ += "0\r\n\r\n";
    complete();
  }

  // The answer is whole: the connection is free for the next request, or for its end.
  void complete() {
    if (answer_ != nullptr) std::exchange(answer_, nullptr)->cut();
    if (keep_alive_) {
      phase_ = Phase::idle;
      phase_deadline_ = context_.deadline(context_.options.idle_timeout);
    } else {
      final_ = true;
      phase_deadline_ = 0;
    }
    flush();
    if (keep_alive_ && !in_advance_) go_on_soon();
  }

  // Not from inside a task of the service or the authenticator: what is pipelined may start another.
  void go_on_soon() {
    asio::post(socket().get_executor(), [self = self()] {
      if (self->phase_ == Phase::closed) return;
      self->advance();
      self->read();
    });
  }

  void abandon_answer() {
    if (answer_ == nullptr) return;
    const std::shared_ptr<Answer> answer = std::exchange(answer_, nullptr);
    answer->cut();
    streaming_ = false;
    final_ = true;
    if (answer->gone) std::exchange(answer->gone, nullptr)();
  }

  // ---- writing ----

  void write(std::string_view bytes) {
    out_ += bytes;
    flush();
  }

  void flush() {
    if (writing_ || phase_ == Phase::closed) return;
    if (out_.empty()) {
      if (final_) finish();
      return;
    }
    writing_ = true;
    std::swap(out_, in_flight_);
    written_ = 0;
    write_some();
  }

  void write_some() {
    write_deadline_ = context_.deadline(context_.options.write_timeout);
    stream_.async_write_some(
        asio::buffer(in_flight_.data() + written_, in_flight_.size() - written_),
        [self = self()](error_code error, std::size_t count) { self->on_written(error, count); });
  }

  void on_written(error_code error, std::size_t count) {
    if (phase_ == Phase::closed) return;
    if (error) return close_now();
    written_ += count;
    if (written_ < in_flight_.size()) return write_some();
    writing_ = false;
    write_deadline_ = 0;
    written_ = 0;
    in_flight_.clear();
    if (in_flight_.capacity() > buffer_bytes_kept) in_flight_ = std::string();
    if (!out_.empty()) return flush();
    if (final_) return finish();
    if (closing_ && answer_ == nullptr && phase_ == Phase::idle) return close_now();
    if (answer_ == nullptr && unread().size() != 0) advance();  // what waited while the client did not read
    read();
  }

  // All is said. The client may still be sending: closing now could destroy the answer on its way.
  void finish() {
    if (ended_) return close_now();
    if (phase_ == Phase::linger) return;
    phase_ = Phase::linger;
    linger_end_ = context_.deadline(context_.options.body_timeout);
    phase_deadline_ = context_.deadline(linger_timeout);
    if constexpr (by_tls) {
      // What the client still sends would end the shutdown, and with it the connection, before the answer was read.
      const bool is_sending = parser_.has_value() || lingered_ > 0;
      if (!is_sending) return stream_.async_shutdown([self = self()](error_code) { self->close_now(); });
    } else {
      error_code ignored;
      socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    }
    throw_away();
  }

  void time_out() {
    if (phase_ != Phase::header && phase_ != Phase::body) return close_now();
    phase_deadline_ = 0;
    refuse(Refusal(408, "The request took too long", true));
  }

  Stream stream_;
  ConnectionContext& context_;
  std::function<void()> closed_;
  std::string peer_address_;

  boost::beast::flat_buffer buffer_;
  std::size_t parsed_ = 0;  // of its bytes
  std::optional<Parser> parser_;
  std::shared_ptr<Answer> answer_;
  std::string out_;
  std::string in_flight_;
  std::size_t written_ = 0;       // of in_flight_
  std::size_t lingered_ = 0;      // thrown away
  std::uint64_t linger_end_ = 0;  // in ticks

  std::uint64_t phase_deadline_ = 0;  // ticks; 0: none
  std::uint64_t write_deadline_ = 0;
  std::uint64_t keepalive_at_ = 0;
  Phase phase_ = Phase::idle;
  std::optional<Principal> principal_;  // of the request whose body is being read, if that is known
  std::size_t start_bytes_ = 0;         // of a header that is not there yet: what the parser has taken of it
  std::size_t body_bytes_ = 0;          // of context_.bodies_bytes
  bool header_checked_ = false;
  bool expects_continue_ = false;
  bool in_admission_ = false;
  bool http_1_0_ = false;
  bool head_only_ = false;
  bool keep_alive_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool streaming_ = false;
  bool final_ = false;    // close when all is written
  bool ended_ = false;    // the client sends nothing more
  bool closing_ = false;  // no request after this one
  bool in_advance_ = false;
};

}  // namespace

std::shared_ptr<ServerConnection> make_connection(ServerSocket socket, ConnectionContext& context,
                                                  boost::asio::ssl::context* tls) {
  if (tls == nullptr) return std::make_shared<Connection<ServerSocket>>(std::move(socket), context);
  return std::make_shared<Connection<TlsSocket>>(TlsSocket(std::move(socket), *tls), context);
}

}  // namespace signet::transport
