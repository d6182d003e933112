// token_vectors DIR_OR_FILE...: tries the vectors of other systems' tokens. Exit status 0 where all pass, 1 where some
// fail, 2 where something is no vector or no vector file.
#include <cstdio>
#include <string>

#include <signet/token/profiles/vectors.h>

namespace {

void print(const char* label, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s %s\n", label, line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const bool help = argc == 2 && std::string(argv[1]) == "--help";
  if (argc < 2 || help) {
    std::fputs("usage: token_vectors DIR_OR_FILE...\n", help ? stdout : stderr);
    return help ? 0 : 2;
  }
  signet::token::profiles::VectorReport report;
  for (int i = 1; i < argc; ++i) signet::token::profiles::try_vector_files(argv[i], report);
  print("malformed", report.malformed);
  print("reason", report.other_reasons);
  print("stricter", report.stricter);
  print("FAILED", report.differences);
  if (!report.malformed.empty()) std::printf("%zu malformed\n", report.malformed.size());
  if (!report.stricter.empty()) std::printf("%zu stricter (doc/profiles.md)\n", report.stricter.size());
  std::printf("%zu passed, %zu failed\n", report.passed, report.failed);
  if (!report.malformed.empty()) return 2;
  return report.failed == 0 ? 0 : 1;
}
