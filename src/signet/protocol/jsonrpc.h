// JSON-RPC 2.0 messages: from parsed JSON to typed values, and back to one line of text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <signet/json/text.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>

namespace signet::protocol {

// What a peer answered. `id` is null where the peer could not tell which request it answers.
struct Response {
  Response(Json response_id, Reply answer) : id(std::move(response_id)), reply(std::move(answer)) {}
  Json id;
  Reply reply;
};

// A text or value that is no message, with the answer it deserves (stage `envelope`). `id` is the id of the
// refused request where it could be read; without one, the error is sent without `id`, never with null.
// `reply_expected` is false for what looks like a notification or a response: those are never answered
// on a pipe, and on HTTP by status.
struct InvalidMessage {
  InvalidMessage(Fault refusal, std::optional<Json> request_id, bool answer = true)
      : fault(std::move(refusal)), id(std::move(request_id)), reply_expected(answer) {}
  Fault fault;
  std::optional<Json> id;
  bool reply_expected;
};

using Message = std::variant<Request, Notification, Response, InvalidMessage>;

// Of an id that is a number, sign included.
inline constexpr std::size_t id_digits_max = 128;

// Strings, integers in digits, and other spellings of integers of 64 bits (basic, "Requests"). A string and an integer in
// digits are echoed as they came; 1.0 and 1e2 are the integers 1 and 100, and are echoed as these; -0.0 is none.
bool is_request_id(const Json& id);

// A text under which equal ids, and only those, are filed: 1 and 1.0 are equal, 1 and "1" are not.
std::string id_key(const Json& id);

// Takes the value apart (B2, C1, B6): `jsonrpc` exactly "2.0"; ids strings or integers; `params` an object or
// absent; arrays (batches) are invalid. Unknown members are ignored. Never throws.
Message classify(Json value);

// Parses, then classifies. What does not parse is -32700.
Message read_message(std::string_view text, const json::Limits& limits = json::Limits());

// Batches (JSON-RPC 2.0, section 6) belong to revision 2025-03-26 alone; with any other, `read_message` refuses them.
bool looks_like_batch(std::string_view text);

// The messages of a batch, each with the refusal it deserves by itself; or why there is no batch at all: not JSON,
// empty, or more than `messages_max` messages.
Result<std::vector<Message>, Fault> read_batch(std::string_view text, std::size_t messages_max,
                                               const json::Limits& limits = json::Limits());

// What batches are answered with: these texts, each a message, as an array.
std::string write_batch(const std::vector<std::string>& messages);

// Compact JSON on one line, without a line end.
std::string write_request(const Json& id, std::string_view method, const Json& params);
std::string write_notification(const Notification& notification);
std::string write_reply(const Json& id, const Reply& reply);
// `id` absent: the request's id could not be read, and the error has none (S1).
std::string write_error(const std::optional<Json>& id, const Fault& fault);

// The error object itself: code, message, and data unless null.
Json to_json(const Fault& fault);

}  // namespace signet::protocol
