// The three tokens of the cases.
#pragma once

#include <signet/transport/http_server.h>

namespace fixture {

// alice-token and bob-token may call; noscope-token may not (scope `mcp`). The metadata is public.
void require_bearer(signet::HttpOptions& options);

}  // namespace fixture
