// One run of a handler: what it is told, what it asked, and how it ended.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <signet/base/entropy.h>
#include <signet/base/executor.h>
#include <signet/base/principal.h>
#include <signet/base/task.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/rounds/round.h>
#include <signet/server/question.h>
#include <signet/server/results.h>
#include <signet/server/worker_link.h>

namespace signet::detail {

// What is the same in every run of one request.
struct CallFacts {
  Principal principal;
  Json client_info;
  Json client_capabilities;
  std::string protocol_version;
  bool legacy = false;
  Entropy* entropy = &system_entropy();
  Json meta;            // the request's `_meta`, or null
  Json progress_token;  // null where there is none
  std::optional<int> log_rank;
  std::string method;
  std::string target;
  std::string flow_id;
  std::uint32_t round = 1;
  std::uint32_t rounds_max = 16;
  bool may_become_task = false;  // the tool and the client support it
  bool in_task = false;
};

// The handler is at a question without an answer.
struct Parked {};
// An exception left the handler; `what` is for the log.
struct Threw {
  explicit Threw(std::string text) : what(std::move(text)) {}
  std::string what;
};
// What was thrown, for the log.
std::string text_of(const std::exception_ptr& thrown);
// The handler asked in a way that is a mistake of the program; the sentence is for the log.
struct Misused {
  explicit Misused(std::string text) : what(std::move(text)) {}
  std::string what;
};
// The handler wants to go on as a task, from its first line over the same journal.
struct BecomesTask {};
using Ending = std::variant<Answer, Parked, Fault, Threw, Misused, BecomesTask>;

// Shared with the worker thread of a plain function, which may outlive the request: then it is closed, and nothing that
// the function does reaches the client.
// Threads: coroutines on the executor only. Of a plain function `notify`, `log`, `progress`, `stop_token` and the
// constant parts, from its thread.
class Run final : public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<const CallFacts> facts, Exchange& exchange, rounds::Round round);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  const CallFacts& facts() const { return *facts_; }
  rounds::Round& round() { return round_; }
  const Json::Object& responses() const { return responses_; }
  const Json& state() const { return state_; }
  // Reads the answers and the state of the explicit style anew. Before the handler starts.
  void load_explicit();

  // From now on calls come from another thread than the executor's.
  void move_to_worker() { on_worker_ = true; }
  // Nothing reaches the client any more, and the stop token fires. On the executor.
  void close();

  // From a worker's thread it waits while too much is under way (WorkerLink).
  void notify(Notification notification);
  void progress(double done, double total, const std::string& message);
  void log(std::string_view level, Json data, const std::string& logger);
  void detach_stream(std::chrono::milliseconds retry);
  std::stop_token stop_token();
  void request_stop();

  // How the run ends; the first counts. On the executor.
  void end(Ending ending);
  // The same from the worker's thread.
  void end_from_worker(Ending ending);
  bool ended() const { return ending_.has_value(); }
  Ending take_ending() { return std::move(*ending_); }

  // Resumes when the run has ended.
  class Ended {
   public:
    explicit Ended(Run& run) : run_(run) {}
    Ended(const Ended&) = delete;
    Ended& operator=(const Ended&) = delete;
    ~Ended() { run_.waiting_ = nullptr; }
    bool await_ready() const noexcept { return run_.ended(); }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
      run_.waiting_ = &waiting.promise();
    }
    void await_resume() const noexcept {}

   private:
    Run& run_;
  };

  // Asks in the journal. True where all are answered, and then `answers` has them in order. Otherwise, with a modern
  // client, `park` ends the run.
  bool ask(const std::vector<QuestionBody>& questions, std::vector<Json>& answers);
  void park();
  // A person is asked now, on a connection of a handshake revision. False where the run has ended instead.
  Task<bool> ask_person(const std::vector<QuestionBody>& questions, std::vector<Json>& answers);
  // Asks all that is pending in the journal (explicit style), in the same way; how the run ends where there is no answer.
  Task<std::optional<Ending>> ask_pending();
  // The -32021 that names what the client lacks for these questions (or, on such a connection, its equivalent).
  std::optional<Fault> missing_for(const std::vector<const QuestionBody*>& questions) const;
  // How many people are being waited for: the time limit stands still.
  int people_waiting() const { return people_waiting_; }

 private:
  Result<Json> legacy_params(const QuestionBody& question, Json params) const;
  Task<std::optional<Ending>> ask_one(const QuestionBody& question);
  bool is_pending(std::string_view key) const;

  std::shared_ptr<const CallFacts> facts_;
  std::shared_ptr<WorkerLink> link_;
  Outlet* outlet_;
  std::stop_token exchange_stop_;
  std::stop_source stop_{std::nostopstate};
  struct Forward {
    std::stop_source source;
    void operator()() noexcept { source.request_stop(); }
  };
  std::optional<std::stop_callback<Forward>> forward_;
  std::mutex stop_mutex_;
  bool on_worker_ = false;
  bool closed_ = false;
  std::optional<double> progress_;
  rounds::Round round_;
  Json::Object responses_;
  Json state_;
  std::optional<Ending> ending_;
  std::optional<Fault> refusal_;  // why the next park is an error
  std::optional<std::string> misuse_;
  PromiseBase* waiting_ = nullptr;
  int people_waiting_ = 0;
};

}  // namespace signet::detail
