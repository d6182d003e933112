#include <signet/transport/stdio_server.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <signet/protocol/era.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/methods.h>
#include <signet/protocol/versions.h>
#include <signet/transport/asio_executor.h>
#include <signet/transport/pipe_reader.h>
#include <signet/transport/pipe_writer.h>
#include <signet/transport/running_call.h>

namespace signet {
namespace {

using namespace transport;  // NOLINT(google-build-using-namespace): this file is of that room

// The two descriptors of the protocol. Standard ones are moved away, and put back at the end.
class Descriptors {
 public:
  static Result<std::unique_ptr<Descriptors>> take(int input, int output) {
    auto taken = std::unique_ptr<Descriptors>(new Descriptors(input, output));
    if (input == STDIN_FILENO && !taken->move_input()) return failure("standard input cannot be used");
    if (output == STDOUT_FILENO && !taken->move_output()) return failure("standard output cannot be used");
    return taken;
  }
  ~Descriptors() {
    restore(input_, STDIN_FILENO, input_moved_);
    restore(output_, STDOUT_FILENO, output_moved_);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  int input() const { return input_; }
  int output() const { return output_; }

 private:
  Descriptors(int input, int output) : input_(input), output_(output) {}

  bool move_input() {
    const int moved = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool done = moved >= 0 && nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0;
    if (nothing >= 0) ::close(nothing);
    if (done) input_ = moved;
    input_moved_ = done;
    return done;
  }

  bool move_output() {
    const int moved = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const bool done = moved >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (done) output_ = moved;
    output_moved_ = done;
    return done;
  }

  static void restore(int descriptor, int standard, bool moved) {
    if (!moved) return;
    ::dup2(descriptor, standard);
    ::close(descriptor);
  }

  int input_;
  int output_;
  bool input_moved_ = false;
  bool output_moved_ = false;
};

// The conversation with the parent. Everything on the loop's thread.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  Conversation(Service& service, Executor& executor, PipeWriter& writer, const StdioOptions& options,
               std::function<void()> over)
      : service_(service),
        executor_(executor),
        writer_(writer),
        options_(options),
        over_(std::move(over)),
        outgoing_(std::make_shared<OutgoingRequests>()),
        outlet_(std::make_shared<SessionOutlet>(*this)) {
    limits_.bytes_max = options.line_bytes_max;
    limits_.depth_max = options.json_depth_max;
    session_.outlet = outlet_.get();
  }

  void take(Line line) {
    if (closed_) return;
    if (line.too_long) {
      send(protocol::write_error(std::nullopt,
                                 Fault(protocol::parse_error, "Parse error: the line is too long")));
      return;
    }
    const bool has_batches = session_.protocol_version == protocol::version_2025_03_26;
    if (has_batches && protocol::looks_like_batch(line.text)) return take_batch(line.text);
    take_message(protocol::read_message(line.text, limits_), nullptr);
  }

  // No more input is coming: lets running requests end.
  void shut_down() {
    if (shutting_down_) return;
    shutting_down_ = true;
    ending_since_ = std::chrono::steady_clock::now();
    service_.shut_down();
    if (calls_.empty()) return over_();
    grace_ = executor_.post_after(options_.shutdown_grace, [this] { over_(); });
  }

  // Of the time that the end may take; never so little that what is said last cannot be read.
  std::chrono::milliseconds grace_left() const {
    if (!ending_since_) return options_.shutdown_grace;
    const auto spent = std::chrono::steady_clock::now() - *ending_since_;
    return std::max(std::chrono::milliseconds(250),
                    options_.shutdown_grace - std::chrono::duration_cast<std::chrono::milliseconds>(spent));
  }

  // The peer cannot be written to any more.
  void lose() {
    shutting_down_ = true;
    over_();
  }

  // Takes nothing more; silences and drops what still runs. The loop must run once more.
  void close() {
    closed_ = true;
    grace_.reset();
    while (!calls_.empty()) drop(calls_.begin());
  }

 private:
  // The answers to the messages of one batch, until all are there.
  struct Batch {
    std::vector<std::string> messages;
    std::size_t open = 1;  // requests that run, and one until the whole batch has been taken
  };

  class Call final : public Outlet, public std::enable_shared_from_this<Call> {
   public:
    Call(Conversation& conversation, bool legacy, std::shared_ptr<Batch> of)
        : batch(std::move(of)), conversation_(conversation), legacy_(legacy) {}

    void notify(Notification notification) override {
      if (!silent) conversation_.send(protocol::write_notification(notification));
    }
    bool is_behind() const override { return conversation_.is_behind(); }
    Task<Reply> request(std::string method, Json params) override {
      if (!legacy_) return Outlet::request(std::move(method), std::move(params));
      return conversation_.ask(std::move(method), std::move(params));
    }

