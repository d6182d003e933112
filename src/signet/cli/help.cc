#include <signet/cli/help.h>

#include <signet/cli/shown_text.h>

namespace signet::cli {
namespace {

constexpr std::size_t name_columns = 24;
constexpr std::size_t row_columns = 100;

std::string entry(const std::string& name, const std::string& description) {
  const std::string indent(name_columns, ' ');
  std::string first = "  " + name;
  const bool fits = first.size() + 2 <= name_columns;
  const std::string above = fits ? "" : first + "\n";
  first.resize(name_columns, ' ');
  std::string rows = above + framed(description, Frame(fits ? first : indent, indent, row_columns));
  for (std::size_t at = 0; (at = rows.find(" \n", at)) != std::string::npos;) rows.erase(at, 1);
  return rows;
}

}  // namespace

std::string Help::make_option(const CLI::Option* option, bool) const {
  std::string name = option->get_name(false, true);
  if (option->get_items_expected_max() > 0) name += " " + option->get_type_name();
  return entry(name, option->get_description());
}

std::string Help::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description());
}

}  // namespace signet::cli
