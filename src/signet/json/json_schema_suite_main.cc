// json_schema_suite DIR: runs the official JSON Schema test suite (its folders draft2020-12 and remotes) in place.
// Prints each failure, then the optional tests' results by file, then those of the mandatory ones. Exit code 0 if all
// mandatory tests passed.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <signet/json/schema_suite.h>

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2 || !fs::is_directory(fs::path(argv[1]) / "draft2020-12")) {
    std::cerr << "usage: json_schema_suite DIR, where DIR has the folders draft2020-12 and remotes\n";
    return 2;
  }
  const fs::path folder = argv[1];
  std::vector<fs::path> optional;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "draft2020-12" / "optional")) {
    if (entry.path().extension() == ".json") optional.push_back(entry.path());
  }
  std::sort(optional.begin(), optional.end());
  for (const fs::path& file : optional) {
    const signet::json::SuiteReport report = signet::json::run_suite_file(folder, file);
    std::cout << "optional " << file.lexically_relative(folder / "draft2020-12" / "optional").generic_string()
              << ": " << report.passed << " passed, " << report.failed << " failed\n";
  }
  const signet::json::SuiteReport report = signet::json::run_suite(folder);
  for (const std::string& failure : report.failures) std::cout << "FAILED " << failure << "\n";
  std::cout << report.passed << " passed, " << report.failed << " failed" << std::endl;
  return report.failed == 0 && report.passed > 0 ? 0 : 1;
}
