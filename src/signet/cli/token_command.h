// `signet token`: seal, open and look into request states.
#pragma once

#include <string>

#include <signet/token/claims.h>

namespace CLI {
class App;
}

namespace signet::cli {

// Adds seal, open and inspect. The token, or the state to seal, comes from standard input, so that it stays out of the
// shell's history and of lists of processes.
void add_token_command(CLI::App& signet);

// What a refusal means, in words for whoever holds the keys.
std::string explain(token::Refusal refusal);

}  // namespace signet::cli
