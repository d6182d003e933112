// What a Client gives and takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/json/value.h>
#include <signet/protocol/service.h>
#include <signet/protocol/transport_failure.h>

namespace signet {

// Why a call did not give its result.
struct CallError {
  enum class Kind : std::uint8_t {
    transport,          // no reply came; `transport` says why, and whether the request may have had effects
    refused,            // the server answered with an error; `fault` is it
    invalid_reply,      // the reply is not what the specification allows
    unsupported_input,  // the server asks for what this client did not declare; nothing was answered
    rounds_exceeded,    // the server asked more often than allowed
    timed_out,          // the time of the call, without the time people took to answer, is over
    cancelled,          // by the stop token
    no_version,         // the server speaks no revision that this client speaks
    invalid_output,     // structured content that does not fit the tool's output schema
    invalid_call,       // refused on this side; nothing was sent
  };

  CallError(Kind what, std::string sentence) : kind(what), message(std::move(sentence)) {}

  Kind kind;
  std::string message;         // one sentence for a person; texts of the server are escaped and shortened
  std::optional<Fault> fault;  // of `refused`
  std::optional<protocol::TransportFailure> transport;
};

std::string_view to_string(CallError::Kind kind);

template <typename T>
using Called = Result<T, CallError>;

// Something the server asks of the person or the program behind the client.
struct Question {
  enum class Kind : std::uint8_t { form, url, sampling, roots };

  Question(std::string question_key, Kind what, Json parameters)
      : key(std::move(question_key)), kind(what), params(std::move(parameters)) {}

  // Of a form or URL: what to show. Untrusted text.
  std::string message() const;
  // Of a form: its restricted schema; an empty object schema where there is none.
  const Json& schema() const;
  // Of a URL. Untrusted: show it in full, and ask before opening (client/elicitation, C44).
  std::string url() const;

  std::string key;  // its name in inputRequests; the JSON-RPC method on a session
  Kind kind;
  Json params;
  // Who asks, and in which call, for the person who decides.
  std::string server_name;
  std::string method;
  std::string target;
  int round = 1;
};

// What to answer.
class Answer {
 public:
  // A form: its content; members missing from it that have a default in the form's schema are filled in (SEP-1034).
  static Answer accept(Json content = Json());
  static Answer decline();
  static Answer cancel();
  // To sampling or roots: the result object, for example {"roots": [...]}.
  static Answer result(Json value);
  // The person walked away: the call ends as cancelled, and nothing more is sent.
  static Answer abandon();

  bool abandoned() const { return abandoned_; }
  // As it travels.
  const Json& json() const { return json_; }

 private:
  explicit Answer(Json json) : json_(std::move(json)) {}
  Json json_;
  bool abandoned_ = false;
};

// The answer, with the defaults of the question's form for what it leaves out.
Json with_defaults(const Question& question, const Answer& answer);

// Asked on the client's executor, never two at once in one call. The time it takes does not count.
using QuestionHandler = std::function<Task<Answer>(Question)>;

// A handler from a function that answers at once. It must not block: the executor waits for it.
QuestionHandler answer_with(std::function<Answer(const Question&)> function);

struct Progress {
  Progress(double value, std::optional<double> of, std::string text)
      : progress(value), total(of), message(std::move(text)) {}
  double progress;
  std::optional<double> total;
  std::string message;
};

// How one call is made. The defaults are the client's.
struct CallOptions {
  CallOptions() = default;
  std::chrono::milliseconds timeout{0};  // 0: ClientOptions::call_timeout
  std::optional<int> rounds_max;
  std::stop_token stop;
  std::function<void(const Progress&)> on_progress;
  // tools/call: send again, once, where the connection broke and nobody knows whether the tool has run. Everything else is
  // sent again anyway.
  bool resend = false;
};

struct ServerDescription {
  bool modern = false;  // 2026-07-28 and later; else a session
  std::string protocol_version;
  std::string name;
  std::string version;
  std::string instructions;
  Json capabilities = Json::object();
};

struct ToolDescription {
  std::string name;
  std::string title;
  std::string description;
  Json input_schema;
  Json output_schema;  // null where there is none
  Json json;           // all of it
};

struct PromptDescription {
  std::string name;
  std::string title;
  std::string description;
  Json arguments;  // array
  Json json;
};

struct ResourceDescription {
  std::string uri;  // or the template
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  Json json;
};

// The result of a tool. A tool that failed is a result too (`is_error`), not a CallError.
struct ToolOutcome {
  bool is_error = false;
  JsonArray content;
  Json structured;  // null where there is none
  Json json;

  // The text blocks, one a line.
  std::string text() const;
};

struct ReadResourceResult {
  JsonArray contents;
  Json json;
};

struct PromptMessages {
  std::string description;
  JsonArray messages;
  Json json;
};

struct CompleteResult {
  std::vector<std::string> values;
  std::optional<std::int64_t> total;
  bool has_more = false;
};

// What to hear about (subscriptions/listen).
struct ListenFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::vector<std::string> uris;
  // Of these tasks, every change of status (SEP-2663). Needs `ClientOptions::tasks`; sessions have no such thing.
  std::vector<std::string> task_ids;
};

}  // namespace signet
