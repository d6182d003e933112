// Where token and rounds meet: open the state, run the handler over its journal, seal what it came to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <signet/base/digest.h>
#include <signet/base/task.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/rounds/round.h>
#include <signet/server/handler.h>
#include <signet/server/options.h>
#include <signet/server/run.h>
#include <signet/server/worker_pool.h>
#include <signet/token/redemption.h>
#include <signet/token/sealer.h>

namespace signet::detail {

// How the rounds of one tool, prompt or resource go.
struct FlowPolicy {
  std::optional<std::chrono::milliseconds> lifetime;
  std::optional<std::chrono::milliseconds> flow_lifetime;
  std::chrono::milliseconds time_limit{0};
  token::Redemption redemption = token::Redemption::many;
  bool accepts_unasked_answers = false;
};

// One request that a handler serves. Borrowed until the task ends.
struct FlowRequest {
  FlowRequest(Json* request_params, std::shared_ptr<CallFacts> call_facts, const Handler& its_handler,
              std::shared_ptr<const void> handler_owner)
      : params(request_params),
        facts(std::move(call_facts)),
        handler(its_handler),
        owner(std::move(handler_owner)) {}
  Json* params;  // borrowed while the request is served
  std::shared_ptr<CallFacts> facts;
  const Handler& handler;
  std::shared_ptr<const void> owner;  // keeps the handler while it runs
  Json input;                         // what the handler reads
  bool input_is_arguments = true;     // to which a state is bound; else it is bound to none
  FlowPolicy policy;
  // Turns the members a handler returned into the result, or into the reason why they may not be sent.
  std::function<Reply(Json members)> complete;
  // What the client is told of a handler that threw; the reason is in the log.
  std::function<Reply()> failed;
  // Goes on as a task, from where the journal is. Only where the facts say that it may.
  std::function<Task<Reply>(const FlowRequest& request, rounds::Journal journal, Executor& executor)>
      become_task;
  bool task_at_once = false;  // the handler runs in the task only
};

// The `inputRequests` of what is pending.
Json input_requests(const std::vector<rounds::Pending>& pending);

// Serves handlers in rounds. Thread-safe.
class Flows {
 public:
  // The codec seals the replies that are kept.
  Flows(const ServerOptions::Settings& settings, std::string audience, token::Sealer& sealer,
        std::shared_ptr<token::Codec> codec, WorkerPool& workers)
      : settings_(settings),
        audience_(std::move(audience)),
        sealer_(sealer),
        codec_(std::move(codec)),
        workers_(workers) {}

  // The result, the questions of the next round (resultType `input_required`), or an error.
  Task<Reply> serve(FlowRequest& request, Exchange& exchange);

  // One run, for a task that keeps its journal itself: the result or error, or the questions.
  struct Turn {
    Turn() = default;
    std::optional<Reply> reply;
    rounds::Journal journal;
    std::vector<rounds::Pending> pending;
  };
  Task<Turn> turn(FlowRequest& request, Exchange& exchange, rounds::Round round);

 private:
  // What a request brought with it.
  struct Start;

  Task<std::optional<Fault>> open(FlowRequest& request, Exchange& exchange, std::string state, Start& start);
  Task<std::optional<Reply>> redeem(FlowRequest& request, Exchange& exchange, Start& start);
  Task<Reply> wait_for_reply(FlowRequest& request, Exchange& exchange, const Start& start,
                             token::Claim claim);
  Task<std::string> seal_reply(const token::Claim& claim, const Reply& reply, Exchange& exchange);
  Task<std::optional<Reply>> unseal_reply(const token::Claim& claim, std::string kept, Exchange& exchange);
  Task<void> settle_claim(const Start& start, const Reply& reply, Exchange& exchange);
  Task<Reply> rounds(FlowRequest& request, Exchange& exchange, Start& start);
  Task<Ending> play(FlowRequest& request, Exchange& exchange, std::shared_ptr<Run> run, Start& start);
  Task<Ending> run(FlowRequest& request, Exchange& exchange, std::shared_ptr<Run> run, Start& start);
  bool start_plain(const FlowRequest& request, const std::shared_ptr<Run>& run);
  Ending ask_explicitly(Run& run, const InputRequired& questions) const;
  Task<Reply> seal(FlowRequest& request, Exchange& exchange, Start& start, Run& run);
  Task<Reply> begin_task(const FlowRequest& request, rounds::Journal journal, Exchange& exchange) const;
  Reply conclude(const FlowRequest& request, Ending ending) const;

  token::Binding binding(const FlowRequest& request) const;
  Fault refused(const FlowRequest& request, const token::Refused& why) const;
  // Of a state that was opened.
  Fault refused(const FlowRequest& request, const Start& start, token::Refusal reason) const;
  Fault internal(const FlowRequest& request, std::string_view event, const std::string& reason) const;
  void record(const FlowRequest& request, std::string_view outcome) const;

  const ServerOptions::Settings& settings_;
  std::string audience_;
  token::Sealer& sealer_;
  std::shared_ptr<token::Codec> codec_;
  WorkerPool& workers_;
};

}  // namespace signet::detail
