// Redemption, states and tasks in Redis, for a fleet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <signet/base/clock.h>
#include <signet/base/entropy.h>
#include <signet/base/result.h>
#include <signet/base/secret.h>
#include <signet/store/stores.h>

namespace signet::store {

struct RedisOptions {
  Limits limits;
  std::string key_prefix = "signet:";  // one per fleet that shares a Redis
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(1);
  std::chrono::milliseconds command_timeout = std::chrono::seconds(1);
  std::chrono::milliseconds reconnect_pause_max = std::chrono::seconds(2);
  std::size_t queue_max = 10'000;  // operations waiting; beyond, they fail
};

// Where a Redis is and how to enter it.
struct RedisAddress {
  std::string host;  // empty with a socket
  int port = 6379;
  std::string socket;  // path of a Unix socket
  int database = 0;
  std::string user;  // empty: the default user
  Secret password;   // empty: no authentication
};

// `redis://[[user]:password@]host[:port][/database]` or `unix://[[user]:password@]/path[?db=database]`, percent-encoded
// where needed. An error never holds the password.
Result<RedisAddress> parse_redis_url(std::string_view url);

// Claims, states and tasks in one Redis (6.0 or later), shared by all instances that use it. One thread of its own sends
// what has gathered in one go. It fails closed: while Redis is away, late, or refuses, every operation is an error, at once
// between two attempts to connect; attempts are apart by a random pause that grows to `reconnect_pause_max`. A claim
// whose answer was lost stands until it expires. What is kept lives as long as Redis keeps it: give it an append-only file,
// `maxmemory-policy noeviction`, and mind that asynchronous replicas may miss the last ones. The connection is not
// encrypted. Connects at the first use. Borrows the clock and the entropy.
Stores redis_stores(RedisAddress address, const Clock& clock, Entropy& entropy,
                    RedisOptions options = RedisOptions());

}  // namespace signet::store
