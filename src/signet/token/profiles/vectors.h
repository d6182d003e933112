// Vector files of the formats, read and tried: what token_vectors and the tests run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace signet::token::profiles {

struct VectorReport {
  std::size_t passed = 0;
  std::size_t failed = 0;                // the malformed ones too
  std::vector<std::string> differences;  // one line for each that failed: profile, id, what differs
  // Where the original accepts what we refuse, on purpose: one line each, with the reason. Not among the failed.
  std::vector<std::string> stricter;
  // Refused as expected, but for a reason the original words differently.
  std::vector<std::string> other_reasons;
  // Files or vectors that are not in the form of vector files: one line each. Each counts as one that failed.
  std::vector<std::string> malformed;
};

// Tries every vector of a JSON text in the form of `testdata/*.json`. `name` is for the messages.
void try_vectors(const std::string& name, const std::string& json, VectorReport& report);

// Tries a file, or all files *.json of a directory, in the order of their names. Never waits: what is no regular file (a
// pipe, a device) is not read, and no more than 64 MiB of one.
void try_vector_files(const std::string& path, VectorReport& report);

}  // namespace signet::token::profiles
