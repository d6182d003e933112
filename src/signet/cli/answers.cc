#include <signet/cli/answers.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include <signet/cli/arguments.h>
#include <signet/cli/form_field.h>
#include <signet/cli/web_address.h>
#include <signet/json/text.h>
#include <signet/transport/child_environment.h>

namespace signet::cli {
namespace {

constexpr std::string_view decline_word = "/decline";
constexpr std::string_view cancel_word = "/cancel";

bool has_action(const Json& prepared) {
  const std::string* action = prepared.find_string("action");
  return action != nullptr && (*action == "accept" || *action == "decline" || *action == "cancel");
}

// The error is what does not fit, without the question.
Result<Answer> answer_of(const Question& question, const Json& prepared) {
  const std::string* action = has_action(prepared) ? prepared.find_string("action") : nullptr;
  if (action != nullptr && *action == "decline") return Answer::decline();
  if (action != nullptr && *action == "cancel") return Answer::cancel();
  if (question.kind == Question::Kind::url) {
    const Result<WebAddress> address = read_web_address(question.url());
    if (!address) return failure("signet does not open this address: " + address.error().message);
    return Answer::accept();
  }
  if (question.kind != Question::Kind::form) return Answer::result(prepared);
  const Json* inner = action != nullptr ? prepared.find("content") : nullptr;
  Json content = action == nullptr ? prepared : (inner != nullptr ? *inner : Json::object());
  const Json whole = with_defaults(question, Answer::accept(content));
  const std::optional<std::string> problem = content_problem(question.schema(), *whole.find("content"));
  if (problem) return failure(*problem);
  return Answer::accept(std::move(content));
}

// A value of the command line: as if it had been typed, only that `note=` is the empty text.
Result<std::optional<Json>> read_given(const FormField& field, const std::string& value) {
  if (value.empty() && field.kind == FormField::Kind::text) return std::optional<Json>(Json(value));
  return read_field(field, value);
}

constexpr std::size_t label_columns_max = 40;  // of what stands in front of the cursor
constexpr std::size_t options_shown_max = 300;
constexpr auto opener_max = std::chrono::seconds(5);  // some openers stay as long as the browser

// A text of the server under what we say: behind a bar, which no line of ours has.
std::string barred(const Terminal& terminal, std::string_view text) {
  return framed(text, Frame("  | ", "  | ", terminal.columns()));
}

// Whether the opener took the address: it ended well, or goes on.
bool ends_well(pid_t pid, const Terminal& terminal) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return false;
  terminal.wait_for(process, opener_max);
  ::close(process);
  int status = 0;
  const pid_t ended = ::waitpid(pid, &status, WNOHANG);
  return ended == 0 || (ended == pid && status == 0);
}

// Hands the address to the desktop's own opener; no shell sees it, and it sees no secret of ours.
bool open_in_browser(const std::string& url, const Terminal& terminal) {
  std::string program = "xdg-open";
  std::string address = url;
  std::array<char*, 3> arguments{program.data(), address.data(), nullptr};
  std::vector<std::string> environment = transport::child_environment({});
  std::vector<char*> variables = transport::pointers_to(environment);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  for (const int fd : {0, 1, 2}) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  }
  // Ctrl-C is for us, and what we block a browser must not.
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int failed =
      ::posix_spawnp(&pid, program.c_str(), &actions, &attributes, arguments.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return failed == 0 && ends_well(pid, terminal);
}

void show_heading(Terminal& terminal, const Question& question) {
  std::string name = one_line(question.server_name, 60);
  std::replace(name.begin(), name.end(), '"', '\'');
  const std::string who = name.empty() ? "The server" : "The server \"" + name + "\"";
  terminal.say("\n" + terminal.bold(who + " asks:") + "\n" + barred(terminal, question.message()));
}

void show_options(Terminal& terminal, const FormField& field) {
  const std::size_t shown = std::min(field.options.size(), options_shown_max);
  for (std::size_t i = 0; i < shown; ++i) {
    const FormField::Choice& option = field.options[i];
    const std::string value = option.title != option.value ? " (" + one_line(option.value) + ")" : "";
    terminal.say(framed(one_line(option.title) + value,
                        Frame("    " + std::to_string(i + 1) + ") ", "      | ", terminal.columns())));
  }
  if (shown < field.options.size())
    terminal.say("    (" + std::to_string(field.options.size() - shown) +
                 " more, by their number or name)\n");
}

// What the field is called in front of the cursor: no longer than that the rest of the row is ours.
std::string short_label(const FormField& field) {
  if (columns_of(one_line(field.label)) <= label_columns_max) return one_line(field.label);
  return one_line(field.name, label_columns_max / 2);
}

std::string prompt_of(const Terminal& terminal, const FormField& field) {
  std::string hint = expectation(field);
  const std::string fallback = fallback_text(field);
  if (!fallback.empty() && !field.secret)
    hint += (hint.empty() ? "" : "; ") + ("Enter for " + one_line(fallback, label_columns_max));
  if (fallback.empty() && !field.required)
    hint += (hint.empty() ? "" : "; ") + std::string("may be left empty");
  return "  " + short_label(field) + (hint.empty() ? "" : " " + terminal.dim("[" + hint + "]")) + ": ";
}

enum class FieldEnd { value, decline, cancel, interrupted, nobody };

FieldEnd ask_field(Terminal& terminal, const FormField& field, std::optional<Json>& value) {
  if (short_label(field) != one_line(field.label))
    terminal.say(barred(terminal, one_line(field.label, 1000)));
  if (!field.description.empty()) terminal.say(terminal.dim(barred(terminal, field.description)));
  show_options(terminal, field);
  for (;;) {
    std::string line;
    const LineEnd end = terminal.ask(prompt_of(terminal, field), field.secret, line);
    if (end == LineEnd::interrupted) return FieldEnd::interrupted;
    if (end == LineEnd::end_of_input) return FieldEnd::nobody;
    if (line == decline_word) return FieldEnd::decline;
    if (line == cancel_word) return FieldEnd::cancel;
    if (line.starts_with("//")) line.erase(0, 1);
    Result<std::optional<Json>> read = read_field(field, line);
    if (read) {
      value = std::move(*read);
      return FieldEnd::value;
    }
    terminal.say("  " + terminal.red(one_line(read.error().message)) + "\n");
  }
}

Outcome ask_form(Terminal& terminal, const Question& question, std::optional<Answer>& answer) {
  std::vector<FormField> fields = form_fields(question.schema());
  Json content = Json::object();
  if (fields.empty()) {
    // Nothing to fill in: a plain confirmation.
    FormField confirm;
    confirm.name = confirm.label = "Go on?";
    confirm.kind = FormField::Kind::boolean;
    confirm.required = true;
    std::optional<Json> value;
    const FieldEnd end = ask_field(terminal, confirm, value);
    if (end == FieldEnd::interrupted) return Outcome::interrupted;
    if (end == FieldEnd::nobody) return Outcome::nobody;
    const bool yes = end == FieldEnd::value && value == Json(true);
    answer = yes                       ? Answer::accept(std::move(content))
             : end == FieldEnd::cancel ? Answer::cancel()
                                       : Answer::decline();
    return Outcome::answered;
  }
  if (terminal.interactive())
    terminal.say(terminal.dim("  (/decline to refuse, /cancel to dismiss, Ctrl-C to leave)\n"));
  for (const FormField& field : fields) {
    std::optional<Json> value;
    switch (ask_field(terminal, field, value)) {
      case FieldEnd::interrupted:
        return Outcome::interrupted;
      case FieldEnd::nobody:
        return Outcome::nobody;
      case FieldEnd::decline:
        answer = Answer::decline();
        return Outcome::answered;
      case FieldEnd::cancel:
        answer = Answer::cancel();
        return Outcome::answered;
      case FieldEnd::value:
        break;
    }
    if (value) content.set(field.name, std::move(*value));
  }
  answer = Answer::accept(std::move(content));
  return Outcome::answered;
}

// The address as it would be opened, and what is to be known of it; nothing where it is none to open.
std::optional<std::string> show_address(Terminal& terminal, const Question& question) {
  const Result<WebAddress> address = read_web_address(question.url());
  if (!address) {
    terminal.say("  It wants you to visit an address that signet does not open: " +
                 terminal.red(address.error().message) + ".\n" + barred(terminal, question.url()));
    return std::nullopt;
  }
  terminal.say("  It wants you to visit the host " + terminal.bold(one_line(address->host, 300)) + ":\n  " +
               address->text + "\n");
  for (const std::string& warning : address->warnings) terminal.say("  " + terminal.red(warning) + "\n");
  return address->text;
}

// The server may look at once whether anything has happened there, so it hears of the visit behind it.
Outcome ask_whether_done(Terminal& terminal, std::optional<Answer>& answer) {
  for (;;) {
    std::string line;
    const LineEnd end =
        terminal.ask("signet: Press Enter when you are done there, or type cancel: ", false, line);
    if (end == LineEnd::interrupted) return Outcome::interrupted;
    if (end == LineEnd::end_of_input) return Outcome::nobody;
    if (line.empty()) answer = Answer::accept();
    if (line == "c" || line == "cancel" || line == cancel_word) answer = Answer::cancel();
    if (line == "d" || line == "decline" || line == decline_word) answer = Answer::decline();
    if (answer) return Outcome::answered;
  }
}

Outcome ask_url(Terminal& terminal, const Question& question, std::optional<Answer>& answer) {
  const std::optional<std::string> address = show_address(terminal, question);
  for (;;) {
    std::string line;
    const LineEnd end = terminal.ask(
        address ? "signet: Open it? [o]pen in the browser, [v]isited by myself, [d]ecline, [c]ancel: "
                : "signet: [v]isited by myself, [d]ecline, [c]ancel: ",
        false, line);
    if (end == LineEnd::interrupted) return Outcome::interrupted;
    if (end == LineEnd::end_of_input) return Outcome::nobody;
    if (line == "d" || line == "n" || line == decline_word) answer = Answer::decline();
    if (line == "c" || line == cancel_word) answer = Answer::cancel();
    if (line == "v") answer = Answer::accept();
    if (address && (line == "o" || line == "y")) {
      if (!open_in_browser(*address, terminal))
        terminal.say("  It could not be opened here; please visit it yourself.\n");
      return ask_whether_done(terminal, answer);
    }
    if (answer) return Outcome::answered;
  }
}

Outcome ask_json(Terminal& terminal, const Question& question, std::optional<Answer>& answer) {
  const bool sampling = question.kind == Question::Kind::sampling;
  terminal.say(sampling ? "  It wants a language model's answer to:\n" +
                              barred(terminal, json::write(question.params))
                        : "  It wants the list of folders you work in.\n");
  for (;;) {
    std::string line;
    const LineEnd end = terminal.ask(
        sampling ? "  Answer as text: " : "  Folders as file:// addresses, separated by blanks: ", false,
        line);
    if (end == LineEnd::interrupted) return Outcome::interrupted;
    if (end == LineEnd::end_of_input) return Outcome::nobody;
    Json result = Json::object();
    if (sampling) {
      result.set("role", "assistant")
          .set("model", "a person")
          .set("content", Json::object({{"type", "text"}, {"text", line}}));
    } else {
      JsonArray roots;
      for (std::size_t at = 0; at < line.size();) {
        const std::size_t end_of_word = std::min(line.find(' ', at), line.size());
        if (end_of_word > at) roots.push_back(Json::object({{"uri", line.substr(at, end_of_word - at)}}));
        at = end_of_word + 1;
      }
      result.set("roots", std::move(roots));
    }
    answer = Answer::result(std::move(result));
    return Outcome::answered;
  }
}

}  // namespace

