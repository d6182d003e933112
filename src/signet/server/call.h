// What a handler is given of the call it serves.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <signet/base/principal.h>
#include <signet/base/task.h>
#include <signet/json/reflect.h>
#include <signet/json/value.h>
#include <signet/server/elicited.h>
#include <signet/server/form.h>
#include <signet/server/question.h>
#include <signet/server/sampling.h>

namespace signet {

// What is the same for coroutines and plain functions. Lives as long as the handler runs.
class CallBase {
 public:
  CallBase(const CallBase&) = delete;
  CallBase& operator=(const CallBase&) = delete;

  // Who calls, as the transport or an authenticator established it.
  const Principal& principal() const;
  // What the client says of itself: {"name", "version"}, or null. Never a reason to trust.
  const Json& client_info() const;
  std::string_view protocol_version() const;
  // The tool's or prompt's name, or the URI that is read.
  const std::string& target() const;
  // The request's `_meta`, or null: trace context, and keys of your own.
  const Json& meta() const;
  // Names the flow of rounds in log lines: 32 hexadecimal digits, the same in all rounds; and the round, from 1.
  const std::string& flow_id() const;
  std::uint32_t round() const;

  // Whether the client can be asked, by its own word on this request (S53). Asking all the same ends the call with
  // -32021 and the name of what is missing.
  bool can_elicit() const;
  bool can_elicit_url() const;
  bool can_sample() const;
  bool can_list_roots() const;

  // How far the work is; sent only if the client gave a token for it, and only if `done` is larger than before (S58).
  // `total` 0 and an empty message are left out. After the answer nothing is sent (S60).
  //
  // This and `log`: from a plain function they wait while much of what it told is still on its way (64 messages or
  // 256 KiB), so it may tell as fast as it can. In a coroutine they return at once, and what is told between two
  // suspensions is queued: more of it than the transport's limit (`queue_bytes_max`) costs the client its connection.
  void progress(double done, double total = 0, const std::string& message = std::string());
  // A log message to the client: debug, info, notice, warning, error, critical, alert or emergency. Sent only if
  // the client asked for that level or a lower one on this request (S79, S80). Not the server's own log.
  void log(std::string_view level, Json data, const std::string& logger = std::string());

  // Streamable HTTP of 2025-11-25 only, elsewhere nothing: closes the event stream of this call now. The client comes
  // back for the rest after `retry`, and finds what was sent in between.
  void detach_stream(std::chrono::milliseconds retry);

  // Fires when the client cancels or disconnects, and at the time limit.
  std::stop_token stop_token() const;

  // The explicit style (server/input_required.h): the answers to the questions of all earlier rounds, each
  // checked against its question, {"key": {"action": ..., "content": ...}}; and the state that was returned with them,
  // or null in the first round. With a state of another system (ServerOptions::migration) the answers are those of this
  // request alone, and unchecked: only that system knows what it asked. Its state is JSON if it reads as such, else a text.
  const Json::Object& input_responses() const;
  const Json& state() const;

 protected:
  explicit CallBase(detail::Run& run) : run_(&run) {}
  ~CallBase() = default;
  detail::Run& run() const { return *run_; }

 private:
  detail::Run* run_;
};

// The call as a coroutine sees it. Its functions are used on the executor of the call only.
//
// Questions work by replay: without an answer the handler ends at the question (its locals are destroyed), and when the
// answer comes, on this process or another, it runs again from its first line and this time the question returns. So:
// ask first, act last; what comes before the last question happens once a round.
//
// A key names a question within the call. The answer belongs to the question's text and schema: when a new version of
// the program words it differently, it is asked again.
class Call final : public CallBase {
 public:
  explicit Call(detail::Run& run) : CallBase(run) {}

  // A form made from the type T (json/reflect.h has the types that can be asked for).
  template <typename T>
  InputRequest<Elicited<T>> elicit(std::string key, std::string message);
  // A form built by hand.
  InputRequest<ElicitResult> elicit(std::string key, const Form& form);
  // Sends the person to a page, for what must not pass through the client: passwords, payment. Accepted means
  // that the page was opened, not that anything was done there.
  InputRequest<ElicitResult> elicit_url(std::string key, std::string message, std::string url);
  // Borrows the client's model; asks for its folders.
  [[deprecated("sampling is deprecated since 2026-07-28")]] InputRequest<SampleResult> sample(
      std::string key, const SampleRequest& request);
  [[deprecated("roots are deprecated since 2026-07-28")]] InputRequest<std::vector<Root>> list_roots(
      std::string key = "roots");

