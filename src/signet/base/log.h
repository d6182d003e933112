// What the operator is told: log lines and counts. Never state, tokens, keys, answers or arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace signet {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

std::string_view to_string(LogLevel level);

// One `name=value` of a log line.
using LogField = std::pair<std::string_view, std::string>;

// Receives whole lines. Called from any thread, must not block for long and must not throw. The views live
// until it returns. An empty function keeps silent.
using LogSink =
    std::function<void(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)>;

// Writes `2026-11-29T12:00:00.000Z level event name=value ...` to standard error, one write per line,
// control characters and quotes escaped, so that no value can forge a line. Lines below `least` are dropped.
LogSink log_to_stderr(LogLevel least = LogLevel::info);

// Counts that an exporter shows. `add` is called from any thread and must be cheap. `labels` is in the
// exposition syntax of Prometheus without braces (`reason="expired",method="tools/call"`), from closed sets
// only, so that the number of series is bounded.
class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  virtual ~Metrics() = default;
  virtual void add(std::string_view name, std::string_view labels, double by = 1) = 0;
};

// Counts nothing. Lives as long as the process.
Metrics& no_metrics();

}  // namespace signet
