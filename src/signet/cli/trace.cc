#include <signet/cli/trace.h>

#include <signet/cli/terminal.h>
#include <signet/json/text.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/protocol/transport_failure.h>

namespace signet::cli {
namespace {

constexpr std::size_t state_shown = 12;

void indent_into(std::string& out, const Json& value, std::size_t depth) {
  const std::string inner(2 * (depth + 1), ' ');
  const std::string outer(2 * depth, ' ');
  const JsonArray* elements = value.as_array();
  const Json::Object* members = value.as_object();
  if (elements != nullptr && !elements->empty()) {
    out += "[\n";
    for (std::size_t i = 0; i < elements->size(); ++i) {
      out += inner;
      indent_into(out, (*elements)[i], depth + 1);
      out += i + 1 < elements->size() ? ",\n" : "\n";
    }
    out += outer + "]";
  } else if (members != nullptr && !members->empty()) {
    out += "{\n";
    std::size_t i = 0;
    for (const auto& [name, member] : *members) {
      out += inner + json::write(Json(name)) + ": ";
      indent_into(out, member, depth + 1);
      out += ++i < members->size() ? ",\n" : "\n";
    }
    out += outer + "}";
  } else {
    json::append(out, value);
  }
}

using Direction = TracingService::Direction;

// Between the call and its peer: notifications and questions are shown in passing.
class TracingOutlet final : public Outlet {
 public:
  TracingOutlet(TracingService& trace, Outlet& behind) : trace_(trace), behind_(behind) {}

  void notify(Notification notification) override {
    trace_.show(Direction::received, notification.method, notification.params);
    behind_.notify(std::move(notification));
  }
  Task<Reply> request(std::string method, Json params) override {
    trace_.show(Direction::received, method + " (the server asks)", params);
    return pass_on(trace_, behind_, std::move(method), std::move(params));
  }

 private:
  static Task<Reply> pass_on(TracingService& trace, Outlet& behind, std::string method, Json params) {
    const Task<Reply> asking = behind.request(method, std::move(params));
    Reply reply = co_await asking;
    trace.show(Direction::sent, "answer to " + method, reply ? *reply : protocol::to_json(reply.error()));
    co_return reply;
  }

  TracingService& trace_;
  Outlet& behind_;
};

}  // namespace

std::string indented(const Json& value) {
  std::string out;
  indent_into(out, value, 0);
  return out;
}

Json with_short_states(const Json& value) {
  if (const JsonArray* elements = value.as_array()) {
    JsonArray out;
    for (const Json& element : *elements) out.push_back(with_short_states(element));
    return out;
  }
  const Json::Object* members = value.as_object();
  if (members == nullptr) return value;
  Json out = Json::object();
  for (const auto& [name, member] : *members) {
    const std::string* state = name == "requestState" ? member.as_string() : nullptr;
    if (state == nullptr) {
      out.set(name, with_short_states(member));
    } else if (state->size() <= state_shown) {
      out.set(name, *state);
    } else {
      out.set(name, one_line(*state, state_shown) + " (" + std::to_string(state->size()) + " bytes)");
    }
  }
  return out;
}

void TracingService::show(Direction direction, std::string_view what, const Json& body) {
  const Json shown = form_.in_full ? body : with_short_states(body);
  if (form_.as_json) {
    show_(json::write(Json::object({{"direction", direction == Direction::sent ? "sent" : "received"},
                                    {"message", what},
                                    {"body", shown}})) +
          "\n");
    return;
  }
  std::string text = (direction == Direction::sent ? "--> " : "<-- ") + one_line(what) + "\n";
  if (!shown.is_null()) text += printable(indented(shown)) + "\n";
  show_(text);
}

Task<Reply> TracingService::call(Request request, Exchange& exchange) {
  const std::string label = request.method + " #" + json::write(request.id);
  show(Direction::sent, label, request.params);
  TracingOutlet outlet(*this, *exchange.outlet);
  Exchange around = exchange;
  around.outlet = &outlet;
  const Task<Reply> calling = behind_.call(std::move(request), around);
  Reply reply = co_await calling;
  if (reply) {
    const std::string* state = reply->find_string("requestState");
    if (state != nullptr) last_state_ = *state;
    show(Direction::received, "result of " + label, *reply);
  } else if (protocol::transport_failure(reply.error())) {
    show(Direction::received, "no reply to " + label + ": " + reply.error().message, Json());
  } else {
    show(Direction::received, "error of " + label, protocol::to_json(reply.error()));
  }
  co_return reply;
}

void TracingService::notify(Notification notification, Exchange& exchange) {
  show(Direction::sent, notification.method, notification.params);
  behind_.notify(std::move(notification), exchange);
}

}  // namespace signet::cli
