// What the official conformance suite looks for in a server, in four parts.
#pragma once

#include <signet/signet.h>

namespace everything {

void add_content_tools(signet::Server& server);  // text, media, progress, logging, schemas, change notices
void add_asking_tools(signet::Server& server);   // multi round-trip requests (2026-07-28)
void add_session_tools(signet::Server& server);  // what servers ask on the handshake revisions
void add_task_tools(signet::Server& server);     // the tasks extension
void add_prompts_and_resources(signet::Server& server);

}  // namespace everything
