// The person at the terminal, or what stands in for one.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace signet::cli {

// Text of a server, made harmless to show: control characters, C1 controls, bidirectional overrides and bytes that are no
// UTF-8 become visible marks; line ends and tabs stay.
std::string printable(std::string_view text);

// The same on one line and at most `bytes_max` long, for names.
std::string one_line(std::string_view text, std::size_t bytes_max = 200);

// SIGINT and SIGTERM, as a stop token and a descriptor. Blocks both signals for this thread and all that are started later;
// make it first. One in a process.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  // Readable once one has come.
  int descriptor() const { return wake_read_; }
  // 130 or 143 once one has come; else 0.
  int exit_code() const { return code_.load(); }

 private:
  void watch();

  std::stop_source source_;
  std::atomic<int> code_{0};
  int signals_ = -1;
  int wake_read_ = -1;
  int wake_write_ = -1;
  int end_read_ = -1;
  int end_write_ = -1;
  std::thread thread_;
};

// How reading a line ended.
enum class LineEnd { line, end_of_input, interrupted };

// Asks on standard error, reads from standard input: standard output belongs to the result.
class Terminal {
 public:
  explicit Terminal(const Interrupts& interrupts);

  // Standard input and standard error are a terminal.
  bool interactive() const { return interactive_; }
  bool colours() const { return colours_; }

  // Any thread.
  void say(std::string_view text);
  // Shows `prompt` and reads a line without its end. A secret is not echoed.
  LineEnd ask(std::string_view prompt, bool secret, std::string& line);

  // The text in bold, dim, or red where there are colours.
  std::string bold(std::string_view text) const { return styled("1", text); }
  std::string dim(std::string_view text) const { return styled("2", text); }
  std::string red(std::string_view text) const { return styled("31", text); }

  // A progress bar in one line, where standard error is a terminal and no question stands there. Any thread.
  void progress(double done, std::optional<double> total, std::string_view message);

 private:
  std::string styled(std::string_view code, std::string_view text) const;
  void set_asking(bool asking);
  LineEnd read_line(std::string& line);

  const Interrupts& interrupts_;
  bool interactive_;
  bool shows_progress_;
  bool colours_;
  std::string input_;
  mutable std::mutex mutex_;  // of standard error: progress comes from another thread
  bool progress_shown_ = false;
  bool asking_ = false;
};

}  // namespace signet::cli
