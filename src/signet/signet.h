// All that a program needs to be an MCP server: tools, prompts, resources, questions, and the seal over them.
// How it is reached is in transport/; where redemption is kept is in store/; who calls is in auth/.
#pragma once

#include <signet/base/task.h>
#include <signet/json/reflect.h>
#include <signet/server/call.h>
#include <signet/server/content.h>
#include <signet/server/elicited.h>
#include <signet/server/form.h>
#include <signet/server/input_required.h>
#include <signet/server/results.h>
#include <signet/server/sampling.h>
#include <signet/server/server.h>
