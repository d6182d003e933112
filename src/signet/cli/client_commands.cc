#include <signet/cli/client_commands.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <signet/cli/answers.h>
#include <signet/cli/client_options.h>
#include <signet/cli/conversation.h>
#include <signet/cli/form_field.h>
#include <signet/cli/saved_call.h>
#include <signet/cli/show.h>
#include <signet/cli/terminal.h>
#include <signet/cli/trace.h>
#include <signet/cli/unauthorized.h>
#include <signet/client/client.h>
#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/header_codec.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/transport/child_process.h>
#include <signet/transport/event_loop.h>
#include <signet/transport/http_client.h>
#include <signet/transport/http_url.h>

namespace signet::cli {
namespace {

constexpr int exit_usage = 2;
constexpr int exit_nobody = 4;
constexpr int exit_saved = 5;
constexpr std::size_t sentence_bytes_max = 2000;

// One run of a command: the server, the client, and the person.
class Run {
 public:
  Run(ClientCommandOptions options, Interrupts& interrupts)
      : options_(std::move(options)),
        interrupts_(interrupts),
        terminal_(interrupts),
        conversation_(loop_.executor(), [this](const Question& question) { return answer(question); }) {}

  int go();

 private:
  Result<void> prepare();
  Result<std::unique_ptr<Service>> connect();
  std::chrono::milliseconds timeout() const;
  ClientOptions client_options();
  CallOptions call_options();

  int call();
  int resume(Client& client, SavedCall saved);
  int prompt();
  int read();
  int list();
  int listen();

  Answer answer(const Question& question);
  Result<Json> arguments(Client& client, const std::string& tool);
  int run_request(Client& client, const std::string& method, Json params);
  int follow(Client& client, Called<Step> step);
  int finish(const std::string& method, const Json& result);
  int failed(const CallError& error);
  Unauthorized who_gives_tokens(const std::string& challenge);
  int usage(const std::string& sentence);
  void print_trace(std::string_view text);
  void say_problem(const std::string& sentence);
  void say_untaken_answers();
  void say_how_to_restart();
  void print(const std::string& text) { terminal_.print(text); }
  void print_json(const Json& json) { print(json::write(json) + "\n"); }

  ClientCommandOptions options_;
  Interrupts& interrupts_;
  Terminal terminal_;
  PreparedAnswers prepared_;
  std::optional<std::string> answer_problem_;
  bool token_sent_ = false;
  std::string restart_line_;  // what makes this call anew
  bool saved_ = false;        // options_.save is a file of this call
  EventLoop loop_;
  Conversation conversation_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<TracingService> trace_;
  std::unique_ptr<Client> client_;
};

// One sentence for all reasons: expired, changed, sealed for another call or by unknown keys.
bool refuses_state(const CallError& error) {
  return error.fault && error.fault->code == protocol::invalid_params &&
         error.fault->message.find("requestState") != std::string::npos;
}

std::string wanted_things(const std::string& command) {
  if (command == "read") return "resources";
  return command == "prompt" ? "prompts" : "tools";
}

std::string trimmed(std::string_view text) { return std::string(protocol::trim_blanks(text)); }

// " for name, age": the fields that --answer can name.
std::string fields_asked(const Question& question) {
  if (question.kind != Question::Kind::form) return {};
  std::string all;
  for (const FormField& field : form_fields(question.schema())) {
    all += (all.empty() ? " for " : ", ") + one_line(field.name, 40);
  }
  return one_line(all, 200);
}

Result<void> Run::prepare() {
  if (options_.yes) prepared_.accept_everything();
  for (const std::string& field : options_.answer) {
    const Result<void> added = prepared_.add_field(field);
    if (!added) return added;
  }
  if (options_.answers.empty()) return {};
  const Result<std::string> text = read_file(options_.answers);
  if (!text) return failure(text.error());
  return prepared_.add_file(*text);
}

Result<std::unique_ptr<Service>> Run::connect() {
  const LogSink log = options_.verbose ? log_to_stderr(LogLevel::debug) : log_to_stderr(LogLevel::error);
  if (!options_.target.command.empty()) {
    ChildProcessOptions child;
    child.log = log;
    for (const std::string& variable : options_.environment) {
      const std::size_t equals = variable.find('=');
      const std::string name = variable.substr(0, equals);
      const char* own = equals == std::string::npos ? std::getenv(name.c_str()) : nullptr;
      child.environment.emplace_back(name, own != nullptr ? own : variable.substr(name.size() + 1));
    }
    auto started = ChildProcess::start(loop_, options_.target.command, std::move(child));
    if (!started) return failure(started.error());
    return std::unique_ptr<Service>(std::move(*started));
  }
  HttpClientOptions http;
  http.log = log;
  http.ca_file = options_.ca_file;
  // The call's own time ends it sooner.
  http.silence_max = std::chrono::milliseconds(0);
  for (const std::string& header : options_.headers) {
    const std::size_t colon = header.find(':');
    http.headers.emplace_back(header.substr(0, colon), trimmed(std::string_view(header).substr(colon + 1)));
  }
  const char* variable = std::getenv("SIGNET_TOKEN");
  if (!options_.token_file.empty()) {
    const Result<std::string> token = read_file(options_.token_file);
    if (!token) return failure(token.error());
    const std::string first_line = trimmed(token->substr(0, token->find_first_of("\r\n")));
    if (first_line.empty()) return failure(options_.token_file + " has no token on its first line");
    http.headers.emplace_back("Authorization", "Bearer " + first_line);
  } else if (variable != nullptr && *variable != '\0') {
    http.headers.emplace_back("Authorization", "Bearer " + trimmed(variable));
  }
  token_sent_ = std::any_of(http.headers.begin(), http.headers.end(), [](const auto& header) {
    return protocol::equal_ignoring_case(header.first, "Authorization");
  });
  const Result<transport::HttpUrl> url = transport::parse_http_url(options_.target.url);
  if (token_sent_ && url && !url->tls && !transport::is_loopback_host(url->host))
    terminal_.say("signet: the token travels to " + one_line(url->host) + " unencrypted\n");
  auto created = HttpClient::create(loop_, options_.target.url, std::move(http));
  if (!created) return failure(created.error());
  return std::unique_ptr<Service>(std::move(*created));
}

std::chrono::milliseconds Run::timeout() const {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(options_.timeout_seconds * 1000)));
}

