// A question on its way to the client: what `call.elicit(...)` gives, to be awaited.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <signet/base/task.h>
#include <signet/json/value.h>

namespace signet::detail {

class Run;

// The schema of a form, compiled once: copies share it, and so do forms of the same small schema that are made again and
// again, one a round. Thread-safe.
class FormSchema {
 public:
  explicit FormSchema(Json schema);
  const Json& json() const;
  // Why the content does not fit, in one sentence that does not repeat it; or nothing.
  std::optional<std::string> check(const Json& content) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

enum class QuestionKind : std::uint8_t { elicit_form, elicit_url, sampling, roots };

// One question, whatever the type of its answer. `fits` says whether the content of an accepted form reads as the type
// that is expected.
struct QuestionBody {
  // `question_request` is what request_of made (server/question_params.h).
  QuestionBody(QuestionKind question_kind, std::string question_key, Json question_request)
      : kind(question_kind), key(std::move(question_key)), request(std::move(question_request)) {}
  const Json& params() const { return *request.find("params"); }

  QuestionKind kind;
  std::string key;
  Json request;  // {"method", "params"}
  std::optional<FormSchema> form;
  bool (*fits)(const Json& content) = nullptr;
};

QuestionBody form_question(std::string key, std::string message, const FormSchema& form);

// Asks all of its questions in one round. Ready where each has its answer; otherwise the run ends here (its frames are
// destroyed), or, on a connection of a handshake revision, waits for the person.
class Asking {
 public:
  Asking(Run& run, std::vector<QuestionBody> questions);
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking();

  bool await_ready();
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::is_base_of_v<PromiseBase, Promise>, "questions are awaited in a signet::Task");
    suspend(waiting.promise());
  }

 protected:
  // The checked answers, in the order of the questions.
  std::vector<Json>& answers() { return answers_; }

 private:
  struct Live;
  void suspend(PromiseBase& waiting);

  Run& run_;
  std::vector<QuestionBody> questions_;
  std::vector<Json> answers_;
  std::unique_ptr<Live> live_;
};

}  // namespace signet::detail

namespace signet {

// What `call.start_task()` gives, to be awaited.
class [[nodiscard]] StartTask {
 public:
  explicit StartTask(detail::Run& run) : run_(run) {}
  bool await_ready() const;
  void await_suspend(std::coroutine_handle<> waiting) const;
  void await_resume() const noexcept {}

 private:
  detail::Run& run_;
};

template <typename... Rs>
class All;
template <typename R>
class InputRequest;
template <typename R, typename... Rs>
All<R, Rs...> all(InputRequest<R> first, InputRequest<Rs>... rest);

// A question that will have an R for its answer. Await it at once, or give several to all().
template <typename R>
class [[nodiscard]] InputRequest {
 public:
  using Read = R (*)(Json answer);
  InputRequest(detail::Run& run, detail::QuestionBody body, Read read)
      : run_(&run), body_(std::move(body)), read_(read) {}

  class Awaiter : public detail::Asking {
   public:
    Awaiter(detail::Run& run, std::vector<detail::QuestionBody> questions, Read read)
        : Asking(run, std::move(questions)), read_(read) {}
    R await_resume() { return read_(std::move(answers().front())); }

   private:
    Read read_;
  };
  Awaiter operator co_await() const& {
    std::vector<detail::QuestionBody> one(1, body_);
    return Awaiter(*run_, std::move(one), read_);
  }
  Awaiter operator co_await() && {
    std::vector<detail::QuestionBody> one;
    one.push_back(std::move(body_));
    return Awaiter(*run_, std::move(one), read_);
  }

 private:
  template <typename S, typename... Ss>
  friend All<S, Ss...> all(InputRequest<S> first, InputRequest<Ss>... rest);

  detail::Run* run_;
  detail::QuestionBody body_;
  Read read_;
};

// Several questions of one round; the answers come as a tuple, in their order.
template <typename... Rs>
class [[nodiscard]] All {
 public:
  using Reads = std::tuple<typename InputRequest<Rs>::Read...>;
  All(detail::Run& run, std::vector<detail::QuestionBody> bodies, Reads reads)
      : run_(&run), bodies_(std::move(bodies)), reads_(std::move(reads)) {}

  class Awaiter : public detail::Asking {
   public:
    Awaiter(detail::Run& run, std::vector<detail::QuestionBody> questions, Reads reads)
        : Asking(run, std::move(questions)), reads_(std::move(reads)) {}
    std::tuple<Rs...> await_resume() { return read(std::index_sequence_for<Rs...>()); }

   private:
    template <std::size_t... I>
    std::tuple<Rs...> read(std::index_sequence<I...>) {
      return std::tuple<Rs...>(std::get<I>(reads_)(std::move(answers()[I]))...);
    }
    Reads reads_;
  };
  Awaiter operator co_await() const { return Awaiter(*run_, bodies_, reads_); }

 private:
  detail::Run* run_;
  std::vector<detail::QuestionBody> bodies_;
  Reads reads_;
};

// One round for all of them:
//
//   auto name = call.elicit("name", signet::form("Who?").string("name"));
//   auto size = call.elicit<Size>("size", "How large?");
//   auto [who, how_large] = co_await signet::all(name, size);
//
// Answers that are there already are kept; only the missing ones are asked for again.
template <typename R, typename... Rs>
All<R, Rs...> all(InputRequest<R> first, InputRequest<Rs>... rest) {
  std::vector<detail::QuestionBody> bodies;
  bodies.reserve(1 + sizeof...(rest));
  bodies.push_back(std::move(first.body_));
  (bodies.push_back(std::move(rest.body_)), ...);
  return All<R, Rs...>(*first.run_, std::move(bodies), std::make_tuple(first.read_, rest.read_...));
}

}  // namespace signet
