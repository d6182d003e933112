// Log in on a page. Passwords and payment must never pass through the client, so the person is sent to a page; "accepted"
// says only that the page was opened. Whether anybody logged in there, the server finds out by itself.
#include <mutex>
#include <set>
#include <string>

#include "patterns.h"

namespace patterns {
namespace {

using signet::Call;
using signet::ElicitResult;
using signet::Task;
using signet::ToolResult;

// Stands for what the login page writes when it is done.
class Logins {
 public:
  void add(const std::string& flow) {
    const std::lock_guard lock(mutex_);
    done_.insert(flow);
  }
  bool contains(const std::string& flow) const {
    const std::lock_guard lock(mutex_);
    return done_.contains(flow);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> done_;
};

Logins& logins() {
  static Logins logins;
  return logins;
}

Task<ToolResult> connect_account(Call& call) {
  if (!call.can_elicit_url())
    co_return signet::error("This client cannot open pages; log in at accounts.example.com.");

  // The flow id is the same in all rounds, and nobody can guess it. A new call would have another one, so whoever was too
  // quick is asked again within this one.
  const std::string url = "https://accounts.example.com/login?flow=" + call.flow_id();
  std::string message = "Please log in to your account.";
  for (int visit = 1; visit <= 3; ++visit) {
    const std::string key = "login" + std::to_string(visit);
    ElicitResult visited = co_await call.elicit_url(key, message, url);
    if (!visited.accepted()) co_return signet::text("Not connected.");
    if (logins().contains(call.flow_id())) co_return signet::text("Connected.");
    message = "Nobody has logged in yet. Please log in, and go on when you are done.";
  }
  co_return signet::error("Nobody has logged in.");
}

struct Login {
  std::string flow;
};

}  // namespace

void add_login_by_url(signet::Server& server) {
  server.tool("connect_account", "Connects an account.", connect_account);
  // In place of the page, so that this example can be tried.
  server.tool("pretend_login", "Does what the login page would do.", [](Login login) {
    logins().add(login.flow);
    return signet::text("Logged in.");
  });
}

}  // namespace patterns
