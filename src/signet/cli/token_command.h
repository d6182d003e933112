// `signet token`: seal, open and look into request states.
#pragma once

#include <string>

#include <signet/base/bytes.h>
#include <signet/token/claims.h>

namespace CLI {
class App;
}

namespace signet::cli {

// Adds seal, open and inspect. The token, or the state to seal, comes from standard input, so that it stays out of the
// shell's history and of lists of processes.
void add_token_command(CLI::App& signet);

// A line of `inspect`, on standard output: a name, and what is to be said of it.
void print_line(const std::string& name, const std::string& value);
// A state as `inspect` shows it: how large it is, and only where that is wanted what it holds, in quotes, so that it cannot
// play with the terminal.
std::string shown_state(ByteView state, bool wanted);

// What a refusal means, in words for whoever holds the keys.
std::string explain(token::Refusal refusal);

}  // namespace signet::cli
