// Pick one of several. The list is looked up once per flow: `step` keeps it with the sealed state, so that what the
// person chose from is what the answer is looked up in, even if the world has changed meanwhile.
#include <string>
#include <vector>

#include "patterns.h"

namespace patterns {
namespace {

using signet::Call;
using signet::ElicitResult;
using signet::Option;
using signet::Task;
using signet::ToolResult;

struct Room {
  std::string id;
  std::string title;
};
struct Meeting {
  int people;
};

// Stands for a query that gives another answer every time.
std::vector<Room> free_rooms(int people) {
  std::vector<Room> rooms{Room{"r1", "Oak, for four"}, Room{"r2", "Elm, for eight"},
                          Room{"r3", "Ash, for twenty"}};
  if (people > 4) rooms.erase(rooms.begin());
  return rooms;
}

Task<ToolResult> reserve_room(Call& call, Meeting meeting) {
  auto look_up = [people = meeting.people] { return free_rooms(people); };
  const std::vector<Room> rooms = co_await call.step("rooms", look_up);
  if (rooms.empty()) co_return signet::text("No room is free.");

  std::vector<Option> choices;
  for (const Room& room : rooms) choices.emplace_back(room.id, room.title);
  auto question = signet::form("Which room?").choice("room", choices);
  ElicitResult answer = co_await call.elicit("room", question);
  if (!answer.accepted()) co_return signet::text("No room was reserved.");

  co_return signet::text("Reserved " + answer.string("room") + ".");
}

}  // namespace

void add_pick_from_list(signet::Server& server) {
  server.tool("reserve_room", "Reserves one of the free rooms.", reserve_room);
}

}  // namespace patterns
