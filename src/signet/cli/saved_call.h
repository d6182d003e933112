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

// The command line that makes this call anew: its method, target and arguments, without the options it was given.
std::string restart_line(const SavedCall& call);

// What becomes of a file that is there already.
enum class Existing : bool { refused, replaced };

// Writes the file whole or not at all, readable by its owner alone: it holds the server's state. Headers, tokens and
// variables of --env are not in it.
Result<void> save_call(const std::string& path, const SavedCall& call, Existing existing);
// The server is `instead`, where that names one, else the file's. A file that others could have written, and standard input,
// may name an address and no command: it would be run.
Result<SavedCall> load_call(const std::string& path, const Target& instead = Target());

// For all files that are read at the user's word; `-` is standard input.
Result<std::string> read_file(const std::string& path);
// Whole or not at all, mode 0600.
Result<void> write_private_file(const std::string& path, const std::string& text, Existing existing);
// Whether something of that name is there: to be told before a call, not behind it.
bool is_there(const std::string& path);
bool is_same_file(const std::string& path, const std::string& other);

}  // namespace signet::cli
