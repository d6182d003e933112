// Where the source tree is, for tests that read it. Not compiled in, so that what is compiled serves any checkout.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace signet::testing {

// SIGNET_SOURCE_DIR where it is set, as ctest does; else the tree in which the running program was built.
inline std::string source_dir() {
  if (const char* given = std::getenv("SIGNET_SOURCE_DIR")) return given;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe");
  do {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / "CMakePresets.json")) return folder;
  } while (folder.has_relative_path());
  return ".";
}

}  // namespace signet::testing
