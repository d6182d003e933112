// Results and errors in words. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <signet/cli/arguments.h>
#include <signet/client/types.h>

namespace signet::cli {

// The content blocks as text: texts as they are, others in one line each; structured content where there is no text. Ends
// with a line end unless empty. Untrusted text: for a terminal, pass it through `printable`.
std::string show_tool(const ToolOutcome& outcome);
std::string show_prompt(const PromptMessages& prompt);
std::string show_resource(const ReadResourceResult& resource);

std::string show_tools(const std::vector<ToolDescription>& tools);
std::string show_prompts(const std::vector<PromptDescription>& prompts);
std::string show_resources(const std::vector<ResourceDescription>& resources);

// What went wrong and what to do about it, one or two sentences. Of a 401 that is explain_unauthorized.
std::string explain(const CallError& error, const Target& target);

// 1: refused or failed; 3: not reached, or no server of ours; 4: asked for what nobody here answers.
int exit_code_of(const CallError& error);

}  // namespace signet::cli
