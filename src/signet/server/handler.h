// From the function a program writes to the one shape a server runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/json/reflect.h>
#include <signet/json/value.h>
#include <signet/server/call.h>
#include <signet/server/results.h>

namespace signet::detail {

// A handler with its types gone: exactly one of the two. `input` is the arguments, or the variables of a URI template.
// The handler outlives its runs.
struct Handler {
  std::function<Task<Answer>(Call& call, Json input)> coroutine;
  std::function<Answer(PlainCall& call, Json input)> plain;
};

template <typename F>
struct Signature {
  // What stands in for what could not be read: the sentence below is then the only error.
  using Result = std::string;
  using Parameters = std::tuple<>;
};
template <typename F>
  requires requires { &F::operator(); }
struct Signature<F> : Signature<decltype(&F::operator())> {};
template <typename F>
inline constexpr bool has_signature = std::is_pointer_v<F> || requires { &F::operator(); };
template <typename R, typename... P>
struct Signature<R (*)(P...)> {
  using Result = R;
  using Parameters = std::tuple<P...>;
};
template <typename R, typename... P>
struct Signature<R (*)(P...) noexcept> : Signature<R (*)(P...)> {};
template <typename C, typename R, typename... P>
struct Signature<R (C::*)(P...)> : Signature<R (*)(P...)> {};
template <typename C, typename R, typename... P>
struct Signature<R (C::*)(P...) const> : Signature<R (*)(P...)> {};
template <typename C, typename R, typename... P>
struct Signature<R (C::*)(P...) noexcept> : Signature<R (*)(P...)> {};
template <typename C, typename R, typename... P>
struct Signature<R (C::*)(P...) const noexcept> : Signature<R (*)(P...)> {};

template <typename T>
inline constexpr bool is_task = false;
template <typename T>
inline constexpr bool is_task<Task<T>> = true;
template <typename T>
struct Awaited {
  using type = T;
};
template <typename T>
struct Awaited<Task<T>> {
  using type = T;
};

template <typename T>
inline constexpr bool is_call = std::is_same_v<T, Call&> || std::is_same_v<T, PlainCall&>;

// The parameters of a handler: an optional call, then an optional input.
template <typename Tuple>
struct Parameters;
template <>
struct Parameters<std::tuple<>> {
  static constexpr bool takes_call = false;
  static constexpr bool takes_input = false;
  using Call = void;
  using Input = void;
};
template <typename P>
struct Parameters<std::tuple<P>> {
  static constexpr bool takes_call = is_call<P>;
  static constexpr bool takes_input = !is_call<P>;
  using Call = std::conditional_t<takes_call, P, void>;
  using Input = std::conditional_t<takes_call, void, std::remove_cvref_t<P>>;
};
template <typename P, typename Q>
struct Parameters<std::tuple<P, Q>> {
  static_assert(is_call<P>, "a handler takes (Call&, Input), (Call&), (Input) or nothing");
  static constexpr bool takes_call = true;
  static constexpr bool takes_input = true;
  using Call = P;
  using Input = std::remove_cvref_t<Q>;
};

template <typename F>
struct HandlerTraits {
  using Plain = std::decay_t<F>;
  static_assert(
      has_signature<Plain>,
      "a handler is a function or a lambda that names the types of its parameters: not (auto input), no "
      "template and no overloaded operator(), since the types say what the input must be");
  using Result = typename Signature<Plain>::Result;
  using Given = Parameters<typename Signature<Plain>::Parameters>;
  using Input = typename Given::Input;
  using Output = typename Awaited<Result>::type;
  static constexpr bool is_coroutine = is_task<Result>;
  static_assert(!Given::takes_call || std::is_same_v<typename Given::Call, signet::Call&> == is_coroutine,
                "a coroutine (Task<...>) takes Call&; a plain function takes PlainCall&");
};

// How a server reads the input: as it is, or as the reflected type. The failure is a sentence for the client.
template <typename Input>
Result<Input> read_input(Json input) {
  if constexpr (std::is_same_v<Input, Json>) {
    return input;
  } else {
    return json::from_json<Input>(input);
  }
}

// Calls F with the call if it takes one, then with the input if there is one.
template <typename F, typename C, typename... Input>
auto invoke_handler(const F& function, C& call, Input&&... input) {
  if constexpr (HandlerTraits<F>::Given::takes_call) {
    return function(call, std::forward<Input>(input)...);
  } else {
    return function(std::forward<Input>(input)...);
  }
}

template <typename ToAnswer, typename F>
Task<Answer> run_coroutine(const F& function, Call& call, Json raw) {
  using Traits = HandlerTraits<F>;
  using Output = typename Traits::Output;
  if constexpr (Traits::Given::takes_input) {
    Result<typename Traits::Input> input = read_input<typename Traits::Input>(std::move(raw));
    if (!input.ok()) co_return ToAnswer::refuse(input.error().message);
    Task<Output> task = invoke_handler(function, call, std::move(*input));
    Output output = co_await task;
    co_return ToAnswer::from(std::move(output));
  } else {
    Task<Output> task = invoke_handler(function, call);
    Output output = co_await task;
    co_return ToAnswer::from(std::move(output));
  }
}

template <typename ToAnswer, typename F>
Answer run_plain(const F& function, PlainCall& call, Json raw) {
  using Traits = HandlerTraits<F>;
  if constexpr (Traits::Given::takes_input) {
    Result<typename Traits::Input> input = read_input<typename Traits::Input>(std::move(raw));
    if (!input.ok()) return ToAnswer::refuse(input.error().message);
    return ToAnswer::from(invoke_handler(function, call, std::move(*input)));
  } else {
    return ToAnswer::from(invoke_handler(function, call));
  }
}

// The handler of F. `ToAnswer` turns what F returns into an Answer, and refuses what could not be read.
template <typename ToAnswer, typename F>
Handler make_handler(F function) {
  Handler handler;
  if constexpr (HandlerTraits<F>::is_coroutine) {
    handler.coroutine = [function = std::move(function)](Call& call, Json input) {
      return run_coroutine<ToAnswer, F>(function, call, std::move(input));
    };
  } else {
    handler.plain = [function = std::move(function)](PlainCall& call, Json input) {
      return run_plain<ToAnswer, F>(function, call, std::move(input));
    };
  }
  return handler;
}

template <typename T>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T, Error>> = true;

template <typename T>
inline constexpr bool is_text = std::is_convertible_v<T, std::string_view>;

// Outputs of tools: a ToolResult, a text, a reflected type (structured output), or a Result of any of these.
template <typename T>
ToolResult to_tool_result(T output) {
  if constexpr (std::is_same_v<T, ToolResult> || std::is_same_v<T, InputRequired> ||
                std::is_same_v<T, Content>) {
    return ToolResult(std::move(output));
  } else if constexpr (is_text<T>) {
    return text(std::string(std::move(output)));
  } else if constexpr (is_result<T>) {
    if (!output.ok()) return error(output.error().message);
    return to_tool_result(std::move(*output));
  } else if constexpr (std::is_same_v<T, Json>) {
    ToolResult result;
    result.structured(std::move(output));
    return result;
  } else {
    ToolResult result;
    result.structured(json::to_json(output));
    return result;
  }
}

// The output schema that comes from the type; null where it says nothing.
template <typename T>
Json output_schema() {
  static_assert(!std::is_void_v<T>, "a tool must return something: a text, a type of yours, or a ToolResult");
  if constexpr (is_result<T>) {
    return output_schema<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, ToolResult> || std::is_same_v<T, InputRequired> ||
                       std::is_same_v<T, Content> || std::is_same_v<T, Json> || is_text<T>) {
    return Json();
  } else {
    return json::schema_of<T>();
  }
}

// The input schema that comes from the type; null where there is no input, or it is Json.
template <typename T>
Json input_schema() {
  if constexpr (std::is_void_v<T> || std::is_same_v<T, Json>) {
    return Json();
  } else {
    return json::schema_of<T>();
  }
}

struct ToolAnswer {
  template <typename T>
  static Answer from(T output) {
    return to_tool_result(std::move(output)).take();
  }
  static Answer refuse(const std::string& sentence) { return error(sentence).take(); }
};

struct PromptAnswer {
  static Answer from(PromptResult result) { return std::move(result).take(); }
  static Answer refuse(const std::string& sentence);
};

struct ResourceAnswer {
  static Answer from(ResourceResult result) { return std::move(result).take(); }
  static Answer refuse(const std::string& sentence);
};

}  // namespace signet::detail
