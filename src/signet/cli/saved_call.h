// A call kept in a file between two processes.
#pragma once

#include <string>

#include <signet/cli/arguments.h>
#include <signet/client/continuation.h>

namespace signet::cli {

struct SavedCall {
  Target target;
  Continuation continuation;
  std::string server_name;  // as it says itself; empty where the file does not have it
};

// Writes the file whole or not at all, readable by its owner alone: it holds the server's state. Headers and tokens are
// not in it.
Result<void> save_call(const std::string& path, const SavedCall& call);
Result<SavedCall> load_call(const std::string& path);

// For all files that are read at the user's word; `-` is standard input.
Result<std::string> read_file(const std::string& path);
// Whole or not at all, mode 0600.
Result<void> write_private_file(const std::string& path, const std::string& text);

}  // namespace signet::cli
