#include <signet/server/run.h>

#include <signet/base/bytes.h>
#include <signet/protocol/capabilities.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/methods.h>
#include <signet/server/legacy_questions.h>
#include <signet/server/question_params.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace signet::detail {

namespace {

using Outcome = rounds::Round::Outcome;

std::string misuse_of(Outcome outcome, const std::string& key) {
  switch (outcome) {
    case Outcome::key_reused:
      return "two questions under the key '" + key + "' in one round";
    case Outcome::bad_key:
      return "a key that is empty or too long";
    default:
      return "more questions and steps than a flow may have";
  }
}

// Whether ElicitResult can say each number of the content: to a schema 10^30 is an integer like any other.
bool has_readable_numbers(const FormSchema& form, const Json& content) {
  const Json* properties = form.json().find("properties");
  if (properties == nullptr || !properties->is_object()) return true;
  return std::ranges::all_of(*properties->as_object(), [&content](const JsonMember& property) {
    const std::string* type = property.second.find_string("type");
    const Json* value = content.find(property.first);
    if (type == nullptr || value == nullptr) return true;
    if (*type == "integer") return value->as_int64().has_value();
    return *type != "number" || value->as_double().has_value();
  });
}

std::optional<std::string> check_body(const QuestionBody& question, const Json& answer) {
  std::optional<std::string> objection =
      check_answer(question.kind, question.form ? &*question.form : nullptr, answer);
  if (objection || !question.form) return objection;
  const std::string* action = answer.find_string("action");
  const Json* content = answer.find("content");
  if (action == nullptr || *action != "accept" || content == nullptr) return std::nullopt;
  if (question.fits != nullptr) {
    if (question.fits(*content)) return std::nullopt;
    return "The form was not filled in as it asks.";
  }
  if (has_readable_numbers(*question.form, *content)) return std::nullopt;
  return "A number is out of range.";
}

}  // namespace

std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

Run::Run(std::shared_ptr<const CallFacts> facts, Exchange& exchange, rounds::Round round)
    : facts_(std::move(facts)),
      link_(std::make_shared<WorkerLink>(*exchange.executor, *exchange.outlet)),
      outlet_(exchange.outlet),
      exchange_stop_(exchange.stop),
      round_(std::move(round)) {}

Run::~Run() = default;

void Run::load_explicit() {
  responses_ = round_.responses();
  state_ = round_.state();
}

void Run::close() {
  if (closed_) return;
  closed_ = true;
  link_->close();
  waiting_ = nullptr;
  request_stop();
}

std::stop_token Run::stop_token() {
  const std::lock_guard lock(stop_mutex_);
  if (!stop_.stop_possible()) {
    stop_ = std::stop_source();
    if (exchange_stop_.stop_possible()) forward_.emplace(exchange_stop_, Forward{stop_});
  }
  return stop_.get_token();
}

void Run::request_stop() {
  std::stop_source stop{std::nostopstate};
  {
    const std::lock_guard lock(stop_mutex_);
    stop = stop_;
  }
  stop.request_stop();
}

void Run::notify(Notification notification) {
  if (on_worker_) {
    link_->notify(std::move(notification));
  } else if (!closed_ && !ending_) {
    outlet_->notify(std::move(notification));
  }
}

void Run::progress(double done, double total, const std::string& message) {
  if (facts_->progress_token.is_null() || !std::isfinite(done)) return;
  if (progress_ && done <= *progress_) return;  // S58: strictly increasing
  progress_ = done;
  Json params;
  params.set("progressToken", facts_->progress_token);
  params.set("progress", done);
  if (total > 0) params.set("total", total);
  if (!message.empty()) params.set("message", message);
  notify(Notification(std::string(protocol::method::notifications::progress), std::move(params)));
}

void Run::log(std::string_view level, Json data, const std::string& logger) {
  const std::optional<int> rank = protocol::log_level_rank(level);
  if (!rank || !facts_->log_rank || *rank < *facts_->log_rank) return;
  Json params;
  params.set("level", level);
  if (!logger.empty()) params.set("logger", logger);
  params.set("data", std::move(data));
  notify(Notification(std::string(protocol::method::notifications::message), std::move(params)));
}

void Run::detach_stream(std::chrono::milliseconds retry) {
  if (!on_worker_) {
    if (!closed_ && !ending_) outlet_->detach(retry);
    return;
  }
  link_->detach(retry);
}

void Run::end(Ending ending) {
  if (ending_ || closed_) return;
  ending_ = std::move(ending);
  if (waiting_ != nullptr) PromiseBase::schedule(*std::exchange(waiting_, nullptr));
}

void Run::end_from_worker(Ending ending) {
  auto shared = std::make_shared<Ending>(std::move(ending));
  link_->end([self = shared_from_this(), shared] { self->end(std::move(*shared)); });
}

