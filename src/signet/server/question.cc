#include <signet/server/question.h>

#include <signet/json/text.h>
#include <signet/protocol/methods.h>
#include <signet/server/compiled_schema.h>
#include <signet/server/question_params.h>
#include <signet/server/run.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace signet::detail {

struct FormSchema::Compiled {
  Json json;
  std::shared_ptr<const CompiledSchema> schema;
};

namespace {

// Of forms built by hand. Schemas that are made of data could be many and large: neither stays.
constexpr std::size_t kept_forms_max = 256;
constexpr std::size_t kept_form_bytes_max = 4096;

template <typename T>
class KeptForms {
 public:
  std::shared_ptr<T> find(const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto found = forms_.find(text);
    return found == forms_.end() ? nullptr : found->second;
  }
  void keep(std::string text, std::shared_ptr<T> form) {
    if (text.size() > kept_form_bytes_max) return;
    const std::lock_guard lock(mutex_);
    if (forms_.size() >= kept_forms_max) forms_.clear();
    forms_.emplace(std::move(text), std::move(form));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<T>> forms_;
};

}  // namespace

FormSchema::FormSchema(Json schema) {
  static KeptForms<const Compiled> kept;
  std::string text = json::write(schema);
  compiled_ = kept.find(text);
  if (compiled_ != nullptr) return;
  Result<std::shared_ptr<const CompiledSchema>> compiled = CompiledSchema::compile(schema, Formats::asserted);
  if (!compiled.ok())
    throw std::invalid_argument("this form has no valid schema: " + compiled.error().message);
  auto both = std::make_shared<Compiled>();
  both->json = std::move(schema);
  both->schema = std::move(*compiled);
  compiled_ = std::move(both);
  kept.keep(std::move(text), compiled_);
}

const Json& FormSchema::json() const { return compiled_->json; }

std::optional<std::string> FormSchema::check(const Json& content) const {
  return compiled_->schema->check(content);
}

QuestionBody form_question(std::string key, std::string message, const FormSchema& form) {
  QuestionBody body(
      QuestionKind::elicit_form, std::move(key),
      request_of(protocol::method::elicitation_create, form_params(std::move(message), form.json())));
  body.form = form;
  return body;
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
