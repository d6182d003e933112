// The tools, prompts and resources that the cases ask for.
#pragma once

#include <atomic>

#include <signet/signet.h>

namespace fixture {

// What `stats` tells.
struct Counters {
  std::atomic<int> slow_started = 0;
  std::atomic<int> slow_cancelled = 0;
  std::atomic<int> slow_completed = 0;
  std::atomic<int> listen_bumps = 0;
};

// The counters are borrowed and outlive the server.
void add_plain_tools(signet::Server& server, Counters& counters);
void add_asking_tools(signet::Server& server);
void add_prompts_and_resources(signet::Server& server);

}  // namespace fixture