ClientOptions Run::client_options() {
  ClientOptions client;
  const bool asks = options_.command != "list" && options_.command != "listen";
  if (asks) {
    client.on_form = conversation_.handler();
    client.on_url = conversation_.handler();
    if (terminal_.interactive()) client.on_roots = conversation_.handler();
  }
  client.tasks = asks || !options_.task_ids.empty();
  if (options_.versions == "modern") client.versions = ClientOptions::Versions::modern_only;
  if (options_.versions == "handshake") client.versions = ClientOptions::Versions::handshake_only;
  client.rounds_max = options_.rounds_max;
  client.log = options_.verbose ? log_to_stderr(LogLevel::debug) : log_to_stderr(LogLevel::warning);
  client.call_timeout = timeout();
  if (client.call_timeout.count() > 0)
    client.probe_timeout = std::min(client.probe_timeout, client.call_timeout);
  if (!options_.log_level.empty()) client.log_level = options_.log_level;
  client.on_log = [this](const Json& params) {
    const std::string* level = params.find_string("level");
    const Json* data = params.find("data");
    const std::string text = data == nullptr     ? ""
                             : data->is_string() ? *data->as_string()
                                                 : json::write(*data);
    terminal_.say(
        terminal_.dim(framed(text, Frame("[" + (level != nullptr ? one_line(*level, 20) : "log") + "] ",
                                         "  | ", terminal_.columns()))));
  };
  return client;
}

CallOptions Run::call_options() {
  CallOptions call;
  call.stop = interrupts_.token();
  call.on_progress = [this](const Progress& progress) {
    terminal_.progress(progress.progress, progress.total, progress.message);
  };
  return call;
}

// On the main thread, while a call waits. An answer that cannot be had abandons the call: nothing is sent.
Answer Run::answer(const Question& question) {
  if (interrupts_.exit_code() != 0) return Answer::abandon();
  Result<std::optional<Answer>> ready = prepared_.find(question);
  if (!ready) {
    answer_problem_ = ready.error().message;
    return Answer::abandon();
  }
  if (*ready) {
    tell_unasked(terminal_, question, **ready);
    return **ready;
  }
  std::optional<Answer> given;
  const Outcome outcome = interview(terminal_, question, given);
  if (outcome == Outcome::answered) return *given;
  if (outcome == Outcome::nobody) {
    answer_problem_ =
        terminal_.interactive()
            ? std::string("The input ended without an answer, so none was sent.")
            : "The server asks" + fields_asked(question) +
                  ", and nobody is here to answer. Run it in a terminal, or give --answers FILE, --answer "
                  "field=value or --yes; --save FILE keeps the call for later.";
  }
  return Answer::abandon();
}

