// A small service for the tests of the transports. Not part of the library's interface.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <signet/base/one_shot.h>
#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/service.h>

namespace signet::transport {

// Sets a flag when it goes: how a test sees that a task was dropped.
class Gone {
 public:
  explicit Gone(std::atomic<int>& count) : count_(count) {}
  ~Gone() { ++count_; }
  Gone(const Gone&) = delete;
  Gone& operator=(const Gone&) = delete;

 private:
  std::atomic<int>& count_;
};

// Methods: `echo` returns its params; `principal` says who calls; `hang` never ends; `notify` sends `count`
// notifications, then replies; `fill` sends until the peer is behind, then replies; `drip` notifies, then hangs; `fault` fails with `code`; `ask` asks the peer and returns
// the answer; `subscriptions/listen` acknowledges and waits for shut_down; `initialize` opens a session; `print` writes to
// standard output; `keep` makes a reply that is kept, which ends at `open`; `lag` begins a stream and says at `open` whether
// its client is behind; `detach` closes its stream before it replies; `header` returns the header `name`.
class TestingService final : public Service {
 public:
  Task<Reply> call(Request request, Exchange& exchange) override {
    ++started;
    if (request.method == "hang" || request.method == "drip") return hang(std::move(request), exchange);
    if (request.method == "notify") return notify_then_reply(std::move(request), exchange);
    if (request.method == "fill") return fill(exchange);
    if (request.method == "ask") return ask(exchange);
    if (request.method == "later") return later(exchange);
    if (request.method == "keep") return keep(exchange);
    if (request.method == "lag") return lag(exchange);
    if (request.method == "subscriptions/listen") return listen(std::move(request), exchange);
    return answer(std::move(request), exchange);
  }

  void notify(Notification notification, Exchange& exchange) override {
    if (notification.method == "notifications/announce" && exchange.session != nullptr &&
        exchange.session->outlet != nullptr)
      exchange.session->outlet->notify(Notification("notifications/tools/list_changed", Json()));
    ++notified;
  }

  void shut_down() override {
    for (const OneShot<bool>& listener : listeners_) listener.set(true);
  }

  std::atomic<int> started{0};
  std::atomic<int> dropped{0};
  std::atomic<int> stopped{0};
  std::atomic<int> notified{0};
  std::atomic<int> kept{0};
  std::atomic<int> behind{0};

 private:
  static Json initialize_result(const Request& request, Exchange& exchange) {
    const std::string* version = request.params.find_string("protocolVersion");
    exchange.session->protocol_version = version != nullptr ? *version : "2025-11-25";
    return Json::object({{"protocolVersion", exchange.session->protocol_version}});
  }

  Task<Reply> answer(Request request, Exchange& exchange) {
    if (request.method == "initialize" && exchange.session != nullptr)
      co_return initialize_result(request, exchange);
    if (request.method == "fault") {
      Fault fault(static_cast<int>(request.params.find("code")->as_int64().value_or(0)), "as asked");
      co_return failure(std::move(fault));
    }
    if (request.method == "principal") {
      const Principal& who = exchange.principal;
      Json result = Json::object({{"kind", static_cast<int>(who.kind)}, {"id", who.id}});
      co_return result;
    }
    if (request.method == "print") {
      std::fputs("stray print\n", stdout);
      std::fflush(stdout);
    }
    if (request.method == "header") {
      const std::optional<std::string> value = exchange.header(*request.params.find_string("name"));
      co_return value ? Json(*value) : Json();
    }
    if (request.method == "open") {
      for (const OneShot<bool>& gate : std::exchange(gates_, {})) gate.set(true);
    }
    if (request.method == "detach") exchange.outlet->detach(std::chrono::milliseconds(50));
    if (request.method == "no/such") {
      Fault fault(protocol::method_not_found, "Method not found");
      fault.stage = Fault::Stage::dispatch;
      co_return failure(std::move(fault));
    }
    Json result = request.params.is_null() ? Json::object() : request.params;
    result.erase("_meta");
    co_return result;
  }

  Task<Reply> hang(Request request, Exchange& exchange) {
    const Gone gone(dropped);
    const std::stop_callback stop(exchange.stop, [this] { ++stopped; });
    if (request.method == "drip") exchange.outlet->notify(Notification("notifications/progress", Json()));
    const OneShot<bool> never;
    const bool nothing = co_await never;
    co_return Json(nothing);
  }

  Task<Reply> keep(Exchange& exchange) {
    const Gone gone(dropped);
    const std::stop_callback stop(exchange.stop, [this] { ++stopped; });
    exchange.runs_to_end = true;
    const OneShot<bool> gate;
    gates_.push_back(gate);
    const bool open = co_await gate;
    exchange.outlet->notify(Notification("notifications/progress", Json()));
    kept += open ? 1 : 0;
    exchange.runs_to_end = false;
    co_return Json::object();
  }

  Task<Reply> lag(Exchange& exchange) {
    exchange.outlet->notify(Notification("notifications/progress", Json()));
    const OneShot<bool> gate;
    gates_.push_back(gate);
    const bool open = co_await gate;
    co_return Json::object({{"behind", open && exchange.outlet->is_behind()}});
  }

  Task<Reply> notify_then_reply(Request request, Exchange& exchange) {
    const std::int64_t count = request.params.find("count")->as_int64().value_or(0);
    const Json* padding = request.params.find("padding");
    const auto size = static_cast<std::size_t>(padding != nullptr ? padding->as_int64().value_or(0) : 0);
    for (std::int64_t i = 1; i <= count; ++i) {
      Json params = Json::object({{"progress", i}, {"padding", std::string(size, 'x')}});
      exchange.outlet->notify(Notification("notifications/progress", std::move(params)));
    }
    co_return Json::object({{"sent", count}});
  }

  Task<Reply> fill(Exchange& exchange) {
    std::int64_t sent = 0;
    for (; sent < 100'000 && behind == 0; ++sent) {
      Json params = Json::object({{"progress", sent}, {"padding", std::string(1000, 'x')}});
      exchange.outlet->notify(Notification("notifications/progress", std::move(params)));
      behind += exchange.outlet->is_behind() ? 1 : 0;
    }
    co_return Json::object({{"behind", behind == 1}, {"some", sent > 10}});
  }

  Task<Reply> ask(Exchange& exchange) {
    std::string method = "elicitation/create";
    Json params = Json::object({{"message", "?"}});
    Reply reply = co_await exchange.outlet->request(std::move(method), std::move(params));
    co_return reply;
  }

  Task<Reply> later(Exchange& exchange) {
    const OneShot<bool> soon;
    const std::shared_ptr<void> timer =
        exchange.executor->post_after(std::chrono::milliseconds(1), [soon] { soon.set(true); });
    const bool set = co_await soon;
    co_return Json::object({{"later", set}});
  }

  Task<Reply> listen(Request request, Exchange& exchange) {
    const Gone gone(dropped);
    const OneShot<bool> end;
    listeners_.push_back(end);
    Json meta = Json::object({{"io.modelcontextprotocol/subscriptionId", request.id}});
    Json params = Json::object({{"_meta", std::move(meta)}});
    exchange.outlet->notify(Notification("notifications/subscriptions/acknowledged", std::move(params)));
    const bool ended = co_await end;
    co_return Json::object({{"resultType", ended ? "complete" : ""}});
  }

  std::vector<OneShot<bool>> listeners_;
  std::vector<OneShot<bool>> gates_;
};

inline std::string modern_request(const std::string& id, const std::string& method,
                                  const std::string& members = "") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{)" + members +
         (members.empty() ? "" : ",") +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
}

}  // namespace signet::transport