std::optional<Fault> Run::missing_for(const std::vector<const QuestionBody*>& questions) const {
  std::vector<protocol::Capability> needed;
  for (const QuestionBody* question : questions) {
    for (const protocol::Capability capability : needed_capabilities(question->kind, question->params())) {
      needed.push_back(capability);
    }
  }
  const protocol::ClientCapabilities declared(facts_->client_capabilities);
  std::optional<Fault> missing = protocol::missing_capabilities(declared, needed);
  if (missing && facts_->legacy) {
    // -32021 belongs to 2026-07-28.
    return Fault(protocol::invalid_request, "The client did not declare a capability that this needs");
  }
  return missing;
}

bool Run::ask(const std::vector<QuestionBody>& questions, std::vector<Json>& answers) {
  answers.clear();
  refusal_.reset();
  std::vector<const QuestionBody*> open;
  for (const QuestionBody& question : questions) {
    misuse_ = question_fault(question.kind, question.params());
    if (misuse_) return false;
    const auto check = [&question](const Json& answer) { return check_body(question, answer); };
    const rounds::Round::Asked asked = round_.ask(question.key, question.request, check);
    if (asked.outcome == Outcome::answered) {
      answers.push_back(*asked.answer);
    } else if (asked.outcome == Outcome::pending) {
      open.push_back(&question);
    } else {
      misuse_ = misuse_of(asked.outcome, question.key);
      return false;
    }
  }
  refusal_ = missing_for(open);  // an answer that is here needs nobody who could still be asked
  return open.empty();
}

void Run::park() {
  if (misuse_) {
    end(Misused(std::move(*misuse_)));
  } else if (refusal_) {
    end(std::move(*refusal_));
  } else {
    end(Parked());
  }
}

Task<bool> Run::ask_person(const std::vector<QuestionBody>& questions, std::vector<Json>& answers) {
  if (misuse_ || refusal_) {
    park();
    co_return false;
  }
  for (const QuestionBody& question : questions) {
    if (!is_pending(question.key)) continue;
    Task<std::optional<Ending>> asking = ask_one(question);
    std::optional<Ending> unanswered = co_await asking;
    if (unanswered) {
      end(std::move(*unanswered));
      co_return false;
    }
  }
  const bool complete = ask(questions, answers);
  if (!complete) park();
  co_return complete;
}

Task<std::optional<Ending>> Run::ask_pending() {
  const std::vector<rounds::Pending> pending = round_.pending();
  for (const rounds::Pending& one : pending) {
    QuestionBody question(kind_of(one.question), one.key, one.question);
    if (question.kind == QuestionKind::elicit_form)
      question.form.emplace(*question.params().find("requestedSchema"));
    Task<std::optional<Ending>> asking = ask_one(question);
    std::optional<Ending> unanswered = co_await asking;
    if (unanswered) co_return unanswered;
  }
  co_return std::nullopt;
}

bool Run::is_pending(std::string_view key) const {
  return std::any_of(round_.pending().begin(), round_.pending().end(),
                     [key](const rounds::Pending& pending) { return pending.key == key; });
}

// As the session's revision says it. Every URL that is sent has an id of its own with 2025-11-25.
Result<Json> Run::legacy_params(const QuestionBody& question, Json params) const {
  if (question.kind == QuestionKind::elicit_form)
    return form_for_revision(std::move(params), facts_->protocol_version);
  if (question.kind == QuestionKind::elicit_url) {
    std::array<std::uint8_t, 16> id{};
    facts_->entropy->fill(id);
    params.set("elicitationId", hex(id));
  }
  return params;
}

Task<std::optional<Ending>> Run::ask_one(const QuestionBody& question) {
  Json params = question.params();
  for (std::uint32_t attempt = 0; attempt < facts_->rounds_max; ++attempt) {
    Result<Json> said = legacy_params(question, std::move(params));
    if (!said.ok()) co_return Misused(said.error().message);
    ++people_waiting_;
    Task<Reply> asked = outlet_->request(std::string(method_of(question.kind)), std::move(*said));
    Reply reply = co_await asked;
    --people_waiting_;
    if (!reply.ok()) co_return Fault(protocol::internal_error, "The client did not answer the question");
    if (question.form)
      *reply = answer_from_revision(question.form->json(), std::move(*reply), facts_->protocol_version);
    std::optional<std::string> objection = check_body(question, *reply);
    if (!objection) {
      round_.settle(question.key, std::move(*reply));
      co_return std::nullopt;
    }
    params = with_reason(question.params(), *objection);
  }
  co_return Fault(protocol::internal_error, "Too many rounds");
}

}  // namespace signet::detail
