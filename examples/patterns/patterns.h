// Four ways to talk with the person in the middle of a call. Each file is one of them, and stands alone.
#pragma once

#include <signet/signet.h>

namespace patterns {

void add_wizard(signet::Server& server);  // several forms, the later ones made from the earlier answers
void add_confirm_destructive(signet::Server& server);  // nothing happens before somebody said so
void add_pick_from_list(signet::Server& server);       // choices that are computed, and stay the same
void add_login_by_url(signet::Server& server);         // what must not pass through the client

}  // namespace patterns
