// The server that the cases are run against: fixture_server [--http --port N] [--ring FILE]. Its environment:
//   FIXTURE_TTL seconds of a request state (600)         FIXTURE_KEY sealing key (random)
//   FIXTURE_KEEPALIVE_MS between comments (15000)        FIXTURE_MODERN_ONLY=1 no handshake revisions
//   FIXTURE_AUTH=1 bearer tokens
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <signet/base/digest.h>
#include <signet/base/log.h>
#include <signet/keys/ring_file.h>
#include <signet/signet.h>
#include <signet/transport/http_server.h>
#include <signet/transport/stdio_server.h>

#include "arguments.h"
#include "fixture_server/bearer.h"
#include "fixture_server/parts.h"

namespace {

using signet::Result;
using signet::token::KeyEntry;
using signet::token::KeyRing;
using signet::token::KeyStage;
using signet::token::RingSource;

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? text : "";
}

std::chrono::milliseconds time_of(const char* variable, std::chrono::milliseconds unit,
                                  std::chrono::milliseconds otherwise) {
  const long count = std::strtol(text_of(variable).c_str(), nullptr, 10);
  return count > 0 ? count * unit : otherwise;
}

// A ring of one key that any process makes of the same text.
Result<std::shared_ptr<RingSource>> ring_of_text(const std::string& text) {
  const signet::Digest digest =
      signet::sha256(signet::ByteView(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  KeyEntry entry;
  entry.id = "fixture";
  entry.secret = signet::Secret::copy_of(digest);
  entry.stage = KeyStage::seal;
  std::vector<KeyEntry> entries;
  entries.push_back(std::move(entry));
  auto ring = KeyRing::make(std::move(entries));
  if (!ring.ok()) return signet::failure(ring.error());
  return std::shared_ptr<RingSource>(std::make_shared<signet::token::SharedRing>(*ring));
}

Result<std::shared_ptr<RingSource>> ring_of_file(const std::string& path, const signet::LogSink& log) {
  auto ring = signet::keys::FileRing::open(path, log);
  if (!ring.ok()) return signet::failure(ring.error());
  return std::shared_ptr<RingSource>(std::move(*ring));
}

Result<signet::ServerOptions> server_options(const conformance::Arguments& arguments,
                                             const signet::LogSink& log) {
  signet::token::Policy policy;
  policy.lifetime = time_of("FIXTURE_TTL", std::chrono::seconds(1), std::chrono::seconds(600));
  policy.anonymous_lifetime = policy.lifetime;
  signet::ServerOptions options;
  options.log(log).policy(policy).instructions("A server with everything the cases ask for.");

  const std::string key = text_of("FIXTURE_KEY");
  if (arguments.ring.empty() && key.empty()) return options;
  auto ring = arguments.ring.empty() ? ring_of_text(key) : ring_of_file(arguments.ring, log);
  if (!ring.ok()) return signet::failure(ring.error());
  options.ring(*ring);
  return options;
}

Result<void> serve(signet::Server& server, const conformance::Arguments& arguments,
                   const signet::LogSink& log) {
  const bool modern_only = text_of("FIXTURE_MODERN_ONLY") == "1";
  if (!arguments.http) {
    signet::StdioOptions options;
    options.modern_only = modern_only;
    options.log = log;
    return signet::serve_stdio(server, options);
  }
  signet::HttpOptions options;
  options.port = arguments.port;
  options.modern_only = modern_only;
  options.keepalive_interval =
      time_of("FIXTURE_KEEPALIVE_MS", std::chrono::milliseconds(1), std::chrono::seconds(15));
  options.log = log;
  if (text_of("FIXTURE_AUTH") == "1") fixture::require_bearer(options);
  return signet::serve_http(server, options);
}

}  // namespace

int main(int argc, char** argv) {
  const conformance::Arguments arguments = conformance::read_arguments(argc, argv);
  const signet::LogSink log = signet::log_to_stderr();
  auto options = server_options(arguments, log);
  if (!options.ok()) {
    std::cerr << options.error().message << "\n";
    return 1;
  }
  fixture::Counters counters;
  signet::Server server(signet::ServerInfo("signet-fixture", "1.0.0"), *options);
  fixture::add_plain_tools(server, counters);
  fixture::add_asking_tools(server);
  fixture::add_prompts_and_resources(server);

  const Result<void> served = serve(server, arguments, log);
  if (!served.ok()) std::cerr << served.error().message << "\n";
  return served.ok() ? 0 : 1;
}