  // The tasks extension: from here on the call is a task, which the client looks after by polling, and whose questions
  // are asked there. For tools with TaskStart::by_handler; elsewhere, and where the client does not know tasks, nothing.
  // In the task the handler runs again from its first line: ask first, start the task, act last.
  StartTask start_task() { return StartTask(run()); }

  // Computes a value once per flow and remembers it: `work` is any function that takes nothing and returns a T or a
  // Task<T>, T being a type that json/reflect.h can write and read. At least once, not exactly once: whoever sends an
  // older round's state again has it computed again, unless the tool's Redemption forbids that. The value travels in
  // the sealed state, so it must be small.
  //
  //   auto draw = [] { return random_card(); };
  //   const Card card = co_await call.step("card", draw);
  //
  // A lambda that captures must have a name, as `draw` has: g++ 12 destroys one that is written in the call twice.
  template <typename F>
  auto step(std::string name, F&& work);

 private:
  const Json* remembered(const std::string& name) const;
  void remember(std::string name, Json value);
};

// The call as a plain function sees it, on its own thread. Its functions may be used from that thread.
class PlainCall final : public CallBase {
 public:
  explicit PlainCall(detail::Run& run) : CallBase(run) {}
};

namespace detail {

// One FormSchema a type.
template <typename T>
const FormSchema& form_schema() {
  static const FormSchema schema(json::form_schema_of<T>());
  return schema;
}

template <typename T>
bool reads_as(const Json& content) {
  return json::from_form<T>(content).ok();
}

// Precondition: the answer was checked.
template <typename T>
Elicited<T> read_elicited(Json answer) {
  const std::string* action = answer.find_string("action");
  if (action == nullptr || *action == "cancel") return Elicited<T>(ElicitAction::cancel);
  if (*action == "decline") return Elicited<T>(ElicitAction::decline);
  const Json* content = answer.find("content");
  Result<T> value = json::from_form<T>(content != nullptr ? *content : Json::object());
  return value.ok() ? Elicited<T>(std::move(*value)) : Elicited<T>(ElicitAction::cancel);
}

template <typename T>
struct StepValue {
  using type = T;
  static constexpr bool is_task = false;
};
template <typename T>
struct StepValue<Task<T>> {
  using type = T;
  static constexpr bool is_task = true;
};

}  // namespace detail

template <typename T>
InputRequest<Elicited<T>> Call::elicit(std::string key, std::string message) {
  const detail::FormSchema& form = detail::form_schema<T>();
  detail::QuestionBody body = detail::form_question(std::move(key), std::move(message), form);
  body.fits = &detail::reads_as<T>;
  return InputRequest<Elicited<T>>(run(), std::move(body), &detail::read_elicited<T>);
}

namespace detail {

template <typename F>
using StepResult = typename StepValue<std::invoke_result_t<F&>>::type;

// Whether a function given as F would be destroyed twice at the end of the co_await expression.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
template <typename F>
inline constexpr bool step_is_safe = std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<F>;
#else
template <typename F>
inline constexpr bool step_is_safe = true;
#endif

}  // namespace detail

template <typename F>
auto Call::step(std::string name, F&& work) {
  static_assert(detail::step_is_safe<F>,
                "g++ 12 destroys a lambda with captures twice if it is written inside a co_await: "
                "give it a name in the line above, auto work = [...] {...};");
  using Function = std::decay_t<F>;
  using T = detail::StepResult<Function>;
  struct Body {
    static Task<T> compute(Call& call, std::string key, Function function) {
      if (const Json* kept = call.remembered(key)) {
        auto value = json::from_json<T>(*kept);
        if (value.ok()) co_return std::move(*value);
      }
      if constexpr (detail::StepValue<std::invoke_result_t<Function&>>::is_task) {
        Task<T> task = function();
        T value = co_await task;
        call.remember(std::move(key), json::to_json(value));
        co_return value;
      } else {
        T value = function();
        call.remember(std::move(key), json::to_json(value));
        co_return value;
      }
    }
  };
  return Body::compute(*this, std::move(name), std::forward<F>(work));
}

}  // namespace signet
