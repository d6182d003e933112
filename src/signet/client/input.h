// What a result is: complete, asking for input, or neither. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/client/types.h>

namespace signet::client {

// The input a result asks for (mrtr, InputRequiredResult).
struct InputNeeded {
  std::optional<std::string> state;
  Json requests;  // object, or null where there are none
};

// A result of the 2026-07-28 revision: complete (nothing), or the input it needs. An absent resultType is complete (C4),
// an unknown one an error (C3); so is input asked for by another method than tools/call, prompts/get and
// resources/read, or without anything to answer or echo.
Called<std::optional<InputNeeded>> read_result(std::string_view method, const Json& result);

// One request of the server, by its method; an error where it is none that a client answers, or malformed.
Called<Question> read_question(std::string key, std::string_view method, const Json& params);

// The questions of an inputRequests object, in its order; the error names the key.
Called<std::vector<Question>> read_questions(const Json& requests);

// An answer to roots/list: every root a file:// address without steps upwards, blanks or control characters (C51, C52).
bool are_roots(const Json& answer);

// The server's text for a sentence of ours: at most 80 bytes, control characters replaced.
std::string quoted(std::string_view text);

}  // namespace signet::client
