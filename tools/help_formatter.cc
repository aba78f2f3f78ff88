#include "tools/help_formatter.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/option_groups.h"
#include "tools/table.h"

namespace filereel {
namespace {

// The number of values that CLI11 understands as "any number".
bool is_list(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

// A name and its description, which begins in a column of its own.
std::string row(const std::string& name, const std::string& text) {
  constexpr std::size_t kColumn = 28;
  const std::string start = "  " + name;
  const std::string gap =
      start.size() + 2 > kColumn ? "" : std::string(kColumn - start.size(), ' ');
  if (text.empty()) return start + "\n";
  if (!gap.empty()) return wrapped(start + gap + text, kColumn);
  return start + "\n" + wrapped(std::string(kColumn, ' ') + text, kColumn);
}

// "-o,--output". CLI11 marks a flag with a value of its own, such as --remove{false}.
std::string names_of(const CLI::Option& option) {
  std::string names = option.get_name(option.get_positional(), !option.get_positional());
  constexpr std::string_view kMark = "{false}";
  const std::size_t mark = names.find(kMark);
  if (mark != std::string::npos) names.erase(mark, kMark.size());
  return names;
}

std::string joined_names(std::string_view label, const std::set<CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options) text += " " + option->get_name();
  return text.empty() ? "" : fmt::format(" {}:{}", label, text);
}

// What follows the names: " FILE=default ... REQUIRED".
std::string value_of(const CLI::Option& option) {
  std::string text;
  if (option.get_type_size() != 0) {
    if (!option.get_type_name().empty()) text += " " + option.get_type_name();
    if (!option.get_default_str().empty()) text += "=" + option.get_default_str();
    if (is_list(option)) text += " ...";
    if (option.get_required()) text += " REQUIRED";
  }
  return text + joined_names("Needs", option.get_needs()) +
         joined_names("Excludes", option.get_excludes());
}

std::string usage_of(const CLI::Option& positional) {
  const std::string text = names_of(positional) + (is_list(positional) ? "..." : "");
  return positional.get_required() ? text : "[" + text + "]";
}

std::string section(std::string_view title, const std::string& rows) {
  return rows.empty() ? "" : fmt::format("\n{}:\n{}", title, rows);
}

// The visible options, or positionals.
std::vector<const CLI::Option*> options_of(const CLI::App& command, bool positionals) {
  return command.get_options([&](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional() == positionals;
  });
}

std::string option_rows(std::span<const CLI::Option* const> options) {
  std::string rows;
  for (const CLI::Option* option : options) {
    rows += row(names_of(*option) + value_of(*option), option->get_description());
  }
  return rows;
}

// The options by group, then those without one.
std::string option_sections(const CLI::App& command) {
  std::vector<const CLI::Option*> rest = options_of(command, false);
  std::string text;
  for (const auto& [title, names] : option_groups(command.get_name())) {
    std::vector<const CLI::Option*> list;
    for (const std::string_view name : names) {
      const auto found = std::ranges::find_if(
          rest, [&](const auto* one) { return one->check_name(std::string(name)); });
      if (found == rest.end()) continue;
      list.push_back(*found);
      rest.erase(found);
    }
    text += section(title, option_rows(list));
  }
  return text + section("Options", option_rows(rest));
}

std::string subcommand_rows(const CLI::App& command) {
  std::string rows;
  const auto is_shown = [](const CLI::App* one) { return !one->get_group().empty(); };
  for (const CLI::App* one : command.get_subcommands(is_shown)) {
    rows += row(one->get_name(), one->get_description());
  }
  return rows;
}

std::string usage_line(const CLI::App& command, const std::string& name) {
  std::string text = "Usage: " + name;
  if (!options_of(command, false).empty()) text += " [OPTIONS]";
  for (const CLI::Option* one : options_of(command, true)) text += " " + usage_of(*one);
  if (!subcommand_rows(command).empty()) {
    text += command.get_require_subcommand_min() == 0 ? " [SUBCOMMAND]" : " SUBCOMMAND";
  }
  return text + "\n";
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode /*mode*/) const override {
    return command->get_description() + "\n" + usage_line(*command, name) +
           section("Positionals", option_rows(options_of(*command, true))) +
           option_sections(*command) + section("Subcommands", subcommand_rows(*command)) + "\n" +
           command->get_footer() + "\n";
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

}  // namespace filereel
