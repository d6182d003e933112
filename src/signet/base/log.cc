#include <signet/base/log.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include <signet/base/clock.h>
#include <signet/base/glyph.h>

namespace signet {
namespace {

bool is_bare(std::string_view value) {
  if (value.empty() || value.find_first_of(" \"\\=") != std::string_view::npos) return false;
  for (std::string_view rest = value; !rest.empty();) {
    const Glyph glyph = first_glyph(rest);
    if (!glyph.harmless) return false;
    rest.remove_prefix(glyph.bytes);
  }
  return true;
}

// A value that needs no quotes stays bare; everything else is quoted, with what could play tricks escaped byte by byte.
void append_value(std::string& line, std::string_view value) {
  if (is_bare(value)) {
    line.append(value);
    return;
  }
  line.push_back('"');
  while (!value.empty()) {
    const Glyph glyph = first_glyph(value);
    if (value.front() == '"' || value.front() == '\\') line.push_back('\\');
    if (glyph.harmless) {
      line.append(value.substr(0, glyph.bytes));
    } else {
      for (const char c : value.substr(0, glyph.bytes)) {
        char escaped[5];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
        line.append(escaped);
      }
    }
    value.remove_prefix(glyph.bytes);
  }
  line.push_back('"');
}

class NoMetrics final : public Metrics {
 public:
  void add(std::string_view, std::string_view, double) override {}
};

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

LogSink log_to_stderr(LogLevel least) {
  return [least](LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
    if (level < least) return;
    const auto now = std::chrono::system_clock::now();
    std::string line = iso_8601(std::chrono::floor<std::chrono::milliseconds>(now));
    line.push_back(' ');
    line.append(to_string(level)).push_back(' ');
    line.append(event);
    for (const LogField& field : fields) {
      line.push_back(' ');
      line.append(field.first).push_back('=');
      append_value(line, field.second);
    }
    line.push_back('\n');
    // One write, so that lines of several threads do not mix; there is nobody to tell if it fails.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  };
}

Metrics& no_metrics() {
  static NoMetrics none;
  return none;
}

}  // namespace signet