Result<void> PreparedAnswers::add_file(std::string_view text) {
  Result<Json, json::ParseError> parsed = json::parse(text);
  if (!parsed) return failure("the answers are no JSON: " + describe_json_error(parsed.error(), text));
  if (!parsed->is_object()) return failure("the answers are no JSON object");
  for (auto& [key, value] : *parsed->as_object()) file_.set(key, std::move(value));
  return {};
}

Result<void> PreparedAnswers::add_field(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) return failure("--answer needs field=value");
  fields_.insert_or_assign(std::string(assignment.substr(0, equals)),
                           std::string(assignment.substr(equals + 1)));
  return {};
}

Result<std::optional<Json>> PreparedAnswers::prepared_for(const Question& question) {
  const Json* found = file_.find(question.key);
  if (found == nullptr) return field_by_field(question);
  if (!found->is_array()) {
    // A text or a number under a question's key is the value of the field of that name.
    if (!found->is_object()) return field_by_field(question);
    return std::optional<Json>(*found);
  }
  std::size_t& used = used_[question.key];
  if (used >= found->as_array()->size()) return std::optional<Json>();
  return std::optional<Json>((*found->as_array())[used++]);
}

// What is prepared for the single fields; with --yes also true for questions of yes and no.
Result<std::optional<Json>> PreparedAnswers::field_by_field(const Question& question) {
  if (question.kind == Question::Kind::url && yes_) return std::optional<Json>(Json::object());
  if (question.kind != Question::Kind::form) return std::optional<Json>();
  Json content = Json::object();
  bool found_any = yes_;
  const std::vector<FormField> fields = form_fields(question.schema());
  for (const FormField& field : fields) asked_.insert(field.name);
  for (const FormField& field : fields) {
    const auto given = fields_.find(field.name);
    const Json* in_file = file_.find(field.name);
    if (given != fields_.end()) {
      found_any = true;
      Result<std::optional<Json>> value = read_given(field, given->second);
      if (!value) return failure(field.name + ": " + value.error().message);
      if (*value) content.set(field.name, std::move(**value));
    } else if (in_file != nullptr) {
      content.set(field.name, *in_file);
      found_any = true;
    } else if (yes_ && field.required && field.fallback.is_null() && field.kind == FormField::Kind::boolean) {
      content.set(field.name, true);
    }
  }
  if (!found_any) return std::optional<Json>();
  return std::optional<Json>(std::move(content));
}

