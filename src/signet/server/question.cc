#include <signet/server/question.h>

#include <signet/server/compiled_schema.h>
#include <signet/server/run.h>

#include <cassert>
#include <stdexcept>

namespace signet::detail {

struct FormSchema::Compiled {
  Json json;
  std::shared_ptr<const CompiledSchema> schema;
};

FormSchema::FormSchema(Json schema) {
  Result<std::shared_ptr<const CompiledSchema>> compiled = CompiledSchema::compile(schema, Formats::asserted);
  if (!compiled.ok())
    throw std::invalid_argument("this form has no valid schema: " + compiled.error().message);
  auto both = std::make_shared<Compiled>();
  both->json = std::move(schema);
  both->schema = std::move(*compiled);
  compiled_ = std::move(both);
}

const Json& FormSchema::json() const { return compiled_->json; }

std::optional<std::string> FormSchema::check(const Json& content) const {
  return compiled_->schema->check(content);
}

// The real requests that are under way.
struct Asking::Live {
  Task<bool> task;
};

Asking::Asking(Run& run, std::vector<QuestionBody> questions) : run_(run), questions_(std::move(questions)) {}
Asking::~Asking() = default;

bool Asking::await_ready() { return run_.ask(questions_, answers_); }

void Asking::suspend(PromiseBase& waiting) {
  if (!run_.facts().legacy) {
    run_.park();  // may destroy this
    return;
  }
  live_ = std::make_unique<Live>();
  live_->task = run_.ask_person(questions_, answers_);
  // Where it ended the run instead, nobody resumes this: the frame is about to be destroyed.
  live_->task.start([this, &waiting] {
    if (live_->task.take()) PromiseBase::schedule(waiting);
  });
}

}  // namespace signet::detail

namespace signet {

bool StartTask::await_ready() const { return run_.facts().in_task || !run_.facts().may_become_task; }

// The run ends here; in the task it comes by again and goes on.
void StartTask::await_suspend(std::coroutine_handle<> /*waiting*/) const { run_.end(detail::BecomesTask()); }

}  // namespace signet
