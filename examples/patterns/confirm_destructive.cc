// Confirm, then destroy. The answer counts only together with the sealed state of a question that was really put, so a
// client cannot send a "yes" ahead; and with a redemption store a "yes" counts once.
#include <string>

#include "patterns.h"

namespace patterns {
namespace {

using signet::Call;
using signet::ElicitResult;
using signet::Field;
using signet::Task;
using signet::ToolOptions;
using signet::ToolResult;

struct Project {
  std::string name;
};

Task<ToolResult> delete_project(Call& call, Project project) {
  if (!call.can_elicit())
    co_return signet::error("Deleting needs a person's confirmation, and this client cannot ask.");

  auto question =
      signet::form("Delete the project " + project.name + " and all that is in it? This cannot be undone.")
          .string("name", Field().title("Type its name to confirm"));
  ElicitResult answer = co_await call.elicit("confirm", question);
  if (!answer.accepted()) co_return signet::text("Nothing was deleted.");
  if (answer.string("name") != project.name)
    co_return signet::text("That is another name. Nothing was deleted.");

  co_return signet::text("Deleted " + project.name + ".");
}

}  // namespace

void add_confirm_destructive(signet::Server& server) {
  server.tool("delete_project", "Deletes a project, after a confirmation.", delete_project,
              ToolOptions().destructive());
}

}  // namespace patterns
