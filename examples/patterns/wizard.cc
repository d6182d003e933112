// A wizard: forms one after another. Each question returns in the line where it is asked, so the answers are ordinary
// variables, and the later questions are made from them. Forms come from C++ types.
#include <string>
#include <vector>

#include "patterns.h"

namespace patterns {
namespace {

using signet::Call;
using signet::Elicited;
using signet::Task;
using signet::ToolResult;

struct Trip {
  std::string destination;
  int nights;
};
struct Traveller {
  std::string name;
  std::string email;
};

Task<ToolResult> book_trip(Call& call) {
  Elicited<Trip> trip = co_await call.elicit<Trip>("trip", "Where to, and for how many nights?");
  if (!trip.accepted()) co_return signet::text("Nothing was booked.");

  Elicited<Traveller> traveller =
      co_await call.elicit<Traveller>("traveller", "Who travels to " + trip->destination + "?");
  if (!traveller.accepted()) co_return signet::text("Nothing was booked.");

  // Only where it matters: a question that is not reached is not asked.
  std::string room = "a room";
  if (trip->nights > 7) {
    auto question = signet::form("A stay of more than a week: with a kitchen?").boolean("kitchen");
    signet::ElicitResult answer = co_await call.elicit("kitchen", question);
    if (answer.boolean("kitchen")) room = "a flat";
  }

  // The last answer is there: from here on the handler runs once, so this is the place to act.
  co_return signet::text("Booked " + room + " in " + trip->destination + " for " + traveller->name + ", " +
                         std::to_string(trip->nights) + " nights.");
}

}  // namespace

void add_wizard(signet::Server& server) {
  server.tool("book_trip", "Books a trip, step by step.", book_trip);
}

}  // namespace patterns