std::vector<std::string> PreparedAnswers::untaken() const {
  std::vector<std::string> sentences;
  for (const auto& [name, value] : fields_) {
    if (asked_.contains(name)) continue;
    const std::optional<std::string> meant = nearest_name(name, {asked_.begin(), asked_.end()});
    sentences.push_back("nothing asked for " + name + ", which --answer gives" +
                        (meant ? "; did you mean " + *meant + "?" : ""));
  }
  return sentences;
}

// Whether nothing was prepared for this question but --yes.
bool PreparedAnswers::rests_on_yes(const Question& question) const {
  if (!yes_ || file_.find(question.key) != nullptr) return false;
  const std::vector<FormField> fields = form_fields(question.schema());
  return std::none_of(fields.begin(), fields.end(), [this](const FormField& field) {
    return fields_.contains(field.name) || file_.find(field.name) != nullptr;
  });
}

Result<std::optional<Answer>> PreparedAnswers::find(const Question& question) {
  const Result<std::optional<Json>> prepared = prepared_for(question);
  if (prepared && !*prepared) return std::optional<Answer>();
  Result<Answer> answer =
      prepared ? answer_of(question, **prepared) : Result<Answer>(failure(prepared.error()));
  if (answer) return std::optional<Answer>(std::move(*answer));
  const std::string key = one_line(question.key);
  if (question.kind == Question::Kind::url) return failure(key + ": " + answer.error().message);
  if (rests_on_yes(question)) {
    return failure("--yes does not answer " + key + ": " + answer.error().message +
                   "; give it with --answer field=value");
  }
  return failure("the prepared answer to " + key + " does not fit: " + answer.error().message);
}

void tell_unasked(Terminal& terminal, const Question& question, const Answer& answer) {
  const std::string* action = answer.json().find_string("action");
  if (question.kind != Question::Kind::url || action == nullptr || *action != "accept") return;
  show_heading(terminal, question);
  show_address(terminal, question);
  terminal.say(
      "signet: accepted as you said beforehand; it was not opened here, and waits for you to visit it.\n");
}

Outcome interview(Terminal& terminal, const Question& question, std::optional<Answer>& answer) {
  show_heading(terminal, question);
  switch (question.kind) {
    case Question::Kind::form:
      return ask_form(terminal, question, answer);
    case Question::Kind::url:
      return ask_url(terminal, question, answer);
    case Question::Kind::sampling:
    case Question::Kind::roots:
      break;
  }
  return ask_json(terminal, question, answer);
}

}  // namespace signet::cli