    const std::shared_ptr<Batch> batch;  // or null
    bool silent = false;
    std::unique_ptr<RunningCall> running;

   private:
    Conversation& conversation_;
    bool legacy_;
  };

  class SessionOutlet final : public Outlet {
   public:
    explicit SessionOutlet(Conversation& conversation) : conversation_(conversation) {}
    void notify(Notification notification) override {
      conversation_.send(protocol::write_notification(notification));
    }
    Task<Reply> request(std::string method, Json params) override {
      return conversation_.ask(std::move(method), std::move(params));
    }

   private:
    Conversation& conversation_;
  };

  using Calls = std::map<std::string, std::shared_ptr<Call>>;

  bool is_behind() { return writer_.waiting() > options_.queue_bytes_max / 4; }

  void send(std::string_view line) {
    if (writer_.write_line(line, 2 * options_.queue_bytes_max)) return;
    executor_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->lose();
    });
  }

  Task<Reply> ask(std::string method, Json params) {
    const auto weak = weak_from_this();
    return ask_peer(
        outgoing_,
        [weak](const std::string& line) {
          const auto self = weak.lock();
          if (self) self->send(line);
          return self != nullptr;
        },
        std::move(method), std::move(params));
  }

  void take_message(protocol::Message message, const std::shared_ptr<Batch>& batch) {
    if (auto* request = std::get_if<Request>(&message)) return serve(std::move(*request), batch);
    if (auto* notification = std::get_if<Notification>(&message)) return hear(std::move(*notification));
    if (auto* response = std::get_if<protocol::Response>(&message)) {
      outgoing_->resolve(std::move(*response));
      return;
    }
    const auto& invalid = std::get<protocol::InvalidMessage>(message);
    if (invalid.reply_expected) answer(batch, protocol::write_error(invalid.id, invalid.fault));
  }

  void take_batch(std::string_view text) {
    Result<std::vector<protocol::Message>, Fault> messages =
        protocol::read_batch(text, options_.batch_messages_max, limits_);
    if (!messages.ok()) return send(protocol::write_error(std::nullopt, messages.error()));
    const auto batch = std::make_shared<Batch>();
    for (protocol::Message& message : *messages) {
      const Request* request = std::get_if<Request>(&message);
      const bool alone = request != nullptr && (request->method == protocol::method::initialize ||
                                                protocol::claims_modern(request->params));
      if (alone) {
        refuse(batch, request->id,
               Fault(protocol::invalid_request, "This request is not accepted in a batch"));
      } else {
        take_message(std::move(message), batch);
      }
    }
    close_part(batch);
  }

  // Says it now, or with the rest of its batch.
  void answer(const std::shared_ptr<Batch>& batch, std::string text) {
    if (batch == nullptr) return send(text);
    batch->messages.push_back(std::move(text));
  }
  void close_part(const std::shared_ptr<Batch>& batch) {
    if (batch == nullptr || --batch->open != 0 || batch->messages.empty()) return;
    send(protocol::write_batch(batch->messages));
  }

  void refuse(const std::shared_ptr<Batch>& batch, const Json& id, const Fault& fault) {
    answer(batch, protocol::write_error(id, fault));
  }

  void serve(Request request, const std::shared_ptr<Batch>& batch) {
    Result<protocol::Era, Fault> era =
        protocol::decide_stdio_request(request, initialized_, options_.modern_only);
    if (!era.ok()) return refuse(batch, request.id, era.error());
    if (shutting_down_)
      return refuse(batch, request.id, Fault(protocol::internal_error, "The server is shutting down"));
    if (calls_.size() >= options_.in_flight_max)
      return refuse(batch, request.id, Fault(protocol::internal_error, "Too many requests at once"));
    std::string key = protocol::id_key(request.id);
    if (calls_.contains(key))
      return refuse(batch, request.id,
                    Fault(protocol::invalid_request, "A request with this id is being served"));
    start(std::move(key), std::move(request), *era, batch);
  }

  void start(std::string key, Request request, protocol::Era era, const std::shared_ptr<Batch>& batch) {
    const bool legacy = era != protocol::Era::modern;
    auto call = std::make_shared<Call>(*this, legacy, batch);
    call->running = std::make_unique<RunningCall>(service_, executor_, call, Principal::local(),
                                                  legacy ? &session_ : nullptr, RunningCall::Header());
    calls_.emplace(key, call);
    if (batch != nullptr) ++batch->open;
    const bool listening = !legacy && request.method == protocol::method::subscriptions_listen;
    auto done = [this, key, id = request.id, era, listening](Reply reply) {
      finish(key, id, era, listening, reply);
    };
    call->running->start(std::move(request), std::move(done));
  }

  void finish(const std::string& key, const Json& id, protocol::Era era, bool listening, const Reply& reply) {
    const auto found = calls_.find(key);
    const std::shared_ptr<Batch> batch = found->second->batch;
    const bool wanted = !found->second->silent;
    calls_.erase(found);
    if (era == protocol::Era::initialize && reply.ok()) initialized_ = true;
    if (wanted) tell(batch, id, listening, reply);
    if (shutting_down_ && calls_.empty()) over_();
  }

  void tell(const std::shared_ptr<Batch>& batch, const Json& id, bool listening, const Reply& reply) {
    // A subscription ends by our doing only: the specification wants both, the notification and the result (S61).
    if (listening && reply.ok()) send(protocol::write_notification(end_of_subscription(id)));
    answer(batch, protocol::write_reply(id, reply));
    close_part(batch);
  }

  static Notification end_of_subscription(const Json& id) {
    Json params = Json::object({{"requestId", id}});
    params.set("_meta", Json::object({{protocol::meta::subscription_id, id}}));
    return Notification(std::string(protocol::method::notifications::cancelled), std::move(params));
  }

  void hear(Notification notification) {
    if (notification.method == protocol::method::notifications::cancelled) {
      const Json* id = notification.params.find("requestId");
      const auto found = id != nullptr ? calls_.find(protocol::id_key(*id)) : calls_.end();
      if (found != calls_.end()) cancel(found);
      return;
    }
    pass_notification(service_, executor_, Principal::local(), initialized_ ? &session_ : nullptr,
                      std::move(notification));
  }

  // What makes a reply that the client may come back for goes on, and is told to stop.
  void cancel(Calls::iterator which) {
    Call& call = *which->second;
    if (!call.running->runs_to_end()) return drop(which);
    call.silent = true;
    call.running->request_stop();
  }

  void drop(Calls::iterator which) {
    const std::shared_ptr<Call> call = which->second;
    calls_.erase(which);
    call->silent = true;
    call->running->cancel();
    close_part(call->batch);
    if (shutting_down_ && calls_.empty()) over_();
  }

  Service& service_;
  Executor& executor_;
  PipeWriter& writer_;
  const StdioOptions& options_;
  std::function<void()> over_;
  json::Limits limits_;
  Session session_;
  bool initialized_ = false;
  bool shutting_down_ = false;
  bool closed_ = false;
  std::shared_ptr<OutgoingRequests> outgoing_;
  std::shared_ptr<SessionOutlet> outlet_;
  std::shared_ptr<void> grace_;
  std::optional<std::chrono::steady_clock::time_point> ending_since_;
  Calls calls_;
};

