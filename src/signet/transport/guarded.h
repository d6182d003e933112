// What the program gave us to call: it should not throw, and may. Internal.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <signet/base/log.h>

namespace signet::transport {

// A sink from which nothing is thrown: a line that it throws at is lost. Empty stays empty.
inline LogSink guarded(LogSink sink) {
  if (!sink) return sink;
  return [sink = std::move(sink)](LogLevel level, std::string_view event,
                                  std::initializer_list<LogField> fields) {
    try {
      sink(level, event, fields);
    } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody left to tell
    }
  };
}

// The options as they are used: with a log that does not throw.
template <typename Options>
Options with_guarded_log(Options options) {
  options.log = guarded(std::move(options.log));
  return options;
}

// Says which function of the program threw, and nothing of what: that could hold a token.
inline void log_thrown(const LogSink& log, std::string_view callback) {
  if (log) log(LogLevel::error, "callback_threw", {{"callback", std::string(callback)}});
}

// Calls `function`. False if it threw: then the log says that `callback` did.
template <typename F>
bool call_guarded(const LogSink& log, std::string_view callback, const F& function) {
  try {
    function();
    return true;
  } catch (...) {
    log_thrown(log, callback);
    return false;
  }
}

}  // namespace signet::transport
