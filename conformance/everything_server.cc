// The server that the official conformance suite is run against: everything_server [--http --port N] [--ring FILE]
#include <cstdint>
#include <iostream>

#include <signet/base/log.h>
#include <signet/keys/ring_file.h>
#include <signet/signet.h>
#include <signet/transport/http_server.h>
#include <signet/transport/stdio_server.h>

#include "arguments.h"
#include "everything_server/parts.h"

int main(int argc, char** argv) {
  const conformance::Arguments arguments = conformance::read_arguments(argc, argv);
  const signet::LogSink log = signet::log_to_stderr();
  signet::ServerOptions wanted;
  wanted.log(log).instructions("A server with everything the suite looks for.");
  if (!arguments.ring.empty()) {
    auto ring = signet::keys::FileRing::open(arguments.ring, log);
    if (!ring.ok()) return std::cerr << ring.error().message << "\n", 1;
    wanted.ring(*ring);
  }
  signet::Server server(signet::ServerInfo("signet-everything-server", "1.0.0"), std::move(wanted));
  everything::add_content_tools(server);
  everything::add_asking_tools(server);
  everything::add_session_tools(server);
  everything::add_task_tools(server);
  everything::add_prompts_and_resources(server);

  signet::Result<void> served;
  if (arguments.http) {
    signet::HttpOptions options;
    options.port = arguments.port;
    options.log = log;
    served = signet::serve_http(server, options);
  } else {
    signet::StdioOptions options;
    options.log = log;
    served = signet::serve_stdio(server, options);
  }
  if (!served.ok()) std::cerr << served.error().message << "\n";
  return served.ok() ? 0 : 1;
}
