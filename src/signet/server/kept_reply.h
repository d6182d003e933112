// The reply of a state that is redeemed once, as it lies in a redemption store.
#pragma once

#include <optional>
#include <string_view>

#include <signet/base/bytes.h>
#include <signet/base/digest.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/token/claims.h>
#include <signet/token/redemption.h>

namespace signet::detail {

// What makes a retry the same one: who asks for what, with which answers. A state that is bound to less (token/foreign.h,
// `accept_unbound`) may come from anybody, for anything; its kept reply goes to no other request than the first.
Digest digest_of_retry(const token::Binding& binding, const Json::Object& responses);

// The bytes that are to be sealed: who reads or writes the store neither learns a reply nor puts one in another's place.
Bytes encode_reply(const token::Claim& claim, const Reply& reply);
// Nothing where the bytes are no reply, or that of another claim.
std::optional<Reply> decode_reply(const token::Claim& claim, ByteView bytes);

}  // namespace signet::detail
