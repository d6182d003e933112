// The wire form of questions, the capabilities they need, and when an answer fits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/json/value.h>
#include <signet/protocol/capabilities.h>
#include <signet/server/question.h>

namespace signet::detail {

// {"method", "params"}
Json request_of(std::string_view method, Json params);
Json form_params(std::string message, Json requested_schema);
Json url_params(std::string message, std::string url);

std::string_view method_of(QuestionKind kind);
// The kind of a request that request_of made.
QuestionKind kind_of(const Json& request);

// Why the specification does not allow to ask this, in a sentence for the operator: the URL of a question is an absolute
// one (S84), what is sampled is a conversation (B26). Nothing where it may be asked.
std::optional<std::string> question_fault(QuestionKind kind, const Json& params);

// What the client must have declared to be asked this (S53, S83, S90).
std::vector<protocol::Capability> needed_capabilities(QuestionKind kind, const Json& params);

// Why the answer does not fit a question of that kind, in a sentence for the person that repeats nothing of the answer;
// nothing where it fits. `form` is the compiled schema of a form.
std::optional<std::string> check_answer(QuestionKind kind, const FormSchema* form, const Json& answer);

// The same for a question of which only the request is left (request_of).
std::optional<std::string> check_against(const Json& request, const Json& answer);

// The question with the reason why the last answer did not count, where the kind has a text to show it in.
Json with_reason(Json params, const std::string& reason);

}  // namespace signet::detail
