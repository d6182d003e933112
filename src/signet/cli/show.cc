#include <signet/cli/show.h>

#include <signet/cli/terminal.h>
#include <signet/cli/trace.h>
#include <signet/json/text.h>
#include <signet/protocol/errors.h>

namespace signet::cli {
namespace {

using protocol::TransportFailure;

std::string text_of(const Json& object, std::string_view name) {
  const std::string* text = object.find_string(name);
  return text != nullptr ? *text : std::string();
}

std::string ended(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string show_contents(const Json& contents) {
  if (const std::string* text = contents.find_string("text")) return ended(*text);
  const std::string blob = text_of(contents, "blob");
  return "[" + text_of(contents, "uri") + " " + text_of(contents, "mimeType") + ", " +
         std::to_string(blob.size() / 4 * 3) + " bytes]\n";
}

std::string show_block(const Json& block) {
  const std::string type = text_of(block, "type");
  if (type == "text") return ended(text_of(block, "text"));
  if (type == "resource" && block.find("resource") != nullptr) return show_contents(*block.find("resource"));
  if (type == "resource_link") return "[link " + text_of(block, "uri") + " " + text_of(block, "name") + "]\n";
  if (type == "image" || type == "audio") {
    return "[" + type + " " + text_of(block, "mimeType") + ", " +
           std::to_string(text_of(block, "data").size() / 4 * 3) + " bytes]\n";
  }
  return "[" + type + "]\n";
}

std::string item(const std::string& name, const std::string& title, const std::string& description) {
  std::string line = "  " + one_line(name, 120);
  const std::string about = !description.empty() ? description : title;
  if (!about.empty()) line += "  " + one_line(about.substr(0, about.find('\n')), 200);
  return line + "\n";
}

std::string parameters_of(const Json& schema) {
  const Json* properties = schema.find("properties");
  if (properties == nullptr || !properties->is_object()) return {};
  const Json* required = schema.find("required");
  std::string all;
  for (const auto& [name, property] : *properties->as_object()) {
    bool needed = false;
    if (required != nullptr && required->is_array()) {
      for (const Json& one : *required->as_array()) needed = needed || one == Json(name);
    }
    const std::string type = text_of(property, "type");
    const std::string word = one_line(name, 80) + "=" + (type.empty() ? "..." : one_line(type, 20));
    all += " " + (needed ? word : "[" + word + "]");
  }
  return all;
}

std::string explain_status(const TransportFailure& failed, const Target& target) {
  const std::string where = target.text();
  if (where.ends_with("/sse") && failed.http_status / 100 == 4 && failed.http_status != 401 &&
      failed.http_status != 403) {
    return "The address ends in /sse, the transport of 2024-11-05, which signet does not speak (" +
           std::to_string(failed.http_status) + "). Most such servers also answer at /mcp.";
  }
  switch (failed.http_status) {
    case 403:
      return "The server does not let this caller in (403): the token lacks a right, or the address is not "
             "allowed.";
    case 404:
      return "There is nothing at " + where + " (404). Is the path right? Many servers answer at /mcp.";
    case 405:
      return "The server takes no MCP requests at " + where + " (405). Is the path right?";
    default:
      break;
  }
  return "The server answered with HTTP status " + std::to_string(failed.http_status) + " instead of MCP.";
}

std::string advice_on_tls(const std::string& reason) {
  const auto says = [&](std::string_view words) { return reason.find(words) != std::string::npos; };
  if (says("mismatch")) return "The server's certificate is for another name.";
  if (says("wrong version number"))
    return "The server seems to speak no TLS there; is its address http://...?";
  return "For a certificate of your own, give --ca FILE.";
}

// With one full stop at its end.
std::string sentence(std::string text) {
  while (text.ends_with('.')) text.pop_back();
  return text + '.';
}

std::string explain_transport(const TransportFailure& failed, const Target& target) {
  switch (failed.kind) {
    case TransportFailure::Kind::http_status:
      return explain_status(failed, target);
    case TransportFailure::Kind::redirected:
      return "The server redirects to " +
             (failed.location.empty() ? "elsewhere" : one_line(failed.location)) +
             "; if you trust that address, call it instead.";
    case TransportFailure::Kind::not_mcp:
      return sentence("This is no MCP server: " + failed.message);
    case TransportFailure::Kind::tls:
      return "The connection is not safe: " + failed.message + ". " + advice_on_tls(failed.message);
    case TransportFailure::Kind::unreachable:
      return sentence("The server cannot be reached: " + failed.message);
    default:
      break;
  }
  return sentence("The connection failed: " + failed.message) +
         (failed.may_have_arrived ? " The request may have been carried out." : "");
}

}  // namespace

std::string show_tool(const ToolOutcome& outcome) {
  std::string all;
  for (const Json& block : outcome.content) all += show_block(block);
  if (all.empty() && !outcome.structured.is_null()) all = indented(outcome.structured) + "\n";
  return all;
}

std::string show_prompt(const PromptMessages& prompt) {
  std::string all;
  for (const Json& message : prompt.messages) {
    const Json* content = message.find("content");
    all += text_of(message, "role") + ": " + (content != nullptr ? show_block(*content) : "\n");
  }
  return all;
}

std::string show_resource(const ReadResourceResult& resource) {
  std::string all;
  for (const Json& contents : resource.contents) all += show_contents(contents);
  return all;
}

std::string show_tools(const std::vector<ToolDescription>& tools) {
  std::string all = tools.empty() ? "" : "Tools\n";
  for (const ToolDescription& tool : tools) {
    all += item(tool.name + parameters_of(tool.input_schema), tool.title, tool.description);
  }
  return all;
}

std::string show_prompts(const std::vector<PromptDescription>& prompts) {
  std::string all = prompts.empty() ? "" : "Prompts\n";
  for (const PromptDescription& prompt : prompts) {
    std::string name = prompt.name;
    if (prompt.arguments.is_array()) {
      for (const Json& argument : *prompt.arguments.as_array()) {
        const Json* required = argument.find("required");
        const std::string word = text_of(argument, "name") + "=...";
        name += required != nullptr && *required == Json(true) ? " " + word : " [" + word + "]";
      }
    }
    all += item(name, prompt.title, prompt.description);
  }
  return all;
}

std::string show_resources(const std::vector<ResourceDescription>& resources) {
  std::string all = resources.empty() ? "" : "Resources\n";
  for (const ResourceDescription& resource : resources) {
    all += item(resource.uri, resource.title.empty() ? resource.name : resource.title, resource.description);
  }
  return all;
}

std::string explain(const CallError& error, const Target& target) {
  if (error.transport) return explain_transport(*error.transport, target);
  switch (error.kind) {
    case CallError::Kind::refused:
      if (error.fault && error.fault->code == protocol::missing_capability) {
        return "The server needs something of its caller that this program does not offer: " +
               one_line(json::write(error.fault->data));
      }
      return "The server refused (" + std::to_string(error.fault ? error.fault->code : 0) +
             "): " + one_line(error.fault ? error.fault->message : error.message, 400);
    case CallError::Kind::no_version:
      return "The server is too old or too new: it speaks no revision of MCP from 2024-11-05 to 2026-07-28.";
    case CallError::Kind::unsupported_input:
      return sentence("Nobody here can answer: " + error.message);
    case CallError::Kind::invalid_reply:
      return sentence("The server breaks the protocol: " + error.message);
    case CallError::Kind::invalid_output:
      return sentence("The server's answer does not fit its own schema: " + error.message);
    case CallError::Kind::timed_out:
      return "The server took too long. Give it more with --timeout SECONDS.";
    case CallError::Kind::rounds_exceeded:
      return sentence(error.message) + " Let it ask more often with --rounds COUNT.";
    default:
      break;
  }
  return sentence(error.message);
}

int exit_code_of(const CallError& error) {
  switch (error.kind) {
    case CallError::Kind::transport:
    case CallError::Kind::no_version:
    case CallError::Kind::invalid_reply:
      return 3;
    case CallError::Kind::unsupported_input:
      return 4;
    default:
      return 1;
  }
}

}  // namespace signet::cli
