// The four patterns as one server on stdio.
#include "patterns.h"

#include <signet/transport/stdio_server.h>

int main() {
  signet::Server server(signet::ServerInfo("patterns", "1.0"));
  patterns::add_wizard(server);
  patterns::add_confirm_destructive(server);
  patterns::add_pick_from_list(server);
  patterns::add_login_by_url(server);
  return signet::serve_stdio(server).ok() ? 0 : 1;
}
