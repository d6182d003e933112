#include <signet/server/flow.h>

#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/methods.h>
#include <signet/server/kept_reply.h>
#include <signet/server/question_params.h>
#include <signet/token/claims_format.h>
#include <signet/token/codec.h>
#include <signet/token/key_ring.h>

#include <signet/base/one_shot.h>

#include <algorithm>
#include <exception>

namespace signet::detail {

using token::Claim;
using token::ClaimOutcome;
using token::Redemption;

struct Flows::Start {
  std::optional<token::Flow> flow;  // the one the state continues, or the new one
  std::optional<Claim> claim;       // of a state that may not be redeemed for ever
  std::string key_id;               // of the state that was opened
  Timestamp issued_at{};
  rounds::Journal journal;
  Json::Object responses;
  rounds::Unasked unasked = rounds::Unasked::ignored;
  bool began = true;  // the handler; else nothing happened and a claim is given back
};

namespace {

constexpr std::chrono::milliseconds first_wait{20};
constexpr std::chrono::milliseconds longest_wait{500};
constexpr std::chrono::milliseconds waits_max{30'000};
// A retry may be verified just before its state expires, by a clock that is behind.
constexpr std::chrono::milliseconds kept_beyond = std::chrono::hours(1);

// What surrounds the journal in a native token, at most: claims, nonce, tag, prefix.
constexpr std::size_t claims_bytes = 512;
// Of a journal whose codec has limits of its own: state by reference, or a key management service.
constexpr std::size_t journal_bytes_max = std::size_t{1} << 20;

Result<Json::Object, Fault> take_responses(Json& params, bool keep) {
  Json* given = params.find("inputResponses");
  if (given == nullptr) return Json::Object();
  if (!given->is_object())
    return failure(Fault(protocol::invalid_params, "inputResponses must be an object"));
  return keep ? *given->as_object() : std::move(*given->as_object());
}

// A label from a closed set: how long ago a refused state was issued, at most.
std::string_view age_label(const std::optional<std::chrono::milliseconds>& age) {
  using std::chrono::minutes;
  if (!age) return "unknown";  // it was not authentic, or its format does not say
  if (*age < minutes(0)) return "negative";
  if (*age <= minutes(1)) return "1m";
  if (*age <= minutes(10)) return "10m";
  if (*age <= minutes(60)) return "1h";
  return *age <= minutes(24 * 60) ? "1d" : "more";
}

// The id of a key that we have. Of others anybody can make as many as they like, and each would be a series.
std::string_view key_label(const token::Refused& why) {
  const bool ours = why.reason != token::Refusal::malformed && why.reason != token::Refusal::unknown_key &&
                    why.reason != token::Refusal::unavailable;
  return ours && token::is_key_id(why.key_id) ? std::string_view(why.key_id) : std::string_view();
}

std::string refusal_labels(const token::Refused& why, std::string_view method) {
  std::string labels = "reason=\"";
  labels.append(to_string(why.reason)).append("\",method=\"").append(method);
  labels.append("\",key_id=\"").append(key_label(why)).append("\",age=\"").append(age_label(why.age));
  return labels + "\"";
}

// The state of another system, as the explicit style sees it.
rounds::Journal foreign_journal(const Bytes& state) {
  rounds::Journal journal;
  const std::string_view text = as_text(state);
  Result<Json, json::ParseError> value = json::parse(text);
  journal.add(rounds::Entry(rounds::Entry::Kind::state, std::string(), Digest(),
                            value.ok() ? std::move(*value) : Json(std::string(text))));
  return journal;
}

// The other way round: the handler's own state, as text. Nothing where there is more to keep, which that system could
// not read.
std::optional<Bytes> foreign_form(const rounds::Journal& journal) {
  std::string text;
  for (const rounds::Entry& entry : journal.entries()) {
    const bool is_state = entry.kind == rounds::Entry::Kind::state;
    const bool asked_explicitly = entry.kind == rounds::Entry::Kind::open && !entry.value.is_null();
    if (!is_state && !asked_explicitly) return std::nullopt;
    if (is_state) text = entry.value.is_string() ? *entry.value.as_string() : json::write(entry.value);
  }
  return Bytes(text.begin(), text.end());
}

class Waits {
 public:
  explicit Waits(Executor& executor) : executor_(executor) {}
  // Arms a timer; the OneShot is awaited by the caller.
  OneShot<bool> after(std::chrono::milliseconds delay) {
    OneShot<bool> elapsed;
    timer_ = executor_.post_after(delay, [elapsed] { elapsed.set(true); });
    return elapsed;
  }

 private:
  Executor& executor_;
  std::shared_ptr<void> timer_;
};

// Closes the run when its coroutine ends or is dropped, so that nothing late reaches the client.
class Closing {
 public:
  explicit Closing(Run& run) : run_(run) {}
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
  ~Closing() { run_.close(); }

 private:
  Run& run_;
};

// Ends the run when it takes too long. While a person is being waited for it starts again.
class TimeLimit {
 public:
  TimeLimit(Executor& executor, Run& run, std::chrono::milliseconds limit)
      : executor_(executor), run_(run), limit_(limit) {
    if (limit_.count() > 0) arm();
  }

 private:
  void arm() {
    timer_ = executor_.post_after(limit_, [this] {
      if (run_.people_waiting() > 0) {
        arm();
        return;
      }
      run_.request_stop();
      run_.end(Fault(protocol::internal_error, "The time limit is over"));
    });
  }

  Executor& executor_;
  Run& run_;
  std::chrono::milliseconds limit_;
  std::shared_ptr<void> timer_;
};

// Of the tool or prompt, for the log. A resource has none: its URI may hold what the person asked for.
std::string name_of(const FlowRequest& request) {
  return request.facts->method == protocol::method::resources_read ? std::string() : request.facts->target;
}

}  // namespace

Json input_requests(const std::vector<rounds::Pending>& pending) {
  Json requests = Json::object();
  for (const rounds::Pending& question : pending) {
    Json request = question.question;
    Json* params = request.find("params");
    if (params != nullptr) *params = with_reason(std::move(*params), question.reason);
    requests.set(question.key, std::move(request));
  }
  return requests;
}

token::Binding Flows::binding(const FlowRequest& request) const {
  token::Binding binding;
  binding.method = request.facts->method;
  binding.target = request.facts->target;
  binding.arguments = sha256(as_bytes(request.input_is_arguments ? json::canonical(request.input) : "{}"));
  binding.audience = audience_;
  binding.principal = request.facts->principal;
  binding.protocol_version = request.facts->protocol_version;
  if (sealer_.reads_params()) binding.params_json = json::write_with_kinds(*request.params);
  return binding;
}

// S49: one answer to the client; the reason to the operator, and nothing of the token.
Fault Flows::refused(const FlowRequest& request, const token::Refused& why) const {
  if (settings_.log) {
    settings_.log(LogLevel::warning, "state_refused",
                  {{"reason", std::string(token::to_string(why.reason))},
                   {"key_id", why.key_id},
                   {"age_ms", why.age ? std::to_string(why.age->count()) : std::string()},
                   {"method", request.facts->method},
                   {"name", name_of(request)}});
  }
  settings_.metrics->add("signet_state_refused_total", refusal_labels(why, request.facts->method));
  return protocol::invalid_request_state();
}

Fault Flows::refused(const FlowRequest& request, const Start& start, token::Refusal reason) const {
  token::Refused why;
  why.reason = reason;
  why.key_id = start.key_id;
  why.age = token::as_stamp(settings_.clock->now()) - start.issued_at;
  return refused(request, why);
}

Fault Flows::internal(const FlowRequest& request, std::string_view event, const std::string& reason) const {
  if (settings_.log) {
    settings_.log(LogLevel::error, event,
                  {{"flow", request.facts->flow_id},
                   {"round", std::to_string(request.facts->round)},
                   {"method", request.facts->method},
                   {"name", name_of(request)},
                   {"reason", reason}});
  }
  return Fault(protocol::internal_error, "Internal error");
}

void Flows::record(const FlowRequest& request, std::string_view outcome) const {
  if (settings_.log) {
    settings_.log(LogLevel::debug, "round",
                  {{"flow", request.facts->flow_id},
                   {"round", std::to_string(request.facts->round)},
                   {"method", request.facts->method},
                   {"outcome", std::string(outcome)},
                   {"name", name_of(request)}});
  }
  settings_.metrics->add("signet_rounds_total",
                         "method=\"" + request.facts->method + "\",outcome=\"" + std::string(outcome) + "\"");
}

Task<std::optional<Fault>> Flows::open(FlowRequest& request, Exchange& exchange, std::string state,
                                       Start& start) {
  std::optional<Result<token::Opened, token::Refused>> opened;
  if (sealer_.immediate()) {
    opened.emplace(sealer_.open_now(state, binding(request)));
  } else {
    Task<Result<token::Opened, token::Refused>> opening =
        sealer_.open(std::move(state), binding(request), *exchange.executor);
    Result<token::Opened, token::Refused> result = co_await opening;
    opened.emplace(std::move(result));
  }
  if (!opened->ok()) co_return refused(request, opened->error());
  token::Opened& found = **opened;

  request.facts->round = found.flow.round + 1;
  request.facts->flow_id = hex(found.flow.id);
  start.flow = found.flow;
  start.key_id = found.key_id;
  start.issued_at = found.issued_at;
  if (!found.format.empty()) {
    start.journal = foreign_journal(found.state);
    start.unasked = rounds::Unasked::elsewhere;
  } else {
    Result<rounds::Journal, rounds::Malformed> journal = rounds::Journal::decode(found.state);
    if (!journal.ok()) co_return refused(request, start, token::Refusal::malformed);
    start.journal = std::move(*journal);
    start.unasked = rounds::Unasked::ignored;
  }

  if (request.policy.redemption != Redemption::many) {
    Claim claim;
    claim.token = found.token_id;
    claim.answers = digest_of_retry(binding(request), start.responses);
    claim.expires_at = found.expires_at;
    claim.keep_reply = request.policy.redemption == Redemption::once_with_reply;
    start.claim = claim;
  }
  co_return std::nullopt;
}

// Nothing where the caller may go on; the kept reply, or the refusal, otherwise.
Task<std::optional<Reply>> Flows::redeem(FlowRequest& request, Exchange& exchange, Start& start) {
  if (settings_.redemption_store == nullptr) {
    co_return Reply(failure(internal(request, "redemption_failed", "there is no redemption store")));
  }
  // From here to where the claim is settled: else nobody would ever have the reply.
  exchange.runs_to_end = start.claim->keep_reply;
  Task<Result<ClaimOutcome>> claiming = settings_.redemption_store->claim(*start.claim, *exchange.executor);
  Result<ClaimOutcome> outcome = co_await claiming;
  const bool won = outcome.ok() && *outcome == ClaimOutcome::won;
  exchange.runs_to_end = exchange.runs_to_end && won;
  if (!outcome.ok()) {
    internal(request, "redemption_failed", outcome.error().message);
    co_return Reply(failure(refused(request, start, token::Refusal::unavailable)));
  }
  if (won) co_return std::nullopt;
  const Claim claim = *start.claim;
  start.claim.reset();  // another request's
  if (*outcome == ClaimOutcome::lost || !claim.keep_reply) {
    co_return Reply(failure(refused(request, start, token::Refusal::already_used)));
  }
  Task<Reply> waiting = wait_for_reply(request, exchange, start, claim);
  Reply kept = co_await waiting;
  record(request, "repeated");
  co_return kept;
}

Task<Reply> Flows::wait_for_reply(FlowRequest& request, Exchange& exchange, const Start& start, Claim claim) {
  Waits waits(*exchange.executor);
  std::chrono::milliseconds delay = first_wait;
  std::chrono::milliseconds waited{0};
  while (true) {
    Task<Result<std::optional<std::string>>> asking =
        settings_.redemption_store->reply(claim, *exchange.executor);
    Result<std::optional<std::string>> kept = co_await asking;
    if (!kept.ok()) {
      internal(request, "redemption_failed", kept.error().message);
      co_return failure(refused(request, start, token::Refusal::unavailable));
    }
    if (*kept) {
      Task<std::optional<Reply>> unsealing = unseal_reply(claim, std::move(**kept), exchange);
      std::optional<Reply> reply = co_await unsealing;
      if (!reply) co_return failure(refused(request, start, token::Refusal::unavailable));
      co_return std::move(*reply);
    }
    if (waited >= waits_max)
      co_return failure(Fault(protocol::internal_error, "There is no reply to this call yet"));
    OneShot<bool> elapsed = waits.after(delay);
    co_await elapsed;
    waited += delay;
    delay = std::min(delay * 2, longest_wait);
  }
}

// What the store is to keep: nothing where the reply cannot be sealed, which no retry takes for a reply.
Task<std::string> Flows::seal_reply(const Claim& claim, const Reply& reply, Exchange& exchange) {
  Task<Result<std::string>> sealing = codec_->seal(
      encode_reply(claim, reply), token::later(claim.expires_at, kept_beyond), *exchange.executor);
  Result<std::string> sealed = co_await sealing;
  if (sealed.ok()) co_return std::move(*sealed);
  if (settings_.log) settings_.log(LogLevel::error, "reply_not_sealed", {{"reason", sealed.error().message}});
  co_return std::string();
}

Task<std::optional<Reply>> Flows::unseal_reply(const Claim& claim, std::string kept, Exchange& exchange) {
  Task<Result<token::Unsealed, token::Refused>> opening = codec_->open(std::move(kept), *exchange.executor);
  Result<token::Unsealed, token::Refused> opened = co_await opening;
  std::optional<Reply> reply;
  if (opened.ok()) reply = decode_reply(claim, opened->plaintext);
  if (!reply && settings_.log) {
    const std::string_view reason =
        opened.ok() ? "it is none of this claim" : token::to_string(opened.error().reason);
    settings_.log(LogLevel::error, "kept_reply_not_opened", {{"reason", std::string(reason)}});
  }
  co_return reply;
}

// What was claimed is finished, with the reply where it is to be kept; or given back where nothing happened.
Task<void> Flows::settle_claim(const Start& start, const Reply& reply, Exchange& exchange) {
  token::RedemptionStore& store = *settings_.redemption_store;
  std::string kept;
  if (start.claim->keep_reply && start.began) {
    Task<std::string> sealing = seal_reply(*start.claim, reply, exchange);
    std::string sealed = co_await sealing;
    kept = std::move(sealed);
  }
  Task<Result<void>> settling = start.began ? store.finish(*start.claim, std::move(kept), *exchange.executor)
                                            : store.abandon(*start.claim, *exchange.executor);
  Result<void> settled = co_await settling;
  exchange.runs_to_end = false;
  if (!settled.ok() && settings_.log) {
    settings_.log(LogLevel::error, "claim_not_settled", {{"reason", settled.error().message}});
  }
}

Task<Reply> Flows::serve(FlowRequest& request, Exchange& exchange) {
  Start start;
  start.unasked = request.policy.accepts_unasked_answers ? rounds::Unasked::taken : rounds::Unasked::ignored;
  if (!request.facts->legacy) {
    Result<Json::Object, Fault> responses = take_responses(*request.params, sealer_.reads_params());
    if (!responses.ok()) co_return failure(std::move(responses.error()));
    start.responses = std::move(*responses);
    if (const Json* state = request.params->find("requestState")) {
      if (!state->is_string()) co_return failure(refused(request, token::Refused()));
      Task<std::optional<Fault>> opening = open(request, exchange, *state->as_string(), start);
      std::optional<Fault> refusal = co_await opening;
      if (refusal) co_return failure(std::move(*refusal));
    }
  }
  if (start.claim) {
    Task<std::optional<Reply>> redeeming = redeem(request, exchange, start);
    std::optional<Reply> instead = co_await redeeming;
    if (instead) co_return std::move(*instead);
  }
  if (!start.flow) {
    start.flow = sealer_.begin_flow(request.policy.flow_lifetime);
    start.flow->round = 0;
    request.facts->flow_id = hex(start.flow->id);
  }
  Task<Reply> serving = rounds(request, exchange, start);
  Reply reply = co_await serving;
  if (start.claim) {
    Task<void> settling = settle_claim(start, reply, exchange);
    co_await settling;
  }
  co_return reply;
}

// One run: an ending, in which the questions of the explicit style are pending like the others.
Task<Ending> Flows::play(FlowRequest& request, Exchange& exchange, std::shared_ptr<Run> run, Start& start) {
  run->round().accept(check_against);
  run->load_explicit();
  Task<Ending> running = this->run(request, exchange, run, start);
  Ending ending = co_await running;
  const Answer* answer = std::get_if<Answer>(&ending);
  const InputRequired* questions = answer == nullptr ? nullptr : std::get_if<InputRequired>(answer);
  if (questions != nullptr) co_return ask_explicitly(*run, *questions);
  co_return ending;
}

// Runs the handler until there is a result, an error, or questions for a modern client. A client of the handshake
// revisions is asked what the explicit style wants between two runs.
Task<Reply> Flows::rounds(FlowRequest& request, Exchange& exchange, Start& start) {
  if (request.task_at_once) {
    Task<Reply> beginning = begin_task(request, std::move(start.journal), exchange);
    Reply created = co_await beginning;
    co_return created;
  }
  rounds::Round round(std::move(start.journal), std::move(start.responses), start.unasked);
  for (std::uint32_t turn = 1;; ++turn) {
    auto run = std::make_shared<Run>(request.facts, exchange, std::move(round));
    const Closing closing(*run);
    Task<Ending> playing = play(request, exchange, run, start);
    Ending ending = co_await playing;

    const bool pending = std::holds_alternative<Parked>(ending);
    if (pending && request.facts->legacy) {
      Task<std::optional<Ending>> asking = run->ask_pending();
      std::optional<Ending> unanswered = co_await asking;
      if (!unanswered && turn < request.facts->rounds_max) {
        round = rounds::Round(std::move(run->round()).finish(), Json::Object());
        continue;
      }
      ending =
          unanswered ? std::move(*unanswered) : Ending(Fault(protocol::internal_error, "Too many rounds"));
    } else if (pending) {
      Task<Reply> sealing = seal(request, exchange, start, *run);
      Reply reply = co_await sealing;
      record(request, reply.ok() ? "asked" : "error");
      co_return reply;
    }
    if (std::holds_alternative<BecomesTask>(ending)) {
      Task<Reply> beginning = begin_task(request, std::move(run->round()).finish(), exchange);
      Reply created = co_await beginning;
      co_return created;
    }
    co_return conclude(request, std::move(ending));
  }
}

Task<Reply> Flows::begin_task(const FlowRequest& request, rounds::Journal journal, Exchange& exchange) const {
  Task<Reply> becoming = request.become_task(request, std::move(journal), *exchange.executor);
  Reply created = co_await becoming;
  record(request, created.ok() ? "task" : "error");
  co_return created;
}

Task<Flows::Turn> Flows::turn(FlowRequest& request, Exchange& exchange, rounds::Round round) {
  Start start;
  auto run = std::make_shared<Run>(request.facts, exchange, std::move(round));
  const Closing closing(*run);
  Ending ending = Parked();
  try {
    Task<Ending> playing = play(request, exchange, run, start);
    Ending ended = co_await playing;
    ending = std::move(ended);
  } catch (...) {
    ending = Threw(text_of(std::current_exception()));
  }
  Turn turn;
  if (std::holds_alternative<Parked>(ending)) {
    turn.pending = run->round().pending();
    turn.journal = std::move(run->round()).finish();
    record(request, "asked");
  } else {
    turn.reply.emplace(conclude(request, std::move(ending)));
  }
  co_return turn;
}

// The reply where nobody is asked any more.
Reply Flows::conclude(const FlowRequest& request, Ending ending) const {
  if (const Threw* threw = std::get_if<Threw>(&ending)) {
    internal(request, "handler_threw", threw->what);
    record(request, "threw");
    return request.failed();
  }
  if (const Misused* misused = std::get_if<Misused>(&ending)) {
    record(request, "misused");
    return failure(internal(request, "handler_misused", misused->what));
  }
  Answer answer = std::holds_alternative<Fault>(ending) ? Answer(std::move(std::get<Fault>(ending)))
                                                        : std::move(std::get<Answer>(ending));
  if (Fault* fault = std::get_if<Fault>(&answer)) {
    record(request, "error");
    return failure(std::move(*fault));
  }
  Reply reply = request.complete(std::move(std::get<Json>(answer)));
  record(request, reply.ok() ? "complete" : "error");
  return reply;
}

Ending Flows::ask_explicitly(Run& run, const InputRequired& questions) const {
  std::vector<QuestionBody> bodies;
  for (const InputRequired::Question& question : questions.questions()) {
    bodies.emplace_back(kind_of(question.request), question.key, question.request);
  }
  std::vector<const QuestionBody*> all;
  for (const QuestionBody& body : bodies) all.push_back(&body);
  if (std::optional<Fault> missing = run.missing_for(all)) return std::move(*missing);
  for (const QuestionBody& body : bodies) {
    if (std::optional<std::string> fault = question_fault(body.kind, body.params())) return Misused(*fault);
  }
  if (!run.round().set_state(questions.state())) {
    return Misused("more questions and steps than a flow may have");
  }
  for (const InputRequired::Question& question : questions.questions()) {
    const rounds::Round::Outcome outcome = run.round().ask_explicitly(question.key, question.request);
    if (outcome != rounds::Round::Outcome::pending) {
      return Misused("the key '" + question.key + "' is empty, too long, or used twice in one round");
    }
  }
  return Parked();
}

Task<Ending> Flows::run(FlowRequest& request, Exchange& exchange, std::shared_ptr<Run> run, Start& start) {
  const TimeLimit limit(*exchange.executor, *run, request.policy.time_limit);
  if (request.handler.plain != nullptr) {
    start.began = start_plain(request, run);
    if (!start.began) co_return Fault(protocol::internal_error, "The server is busy");
    Run::Ended ended(*run);
    co_await ended;
    co_return run->take_ending();
  }
  Call call(*run);
  Task<Answer> handling = request.handler.coroutine(call, request.input);
  handling.start([&run, &handling] {
    try {
      run->end(handling.take());
    } catch (...) {
      run->end(Threw(text_of(std::current_exception())));
    }
  });
  Run::Ended ended(*run);
  co_await ended;
  // A handler that is parked ends here: its frames are destroyed with `handling`.
  co_return run->take_ending();
}

bool Flows::start_plain(const FlowRequest& request, const std::shared_ptr<Run>& run) {
  run->move_to_worker();
  run->stop_token();  // made here, where the exchange is known to live
  return workers_.submit([run, owner = request.owner, &handler = request.handler, input = request.input] {
    PlainCall call(*run);
    try {
      run->end_from_worker(handler.plain(call, input));
    } catch (...) {
      run->end_from_worker(Threw(text_of(std::current_exception())));
    }
  });
}

Task<Reply> Flows::seal(FlowRequest& request, Exchange& exchange, Start& start, Run& run) {
  const token::Policy& policy = sealer_.policy();
  if (request.facts->round > policy.rounds_max) {
    if (settings_.log) {
      settings_.log(LogLevel::warning, "rounds_exceeded",
                    {{"flow", request.facts->flow_id},
                     {"method", request.facts->method},
                     {"name", name_of(request)},
                     {"rounds_max", std::to_string(policy.rounds_max)}});
    }
    co_return failure(Fault(protocol::invalid_params, "Too many rounds"));
  }
  Json questions = input_requests(run.round().pending());
  const rounds::Journal journal = std::move(run.round()).finish();
  const std::size_t sealed = policy.sealed_bytes_max / 4 * 3;
  const std::size_t bytes_max =
      sealer_.immediate() ? sealed - std::min(sealed, claims_bytes) : journal_bytes_max;
  std::optional<Bytes> foreign;
  if (sealer_.seals_foreign()) {
    foreign = foreign_form(journal);
    if (!foreign) {
      co_return failure(internal(request, "state_not_sealed",
                                 "another system's format holds what InputRequired carries, and no journal"));
    }
  }
  Result<Bytes, rounds::Oversize> state = foreign ? std::move(*foreign) : journal.encode(bytes_max);
  if (!state.ok()) {
    co_return failure(internal(request, "state_too_large",
                               "with the key '" + state.error().key + "' the state has " +
                                   std::to_string(state.error().bytes) + " bytes, the limit is " +
                                   std::to_string(bytes_max)));
  }
  start.flow->round = request.facts->round;
  std::optional<Result<std::string>> token;
  if (sealer_.immediate()) {
    token.emplace(sealer_.seal_now(binding(request), *start.flow, *state, request.policy.lifetime));
  } else {
    Task<Result<std::string>> sealing = sealer_.seal(binding(request), *start.flow, std::move(*state),
                                                     *exchange.executor, request.policy.lifetime);
    Result<std::string> sealed_token = co_await sealing;
    token.emplace(std::move(sealed_token));
  }
  if (!token->ok()) co_return failure(internal(request, "state_not_sealed", token->error().message));
  Json result;
  result.set("resultType", "input_required");
  if (!questions.as_object()->empty()) result.set("inputRequests", std::move(questions));
  result.set("requestState", std::move(**token));
  co_return result;
}

}  // namespace signet::detail
