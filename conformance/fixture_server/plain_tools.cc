#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <signet/json/text.h>

#include "fixture_server/parts.h"

namespace fixture {
namespace {

using signet::Json;
using signet::PlainCall;
using signet::Server;
using signet::ToolOptions;
using signet::ToolResult;

struct Echo {
  std::string text;
};
struct Steps {
  int steps;
};
struct Slow {
  double ms;
};

Json schema(const char* text) { return signet::json::parse(text).value(); }

ToolResult boom() { throw std::runtime_error("secret-detail /srv/app/private.pem"); }

ToolResult not_a_number() {
  Json wrong;
  wrong.set("n", "NaN");
  return signet::text("x").structured(wrong);
}

ToolResult steps(PlainCall& call, Steps input) {
  const std::stop_token stop = call.stop_token();
  for (int i = 1; i <= input.steps && !stop.stop_requested(); ++i) call.progress(i, input.steps);
  return signet::text("steps:" + std::to_string(input.steps));
}

ToolResult log_it(PlainCall& call) {
  call.log("warning", "fixture-log");
  return signet::text("logged");
}

// The text of an argument, or `-` where it is absent or null.
std::string shown(const Json& arguments, std::string_view name) {
  const Json* value = arguments.find(name);
  if (value == nullptr || value->is_null()) return "-";
  return value->is_string() ? *value->as_string() : signet::json::canonical(*value);
}

ToolResult region_query(Json arguments) {
  return signet::text("region:" + shown(arguments, "region") + " count:" + shown(arguments, "count") +
                      " query:" + shown(arguments, "query"));
}

constexpr const char* region_schema = R"({
  "type": "object",
  "properties": {
    "region": {"type": "string", "x-mcp-header": "Region"},
    "count": {"type": "integer", "x-mcp-header": "Count"},
    "query": {"type": "string"}
  },
  "required": ["query"]
})";

constexpr const char* pair_schema = R"({
  "type": "object",
  "$defs": {"mode": {"enum": ["x", "y"]}},
  "unevaluatedProperties": false,
  "dependentRequired": {"pair": ["mode"]},
  "properties": {
    "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
    "mode": {"$ref": "#/$defs/mode"}
  }
})";

constexpr const char* number_schema = R"({
  "type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]
})";

// Sleeps in slices, so that it hears of its cancellation soon.
ToolResult slow(PlainCall& call, Slow input, Counters& counters) {
  ++counters.slow_started;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(input.ms);
  for (int slice = 1; std::chrono::steady_clock::now() < end; ++slice) {
    if (call.stop_token().stop_requested()) {
      ++counters.slow_cancelled;
      return signet::text("aborted");
    }
    call.progress(slice);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ++counters.slow_completed;
  return signet::text("slow-done");
}

// As plain functions do that were not written for being cancelled.
ToolResult deaf(PlainCall& call, Slow input) {
  call.progress(1);
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(input.ms));
  return signet::text("deaf-done");
}

std::string stats(const Counters& counters) {
  Json json;
  json.set("slow_started", counters.slow_started.load());
  json.set("slow_cancelled", counters.slow_cancelled.load());
  json.set("slow_completed", counters.slow_completed.load());
  json.set("listen_bumps", counters.listen_bumps.load());
  return signet::json::write(json);
}

}  // namespace

void add_plain_tools(Server& server, Counters& counters) {
  server.tool("echo", "Says it back.", [](Echo input) { return signet::text("echo:" + input.text); });
  server.tool("noargs", "Takes no arguments.", [] { return signet::text("noargs-ok"); });
  server.tool("kv", "Returns its arguments in canonical form.",
              [](Json arguments) { return signet::text(signet::json::canonical(arguments)); });
  server.tool("boom", "Throws.", boom);
  server.tool("bad_output", "Violates its output schema.", not_a_number,
              ToolOptions().output_schema(schema(number_schema)));
  server.tool("steps", "Reports progress.", steps);
  server.tool("log_it", "Logs to the client.", log_it);
  server.tool("slow", "Sleeps.",
              [&counters](PlainCall& call, Slow input) { return slow(call, input, counters); });
  server.tool("deaf", "Sleeps, and hears of nothing.", deaf);
  server.tool("stats", "Counts.", [&counters] { return signet::text(stats(counters)); });
  server.tool("bump", "Announces changes.", [&server, &counters] {
    ++counters.listen_bumps;
    server.notify_tools_changed();
    server.notify_resource_updated("test://static");
    return signet::text("bumped");
  });
  server.tool("region_query", "Has arguments that are mirrored in headers.", region_query,
              ToolOptions().input_schema(schema(region_schema)));
  server.tool(
      "pair", "Has a schema of the 2020-12 dialect.", [](Json) { return signet::text("pair-ok"); },
      ToolOptions().input_schema(schema(pair_schema)));
}

}  // namespace fixture
