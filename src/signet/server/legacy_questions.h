// Questions as the handshake revisions know them, and the way back.
#pragma once

#include <string_view>

#include <signet/base/result.h>
#include <signet/json/value.h>

namespace signet::detail {

// The capabilities that count of those a client declared in `initialize`: what came with 2025-11-25 (questions by URL,
// sampling with tools) cannot be asked of a session of an earlier revision.
Json capabilities_of_revision(Json declared, std::string_view version);

// The params of `elicitation/create` with a form, for a session of that revision. Before 2025-11-25 there are no modes,
// one of several titled choices is said by `enumNames`, and several of them are one yes-or-no field each, named
// `field[choice]`. The failure is a sentence for the operator that names the field that revision has no form for.
Result<Json> form_for_revision(Json params, std::string_view version);

// The answer to what `form_for_revision` made of `form`, as an answer to `form` itself. What does not fit is left to be
// found by the form's own check.
Json answer_from_revision(const Json& form, Json answer, std::string_view version);

}  // namespace signet::detail
