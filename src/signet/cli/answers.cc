#include <signet/cli/answers.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <signet/cli/form_field.h>
#include <signet/json/text.h>

extern char** environ;

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
  if (question.kind == Question::Kind::url) return Answer::accept();
  if (question.kind != Question::Kind::form) return Answer::result(prepared);
  const Json* inner = action != nullptr ? prepared.find("content") : nullptr;
  Json content = action == nullptr ? prepared : (inner != nullptr ? *inner : Json::object());
  const Json whole = with_defaults(question, Answer::accept(content));
  const std::optional<std::string> problem = content_problem(question.schema(), *whole.find("content"));
  if (problem) return failure(*problem);
  return Answer::accept(std::move(content));
}

std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  std::string_view rest = url.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t user = rest.rfind('@');
  return std::string(user == std::string_view::npos ? rest : rest.substr(user + 1));
}

// Hands the address to the desktop's own opener; no shell sees it.
bool open_in_browser(const std::string& url) {
  std::string program = "xdg-open";
  std::string address = url;
  std::array<char*, 3> arguments{program.data(), address.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && status == 0;
}

void show_heading(Terminal& terminal, const Question& question) {
  const std::string who = question.server_name.empty() ? "The server" : one_line(question.server_name, 60);
  terminal.say("\n" + terminal.bold(who + " asks:") + " " + printable(question.message()) + "\n");
}

void show_options(Terminal& terminal, const FormField& field) {
  for (std::size_t i = 0; i < field.options.size(); ++i) {
    const FormField::Choice& option = field.options[i];
    terminal.say("    " + std::to_string(i + 1) + ") " + one_line(option.title));
    if (option.title != option.value) terminal.say(terminal.dim(" (" + one_line(option.value) + ")"));
    terminal.say("\n");
  }
}

std::string prompt_of(const Terminal& terminal, const FormField& field) {
  std::string hint = expectation(field);
  const std::string fallback = fallback_text(field);
  if (!fallback.empty() && !field.secret)
    hint += (hint.empty() ? "" : "; ") + ("Enter for " + one_line(fallback, 60));
  if (fallback.empty() && !field.required)
    hint += (hint.empty() ? "" : "; ") + std::string("may be left empty");
  return "  " + one_line(field.label) + (hint.empty() ? "" : " " + terminal.dim("[" + hint + "]")) + ": ";
}

enum class FieldEnd { value, decline, cancel, interrupted, nobody };

FieldEnd ask_field(Terminal& terminal, const FormField& field, std::optional<Json>& value) {
  if (!field.description.empty()) terminal.say("  " + terminal.dim(printable(field.description)) + "\n");
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

Outcome ask_url(Terminal& terminal, const Question& question, std::optional<Answer>& answer) {
  const std::string url = question.url();
  const bool web = url.starts_with("https://") || url.starts_with("http://");
  terminal.say("  It wants you to visit " + terminal.bold(one_line(host_of(url))) + ":\n  " + printable(url) +
               "\n");
  if (url.starts_with("http://")) terminal.say("  " + terminal.red("This address is not encrypted.") + "\n");
  for (;;) {
    std::string line;
    const LineEnd end =
        terminal.ask(web ? "  Open it? [o]pen in the browser, [v]isited by myself, [d]ecline, [c]ancel: "
                         : "  [v]isited by myself, [d]ecline, [c]ancel: ",
                     false, line);
    if (end == LineEnd::interrupted) return Outcome::interrupted;
    if (end == LineEnd::end_of_input) return Outcome::nobody;
    if (line == "d" || line == decline_word) answer = Answer::decline();
    if (line == "c" || line == cancel_word) answer = Answer::cancel();
    if (line == "v") answer = Answer::accept();
    if (web && (line == "o" || line == "y")) {
      if (!open_in_browser(url)) terminal.say("  It could not be opened here; please visit it yourself.\n");
      answer = Answer::accept();
    }
    if (answer) return Outcome::answered;
  }
}

Outcome ask_json(Terminal& terminal, const Question& question, std::optional<Answer>& answer) {
  const bool sampling = question.kind == Question::Kind::sampling;
  terminal.say(sampling ? "  It wants a language model's answer to:\n  " +
                              printable(json::write(question.params)) + "\n"
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
  if (!parsed) return failure("the answers are no JSON: " + json::describe(parsed.error()));
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

std::optional<Json> PreparedAnswers::prepared_for(const Question& question) {
  const Json* found = file_.find(question.key);
  if (found == nullptr) return field_by_field(question);
  if (!found->is_array()) {
    // A text or a number under a question's key is the value of the field of that name.
    return found->is_object() ? std::optional<Json>(*found) : field_by_field(question);
  }
  std::size_t& used = used_[question.key];
  if (used >= found->as_array()->size()) return std::nullopt;
  return (*found->as_array())[used++];
}

// What is prepared for the single fields; with --yes also true for questions of yes and no.
std::optional<Json> PreparedAnswers::field_by_field(const Question& question) const {
  if (question.kind == Question::Kind::url) return yes_ ? std::optional<Json>(Json::object()) : std::nullopt;
  if (question.kind != Question::Kind::form) return std::nullopt;
  Json content = Json::object();
  bool found_any = yes_;
  for (const FormField& field : form_fields(question.schema())) {
    const auto given = fields_.find(field.name);
    const Json* in_file = file_.find(field.name);
    if (given != fields_.end()) {
      Result<std::optional<Json>> value = read_field(field, given->second);
      content.set(field.name, value && *value ? **value : Json(given->second));
      found_any = true;
    } else if (in_file != nullptr) {
      content.set(field.name, *in_file);
      found_any = true;
    } else if (yes_ && field.required && field.fallback.is_null() && field.kind == FormField::Kind::boolean) {
      content.set(field.name, true);
    }
  }
  return found_any ? std::optional<Json>(std::move(content)) : std::nullopt;
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
  const std::optional<Json> prepared = prepared_for(question);
  if (!prepared) return std::optional<Answer>();
  Result<Answer> answer = answer_of(question, *prepared);
  if (answer) return std::optional<Answer>(std::move(*answer));
  const std::string key = one_line(question.key);
  if (rests_on_yes(question)) {
    return failure("--yes does not answer " + key + ": " + answer.error().message +
                   "; give it with --answer field=value");
  }
  return failure("the prepared answer to " + key + " does not fit: " + answer.error().message);
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
