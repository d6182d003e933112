// The person at the terminal, or what stands in for one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <signet/cli/shown_text.h>

namespace signet::cli {

// SIGINT, SIGTERM, SIGQUIT and SIGHUP, as a stop token and a descriptor. Blocks them for this thread and all that are started
// later; make it first. One in a process. A second signal ends the process at once, with the terminal's echo as it was.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  // Readable once one has come.
  int descriptor() const { return wake_read_; }
  // 128 and its number once one has come; else 0.
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
  // How many columns a row of standard error has; many where it is no terminal.
  std::size_t columns() const;

  // Any thread.
  void say(std::string_view text);
  // To standard output: printable where that is a terminal, as it stands elsewhere. Any thread.
  void print(std::string_view text);
  // False once standard output could not be written.
  bool printed_all() const { return printed_all_.load(); }
  // Shows `prompt` and reads a line without its end. A secret is not echoed.
  LineEnd ask(std::string_view prompt, bool secret, std::string& line);
  // Until the descriptor is readable, the time is over, or a signal comes.
  void wait_for(int descriptor, std::chrono::milliseconds most) const;

  // The text in bold, dim, or red where there are colours.
  std::string bold(std::string_view text) const { return styled("1", text); }
  std::string dim(std::string_view text) const { return styled("2", text); }
  std::string red(std::string_view text) const { return styled("31", text); }

  // A progress bar in one line, where standard error is a terminal and no question stands there. Any thread.
  void progress(double done, std::optional<double> total, std::string_view message);

 private:
  std::string styled(std::string_view code, std::string_view text) const;
  void write_error(std::string_view text);
  void set_asking(bool asking);
  void show_prompt(std::string_view prompt);
  LineEnd read_line(std::string& line);

  const Interrupts& interrupts_;
  bool interactive_;
  bool shows_progress_;
  bool colours_;
  bool ascii_only_;  // the locale says that this terminal has another encoding than UTF-8
  std::atomic<bool> printed_all_{true};
  std::string input_;
  mutable std::mutex mutex_;  // of both streams: progress and traces come from another thread
  bool progress_shown_ = false;
  bool asking_ = false;
};

}  // namespace signet::cli
