#include <signet/server/call.h>

#include <signet/protocol/capabilities.h>
#include <signet/protocol/methods.h>
#include <signet/server/question_params.h>
#include <signet/server/run.h>

#include <stdexcept>

namespace signet {

namespace {

bool declares(const detail::Run& run, protocol::Capability capability) {
  return protocol::ClientCapabilities(run.facts().client_capabilities).has(capability);
}

ElicitResult read_result(Json answer) {
  const std::string* action = answer.find_string("action");
  if (action == nullptr || *action == "cancel") return ElicitResult(ElicitAction::cancel, Json());
  if (*action == "decline") return ElicitResult(ElicitAction::decline, Json());
  Json* content = answer.find("content");
  return ElicitResult(ElicitAction::accept, content == nullptr ? Json() : std::move(*content));
}

SampleResult read_sample(Json answer) { return SampleResult(std::move(answer)); }

std::vector<Root> read_roots(Json answer) {
  std::vector<Root> roots;
  const Json* list = answer.find("roots");
  if (list == nullptr || !list->is_array()) return roots;
  for (const Json& root : *list->as_array()) {
    const std::string* uri = root.find_string("uri");
    const std::string* name = root.find_string("name");
    if (uri != nullptr) roots.emplace_back(*uri, name == nullptr ? std::string() : *name);
  }
  return roots;
}

}  // namespace

const Principal& CallBase::principal() const { return run_->facts().principal; }
const Json& CallBase::client_info() const { return run_->facts().client_info; }
std::string_view CallBase::protocol_version() const { return run_->facts().protocol_version; }
const std::string& CallBase::target() const { return run_->facts().target; }
const Json& CallBase::meta() const { return run_->facts().meta; }
const std::string& CallBase::flow_id() const { return run_->facts().flow_id; }
std::uint32_t CallBase::round() const { return run_->facts().round; }

bool CallBase::can_elicit() const { return declares(*run_, protocol::Capability::elicitation_form); }
bool CallBase::can_elicit_url() const { return declares(*run_, protocol::Capability::elicitation_url); }
bool CallBase::can_sample() const { return declares(*run_, protocol::Capability::sampling); }
bool CallBase::can_list_roots() const { return declares(*run_, protocol::Capability::roots); }

void CallBase::progress(double done, double total, const std::string& message) {
  run_->progress(done, total, message);
}
void CallBase::log(std::string_view level, Json data, const std::string& logger) {
  run_->log(level, std::move(data), logger);
}
void CallBase::detach_stream(std::chrono::milliseconds retry) { run_->detach_stream(retry); }
std::stop_token CallBase::stop_token() const { return run_->stop_token(); }
const Json::Object& CallBase::input_responses() const { return run_->responses(); }
const Json& CallBase::state() const { return run_->state(); }

InputRequest<ElicitResult> Call::elicit(std::string key, const Form& form) {
  detail::QuestionBody body =
      detail::form_question(std::move(key), form.message(), detail::FormSchema(form.schema()));
  return InputRequest<ElicitResult>(run(), std::move(body), &read_result);
}

InputRequest<ElicitResult> Call::elicit_url(std::string key, std::string message, std::string url) {
  detail::QuestionBody body(detail::QuestionKind::elicit_url, std::move(key),
                            detail::request_of(protocol::method::elicitation_create,
                                               detail::url_params(std::move(message), std::move(url))));
  return InputRequest<ElicitResult>(run(), std::move(body), &read_result);
}

InputRequest<SampleResult> Call::sample(std::string key, const SampleRequest& request) {
  detail::QuestionBody body(detail::QuestionKind::sampling, std::move(key),
                            detail::request_of(protocol::method::sampling_create_message, request.params()));
  return InputRequest<SampleResult>(run(), std::move(body), &read_sample);
}

InputRequest<std::vector<Root>> Call::list_roots(std::string key) {
  detail::QuestionBody body(detail::QuestionKind::roots, std::move(key),
                            detail::request_of(protocol::method::roots_list, Json::object()));
  return InputRequest<std::vector<Root>>(run(), std::move(body), &read_roots);
}

const Json* Call::remembered(const std::string& name) const { return run().round().remembered(name); }

void Call::remember(std::string name, Json value) {
  if (!run().round().remember(name, std::move(value))) {
    throw std::logic_error("a step's name is empty or too long, or there are too many steps");
  }
}

}  // namespace signet
