#include <signet/server/input_required.h>

#include <signet/protocol/methods.h>
#include <signet/server/question_params.h>

namespace signet {

InputRequired& InputRequired::elicit(std::string key, const Form& form) {
  questions_.emplace_back(std::move(key),
                          detail::request_of(protocol::method::elicitation_create,
                                             detail::form_params(form.message(), form.schema())));
  return *this;
}

InputRequired& InputRequired::elicit_url(std::string key, std::string message, std::string url) {
  questions_.emplace_back(std::move(key),
                          detail::request_of(protocol::method::elicitation_create,
                                             detail::url_params(std::move(message), std::move(url))));
  return *this;
}

InputRequired& InputRequired::sample(std::string key, const SampleRequest& request) {
  questions_.emplace_back(std::move(key),
                          detail::request_of(protocol::method::sampling_create_message, request.params()));
  return *this;
}

InputRequired& InputRequired::list_roots(std::string key) {
  questions_.emplace_back(std::move(key), detail::request_of(protocol::method::roots_list, Json::object()));
  return *this;
}

InputRequired& InputRequired::state(Json state) {
  state_ = std::move(state);
  return *this;
}

}  // namespace signet