// Runs `work` on the loop and waits for it, unless the loop has ended meanwhile.
void run_on(Executor& executor, std::function<void()> work) {
  auto ran = std::make_shared<std::promise<void>>();
  const std::future<void> future = ran->get_future();
  executor.post([work = std::move(work), ran = std::move(ran)] {
    work();
    ran->set_value();
  });
  future.wait();  // a function that is dropped breaks its promise, which ends the wait too
}

}  // namespace

Result<void> serve_stdio(Service& service, StdioOptions options) {
  std::signal(SIGPIPE, SIG_IGN);
  Result<std::unique_ptr<Descriptors>> taken = Descriptors::take(options.input, options.output);
  if (!taken.ok()) return failure(std::move(taken).error());
  const Descriptors& descriptors = **taken;

  boost::asio::io_context context(1);
  auto busy = boost::asio::make_work_guard(context);
  AsioExecutor executor(context);
  std::shared_ptr<Conversation> conversation;
  PipeWriter writer(descriptors.output(), [&] { executor.post([&] { conversation->lose(); }); });
  conversation = std::make_shared<Conversation>(service, executor, writer, options, [&] { context.stop(); });

  boost::asio::signal_set signals(context);
  if (options.stop_on_signals) {
    signals.add(SIGINT);
    signals.add(SIGTERM);
    signals.async_wait([&](boost::system::error_code error, int) {
      if (!error) conversation->shut_down();
    });
  }
  const auto lines = [&](std::vector<Line> batch) {
    run_on(executor, [&conversation, &batch] {
      for (Line& line : batch) conversation->take(std::move(line));
    });
    writer.wait_below(options.queue_bytes_max);
  };
  auto reader = std::make_unique<PipeReader>(descriptors.input(), options.line_bytes_max, lines,
                                             [&] { executor.post([&] { conversation->shut_down(); }); });
  context.run();

  // The reader may wait for the loop, so the loop goes on until the reader has ended.
  conversation->close();
  writer.interrupt();
  bool reader_ended = false;
  std::thread ending([&] {
    reader.reset();
    executor.post([&] {
      reader_ended = true;
      context.stop();
    });
  });
  while (!reader_ended) {
    context.restart();
    context.run();
  }
  ending.join();
  writer.flush(conversation->grace_left());
  return {};
}

}  // namespace signet
