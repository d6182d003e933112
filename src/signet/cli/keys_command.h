// `signet keys`: rings of keys in files.
#pragma once

namespace CLI {
class App;
}

namespace signet::cli {

// Adds generate, list, rotate, retire and check. Secrets are written to the ring file alone, or to standard output
// where the file is `-`, for secret stores that take it from there.
void add_keys_command(CLI::App& signet);

}  // namespace signet::cli
