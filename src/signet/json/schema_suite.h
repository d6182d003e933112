// The official JSON Schema test suite, run in place: for json_schema_suite and the tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <signet/json/schema.h>
#include <signet/json/text.h>

namespace signet::json {

struct SuiteReport {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::vector<std::string> failures;  // file: group: test
};

namespace suite {

inline std::optional<Json> read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  Result<Json, ParseError> json = parse(text);
  if (!json) return std::nullopt;
  return std::move(json).value();
}

inline std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder, bool recursive) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(folder)) return files;
  const auto add = [&files](const std::filesystem::directory_entry& entry) {
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
  };
  if (recursive) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) add(entry);
  } else {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) add(entry);
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline SchemaOptions options_for(const std::filesystem::path& folder) {
  SchemaOptions options;
  const std::filesystem::path remotes = folder / "remotes";
  for (const std::filesystem::path& file : json_files(remotes, true)) {
    std::optional<Json> document = read_file(file);
    const std::string uri = "http://localhost:1234/" + file.lexically_relative(remotes).generic_string();
    if (document) options.documents.emplace(uri, std::move(*document));
  }
  return options;
}

inline void run_group(const Json& group, const SchemaOptions& options, const std::string& file,
                      SuiteReport& report) {
  const Result<Schema> schema = Schema::compile(*group.find("schema"), options);
  for (const Json& test : *group.find("tests")->as_array()) {
    const bool expected = test.find("valid")->as_boolean().value_or(false);
    const bool agrees = schema.ok() && schema->validate(*test.find("data")).ok() == expected;
    ++(agrees ? report.passed : report.failed);
    if (agrees) continue;
    std::string failure =
        file + ": " + *group.find_string("description") + ": " + *test.find_string("description");
    if (!schema) failure += " (" + schema.error().message + ")";
    report.failures.push_back(std::move(failure));
  }
}

inline void run_file(const std::filesystem::path& file, const SchemaOptions& options, SuiteReport& report) {
  const std::optional<Json> groups = read_file(file);
  if (!groups || !groups->is_array()) {
    ++report.failed;
    report.failures.push_back(file.filename().string() + ": not JSON");
    return;
  }
  for (const Json& group : *groups->as_array()) run_group(group, options, file.filename().string(), report);
}

}  // namespace suite

// Of <folder>/draft2020-12 the mandatory tests, with <folder>/remotes at http://localhost:1234/.
inline SuiteReport run_suite(const std::filesystem::path& folder) {
  SuiteReport report;
  const SchemaOptions options = suite::options_for(folder);
  for (const std::filesystem::path& file : suite::json_files(folder / "draft2020-12", false))
    suite::run_file(file, options, report);
  return report;
}

// Of one file below it. Those of optional/format assert formats.
inline SuiteReport run_suite_file(const std::filesystem::path& folder, const std::filesystem::path& file) {
  SuiteReport report;
  SchemaOptions options = suite::options_for(folder);
  options.assert_formats = file.parent_path().filename() == "format";
  suite::run_file(file, options, report);
  return report;
}

}  // namespace signet::json
