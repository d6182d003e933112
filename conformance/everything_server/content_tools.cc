#include <chrono>
#include <string>
#include <thread>

#include <signet/json/text.h>

#include "everything_server/media.h"
#include "everything_server/parts.h"

namespace everything {
namespace {

using signet::Content;
using signet::Json;
using signet::PlainCall;
using signet::ResourceContents;
using signet::Server;
using signet::ToolOptions;
using signet::ToolResult;

constexpr auto pause = std::chrono::milliseconds(50);

Json schema(const char* text) { return signet::json::parse(text).value(); }

constexpr const char* composed_schema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
    }
  },
  "properties": {
    "name": {"type": "string"},
    "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"},
    "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
})";

constexpr const char* header_schema = R"({
  "type": "object",
  "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}
})";

ToolResult several_kinds() {
  ToolResult result;
  result.add(Content::text("Multiple content types test:"));
  result.add(Content::image(png, "image/png"));
  ResourceContents mixed =
      ResourceContents::text(R"({"test":"data","value":123})").mime_type("application/json");
  result.add(Content::resource(mixed.uri("test://mixed-content-resource")));
  return result;
}

ToolResult with_progress(PlainCall& call) {
  for (const int done : {0, 50, 100}) {
    call.progress(done, 100);
    std::this_thread::sleep_for(pause);
  }
  return signet::text("Progress was reported.");
}

ToolResult with_logging(PlainCall& call) {
  for (const char* line : {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    call.log("info", line);
    std::this_thread::sleep_for(pause);
  }
  return signet::text("Three messages were logged.");
}

}  // namespace

void add_content_tools(Server& server) {
  // First in the list: the suite calls the first tool without arguments.
  server.tool("test_simple_text", "Returns a text.",
              [] { return signet::text("This is a simple text response for testing."); });
  server.tool("test_image_content", "Returns an image.", [] { return Content::image(png, "image/png"); });
  server.tool("test_audio_content", "Returns a sound.", [] { return Content::audio(wav, "audio/wav"); });
  server.tool("test_embedded_resource", "Returns a resource.", [] {
    ResourceContents contents = ResourceContents::text("This is an embedded resource content.");
    return Content::resource(contents.uri("test://embedded-resource"));
  });
  server.tool("test_multiple_content_types", "Returns a text, an image and a resource.", several_kinds);
  server.tool("test_tool_with_progress", "Reports progress while it works.", with_progress);
  server.tool("test_tool_with_logging", "Logs to the client while it works.", with_logging);
  server.tool("test_logging_tool", "Logs to the client, if the client wants it.", [](PlainCall& call) {
    call.log("info", "Nobody may have asked for this.");
    return signet::text("Logged, where it was asked for.");
  });
  server.tool("test_error_handling", "Fails.",
              [] { return signet::error("This tool intentionally returns an error for testing"); });
  server.tool(
      "json_schema_2020_12_tool", "Has an input schema that uses much of JSON Schema 2020-12.",
      [](Json) { return signet::text("The arguments fit."); },
      ToolOptions().input_schema(schema(composed_schema)));
  server.tool(
      "test_x_mcp_header", "Has an argument that is mirrored in a header.",
      [](Json arguments) {
        const std::string* region = arguments.find_string("region");
        return signet::text("region: " + (region != nullptr ? *region : std::string("none")));
      },
      ToolOptions().input_schema(schema(header_schema)));
  server.tool("test_trigger_tool_change", "Announces that the tools have changed.", [&server] {
    server.notify_tools_changed();
    return signet::text("Announced.");
  });
  server.tool("test_trigger_prompt_change", "Announces that the prompts have changed.", [&server] {
    server.notify_prompts_changed();
    return signet::text("Announced.");
  });
}

}  // namespace everything