// The trace is what the command is for, so it goes where results go. At a terminal no row of it looks like a line of ours.
void Run::print_trace(std::string_view text) {
  if (::isatty(1) != 1) return terminal_.print(text);
  std::string rows;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    rows += framed(text.substr(0, end), Frame("", "  | ", terminal_.columns()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  terminal_.print(rows);
}

void Run::say_untaken_answers() {
  for (const std::string& sentence : prepared_.untaken()) say_problem(sentence);
}

int Run::usage(const std::string& sentence) {
  terminal_.say("signet " + options_.command + ": " + one_line(sentence, sentence_bytes_max) + "\n");
  return exit_usage;
}

// On one line: parts of it may be the server's.
void Run::say_problem(const std::string& sentence) {
  terminal_.say(terminal_.red("signet: ") + one_line(sentence, sentence_bytes_max) + "\n");
}

// What to do where the server no longer takes the state of this call.
void Run::say_how_to_restart() {
  terminal_.say(
      "The server does not take the state of this call, and does not say why: it may be too old, used "
      "already, another caller's, or of a server with other keys. What the call was for may have been done "
      "already. To start it again, with the options it needs:\n  " +
      printable(restart_line_) + "\n");
  const std::string& kept = saved_ ? options_.save : options_.resume;
  if (!kept.empty() && kept != "-")
    terminal_.say(one_line(kept) + " stays, for a server that still takes the call; else remove it.\n");
}

int Run::failed(const CallError& error) {
  if (interrupts_.exit_code() != 0) {
    terminal_.say("signet: interrupted; no answer was sent\n");
    return interrupts_.exit_code();
  }
  if (error.kind == CallError::Kind::cancelled && answer_problem_) {
    say_problem(*answer_problem_);
    say_untaken_answers();
    return exit_nobody;
  }
  if (options_.json && error.fault) {
    print_json(Json::object({{"error", protocol::to_json(*error.fault)}}));
  }
  const bool names_one = options_.command != "list" && options_.command != "listen";
  if (names_one && error.fault && error.fault->code == protocol::method_not_found) {
    say_problem("The server offers no " + wanted_things(options_.command) + ".");
    return exit_code_of(error);
  }
  const bool unauthorized = error.transport && error.transport->http_status == 401;
  say_problem(unauthorized ? explain_unauthorized(who_gives_tokens(error.transport->challenge))
                           : explain(error, options_.target));
  if (refuses_state(error)) say_how_to_restart();
  return exit_code_of(error);
}

// What the server's metadata says. Fetched from the server's own origin only, without any header of ours.
Unauthorized Run::who_gives_tokens(const std::string& challenge) {
  Unauthorized told;
  told.token_sent = token_sent_;
  told.description = challenge_parameter(challenge, "error_description");
  told.metadata_url = challenge_parameter(challenge, "resource_metadata");
  const Result<transport::HttpUrl> server = transport::parse_http_url(options_.target.url);
  if (!server) return told;
  const bool named = !told.metadata_url.empty();
  if (!named) told.metadata_url = usual_metadata_url(*server);
  const Result<transport::HttpUrl> metadata = transport::parse_http_url(told.metadata_url);
  if (!metadata || !metadata->same_origin(*server)) return told;
  HttpClientOptions http;
  http.ca_file = options_.ca_file;
  auto client = HttpClient::create(loop_, told.metadata_url, std::move(http));
  if (!client) return told;
  const Result<std::string> document = conversation_.run((*client)->fetch());
  told.servers = document ? authorization_servers(*document) : std::vector<std::string>();
  if (!named && told.servers.empty()) told.metadata_url.clear();  // our guess
  return told;
}

// The arguments on the command line; key=value takes its types from the tool's schema.
Result<Json> Run::arguments(Client& client, const std::string& tool) {
  const std::vector<std::string> assignments(options_.words.begin() + 1, options_.words.end());
  if (options_.arguments.empty()) {
    if (assignments.empty()) return Json();
    Json schema;
    const Called<std::vector<ToolDescription>> tools = conversation_.run(client.list_tools(call_options()));
    if (tools) {
      for (const ToolDescription& one : *tools) {
        if (one.name == tool) schema = one.input_schema;
      }
    }
    Result<Json> given = arguments_from(assignments, schema);
    if (given) {
      for (const std::string& sentence : unknown_arguments(*given, schema)) say_problem(sentence);
    }
    return given;
  }
  if (!assignments.empty()) return failure("give key=value or --json, not both");
  std::string text = options_.arguments;
  if (text.front() == '@' || text == "-") {
    const Result<std::string> file = read_file(text == "-" ? text : text.substr(1));
    if (!file) return failure(file.error());
    text = *file;
  }
  Result<Json, json::ParseError> parsed = json::parse(text);
  if (!parsed) return failure("the arguments are no JSON: " + describe_json_error(parsed.error(), text));
  if (!parsed->is_object()) return failure("the arguments are no JSON object");
  return std::move(*parsed);
}

int Run::call() {
  const std::string tool = options_.words.front();
  Result<Json> given = arguments(*client_, tool);
  if (interrupts_.exit_code() != 0) return interrupts_.exit_code();
  if (!given) return usage(given.error().message);
  if (!options_.save.empty()) {
    Json params = Json::object({{"name", tool}});
    if (!given->is_null()) params.set("arguments", std::move(*given));
    return run_request(*client_, "tools/call", std::move(params));
  }
  Called<ToolOutcome> outcome =
      conversation_.run(client_->call_tool(tool, std::move(*given), call_options()));
  return outcome ? finish("tools/call", outcome->json) : failed(outcome.error());
}

int Run::run_request(Client& client, const std::string& method, Json params) {
  if (options_.save.empty()) {
    const Called<Json> result = conversation_.run(client.request(method, std::move(params), call_options()));
    return result ? finish(method, *result) : failed(result.error());
  }
  return follow(client, conversation_.run(client.request_once(method, std::move(params), call_options())));
}

// Answers round after round with what is prepared or typed; with --save, only with what is prepared.
int Run::follow(Client& client, Called<Step> step) {
  while (step && !step->finished) {
    if (!options_.save.empty()) {
      SavedCall saved;
      saved.target = options_.target;
      saved.continuation = step->continuation;
      if (!step->questions.empty()) saved.server_name = step->questions.front().server_name;
      const bool ours = saved_ || options_.force || is_same_file(options_.save, options_.resume);
      const Result<void> written =
          save_call(options_.save, saved, ours ? Existing::replaced : Existing::refused);
      if (!written) return usage(written.error().message);
      saved_ = true;
    }
    Answers answers;
    for (const Question& question : step->questions) {
      Result<std::optional<Answer>> ready = prepared_.find(question);
      if (!ready) return usage(ready.error().message);
      if (*ready) {
        tell_unasked(terminal_, question, **ready);
        answers.insert_or_assign(question.key, **ready);
      } else if (options_.save.empty()) {
        answers.insert_or_assign(question.key, answer(question));
      }
      const auto given = answers.find(question.key);
      if (given != answers.end() && given->second.abandoned()) {
        return failed(CallError(CallError::Kind::cancelled, "the question was abandoned"));
      }
    }
    if (answers.size() < step->questions.size()) {
      for (const Question& question : step->questions) {
        terminal_.say(framed(question.message(),
                             Frame(one_line(question.key, 60) + ": ", "  | ", terminal_.columns())));
      }
      say_untaken_answers();
      terminal_.say("Saved. Go on with: signet " + options_.command + " --resume " + options_.save + "\n");
      if (!options_.target.command.empty()) {
        terminal_.say(
            "The server's process ends here. The one that --resume starts takes the call only with the same "
            "keys, for example from a ring file.\n");
      }
      return exit_saved;
    }
    step =
        conversation_.run(client.resume(std::move(step->continuation), std::move(answers), call_options()));
  }
  if (!step) return failed(step.error());
  // The call is over, and its files are of no more use. What was there before and is none of ours stays.
  if (!options_.resume.empty() && options_.resume != "-") ::unlink(options_.resume.c_str());
  if (saved_) ::unlink(options_.save.c_str());
  return finish(options_.command == "prompt" ? "prompts/get"
                : options_.command == "read" ? "resources/read"
                                             : "tools/call",
                step->result);
}

int Run::resume(Client& client, SavedCall saved) {
  const std::string method = saved.continuation.method();
  options_.command = method == "prompts/get"      ? "prompt"
                     : method == "resources/read" ? "read"
                                                  : options_.command;
  restart_line_ = restart_line(saved);
  Step step;
  step.questions = saved.continuation.questions();
  for (Question& question : step.questions) question.server_name = saved.server_name;
  step.continuation = std::move(saved.continuation);
  return follow(client, Called<Step>(std::move(step)));
}

int Run::finish(const std::string& method, const Json& result) {
  const auto array_of = [&](std::string_view name) {
    const Json* member = result.find(name);
    return member != nullptr && member->is_array() ? *member->as_array() : JsonArray();
  };
  const bool is_error = result.find("isError") != nullptr && *result.find("isError") == Json(true);
  if (options_.json) {
    print_json(result);
  } else if (method == "tools/call") {
    ToolOutcome outcome;
    outcome.content = array_of("content");
    if (const Json* structured = result.find("structuredContent")) outcome.structured = *structured;
    const std::string shown = show_tool(outcome);
    // Where a tool threw, that is all a server says.
    if (is_error && shown != "The tool failed.\n") terminal_.say(terminal_.red("The tool failed:") + "\n");
    print(shown);
  } else if (method == "prompts/get") {
    PromptMessages prompt;
    prompt.messages = array_of("messages");
    print(show_prompt(prompt));
  } else {
    ReadResourceResult resource;
    resource.contents = array_of("contents");
    print(show_resource(resource));
  }
  say_untaken_answers();
  return is_error ? 1 : 0;
}

int Run::prompt() {
  Json params = Json::object({{"name", options_.words.front()}});
  const std::vector<std::string> assignments(options_.words.begin() + 1, options_.words.end());
  const Result<Json> given = arguments_from(assignments, Json());
  if (!given) return usage(given.error().message);
  if (!assignments.empty()) params.set("arguments", *given);
  return run_request(*client_, "prompts/get", std::move(params));
}

int Run::read() {
  if (options_.words.size() > 1) return usage("one resource at a time");
  return run_request(*client_, "resources/read", Json::object({{"uri", options_.words.front()}}));
}

int Run::list() {
  const Called<ServerDescription> server = conversation_.run(client_->connect(call_options()));
  if (!server) return failed(server.error());
  const auto wants = [&](std::string_view what, std::string_view capability) {
    if (options_.words.empty()) return server->capabilities.contains(capability);
    return std::find(options_.words.begin(), options_.words.end(), what) != options_.words.end();
  };
  for (const std::string& word : options_.words) {
    if (word != "tools" && word != "prompts" && word != "resources" && word != "templates") {
      return usage("list tools, prompts, resources or templates, not " + word);
    }
  }
  Json all = Json::object({{"server", Json::object({{"name", server->name},
                                                    {"version", server->version},
                                                    {"protocolVersion", server->protocol_version}})}});
  std::string text;
  std::optional<CallError> first_error;
  const auto take = [&](std::string_view member, const auto& listed, const auto& show) {
    if (!listed) {
      if (!first_error) first_error = listed.error();
      return;
    }
    JsonArray items;
    for (const auto& one : *listed) items.push_back(one.json);
    all.set(std::string(member), std::move(items));
    text += show(*listed);
  };
  if (wants("tools", "tools"))
    take("tools", conversation_.run(client_->list_tools(call_options())), show_tools);
  if (wants("prompts", "prompts"))
    take("prompts", conversation_.run(client_->list_prompts(call_options())), show_prompts);
  if (wants("resources", "resources")) {
    take("resources", conversation_.run(client_->list_resources(call_options())), show_resources);
  }
  if (wants("templates", "resources")) {
    const auto show_templates = [](const std::vector<ResourceDescription>& templates) {
      std::string shown = show_resources(templates);
      return shown.empty() ? shown : "Resource templates" + shown.substr(shown.find('\n'));
    };
    take("resourceTemplates", conversation_.run(client_->list_resource_templates(call_options())),
         show_templates);
  }
  if (options_.json) {
    print_json(all);
  } else {
    print(one_line(server->name.empty() ? options_.target.text() : server->name) + " " +
          one_line(server->version) +
          (server->protocol_version.empty() ? "" : " (MCP " + one_line(server->protocol_version, 40) + ")") +
          "\n" + text);
  }
  return first_error ? failed(*first_error) : 0;
}

int Run::listen() {
  ListenFilter filter;
  filter.uris = options_.uris;
  filter.task_ids = options_.task_ids;
  for (const std::string& word : options_.words) {
    filter.tools = filter.tools || word == "tools";
    filter.prompts = filter.prompts || word == "prompts";
    filter.resources = filter.resources || word == "resources";
    if (word != "tools" && word != "prompts" && word != "resources")
      return usage("listen to tools, prompts or resources");
  }
  if (options_.words.empty() && filter.uris.empty() && filter.task_ids.empty())
    filter.tools = filter.prompts = filter.resources = true;
  const auto on_event = [this](const Notification& event) {
    if (options_.json) {
      print_json(Json::object({{"method", event.method}, {"params", event.params}}));
    } else if (event.method == "notifications/subscriptions/acknowledged") {
      terminal_.say(terminal_.dim("Listening; Ctrl-C ends.") + "\n");
    } else {
      std::string row = one_line(event.method);
      for (const char* name : {"uri", "taskId", "status", "statusMessage"}) {
        const std::string* value = event.params.find_string(name);
        if (value != nullptr) row += " " + one_line(*value, 1000);
      }
      print(row + "\n");
    }
  };
  CallOptions stopping;
  stopping.stop = interrupts_.token();
  const Called<Json> ended =
      conversation_.run(client_->listen(std::move(filter), on_event, std::move(stopping)));
  if (interrupts_.exit_code() != 0) return interrupts_.exit_code();
  if (!ended) return failed(ended.error());
  terminal_.say("The server ended the subscription.\n");
  return 0;
}

int Run::go() {
  const Result<void> ready = prepare();
  if (!ready) return usage(ready.error().message);
  for (const std::string& file : {options_.save, options_.last_state}) {
    const bool resumed = file == options_.save && is_same_file(file, options_.resume);
    if (is_there(file) && !resumed && !options_.force)
      return usage(file + " is there already; --force replaces it");
  }
  std::optional<SavedCall> resumed;
  if (!options_.resume.empty()) {
    Result<SavedCall> saved = load_call(options_.resume, options_.target);
    if (!saved) return usage(saved.error().message);
    resumed = std::move(*saved);
    options_.target = resumed->target;
  }
  Result<std::unique_ptr<Service>> service = connect();
  if (!service) {
    say_problem(service.error().message);
    return 3;
  }
  service_ = std::move(*service);
  Service* used = service_.get();
  if (options_.command == "trace") {
    trace_ = std::make_unique<TracingService>(
        *service_, [this](std::string_view text) { print_trace(text); },
        TraceForm(options_.json, options_.full));
    used = trace_.get();
  }
  std::vector<std::string> words = options_.words;
  if (!options_.arguments.empty()) words.insert(words.end(), {"--json", options_.arguments});
  restart_line_ = command_line(options_.command, options_.target, words);
  client_ = std::make_unique<Client>(*used, loop_.executor(), client_options());
  int code = 0;
  if (resumed) {
    code = resume(*client_, std::move(*resumed));
  } else if (options_.command == "list") {
    code = list();
  } else if (options_.command == "listen") {
    code = listen();
  } else if (options_.command == "prompt") {
    code = prompt();
  } else if (options_.command == "read") {
    code = read();
  } else {
    code = call();
  }
  client_.reset();
  service_.reset();
  if (!terminal_.printed_all() && code == 0) {
    say_problem("standard output cannot be written");
    code = 1;
  }
  if (trace_ && !options_.last_state.empty() && !trace_->last_state().empty()) {
    const Result<void> kept = write_private_file(options_.last_state, trace_->last_state() + "\n",
                                                 options_.force ? Existing::replaced : Existing::refused);
    terminal_.say(kept ? "The last state is in " + options_.last_state +
                             "; with the server's keys: signet token inspect --ring RING < " +
                             options_.last_state + "\n"
                       : "signet: " + kept.error().message + "\n");
    if (!kept && code == 0) code = 1;
  }
  return code;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> client_commands() {
  return {{"call", "Call a tool, and answer what it asks"},
          {"list", "List tools, prompts, resources and templates"},
          {"read", "Read a resource"},
          {"prompt", "Get a prompt"},
          {"listen", "Show what a server announces"},
          {"trace", "Call a tool and show every message"}};
}

bool is_client_command(const std::string& name) {
  for (const auto& [command, summary] : client_commands()) {
    if (command == name) return true;
  }
  return false;
}

int run_client_command(const std::string& name, const std::vector<std::string>& words) {
  ParsedOptions parsed = parse_client_options(name, words);
  if (!parsed.options) return parsed.exit_code;
  Interrupts interrupts;
  Run run(std::move(*parsed.options), interrupts);
  return run.go();
}

}  // namespace signet::cli
