#include "tools/cli/usage_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/jobs/job_options.h"
#include "tools/cli/command_line.h"
#include "tools/cli/table.h"

namespace filereel {
namespace {

// The options of a group that are no parameters of jobs.
struct OtherOptions {
  std::string_view title;
  std::string_view names;  // with blanks between them
};

constexpr OtherOptions kMeasuring[] = {
    {"What to measure", "--full --sweep"},
    {"Where to measure",
     "--near --far --against --against-far --control --fs --destroy --parts --keep"},
    {"How often", "--runs --precision --budget --sessions --every"},
    {"How to measure", "--allow-divergence --with-block-baseline"},
    {"Condition of the drive", ""},
    {"Several clients", "--reel-per-client --server-memory --client-timeout --stagger"},
    {"Output",
     "--json --resume --html --live --live-json --against-json --label --against-label --note "
     "--hide-serial --history --device --firmware"},
};

constexpr OtherOptions kRecording[] = {
    {"What to record", "--pid --under --duration --no-faults"},
    {"How to record", "--backend --memory --grace --all-processors"},
    {"Check of the recording", "--check --no-check --strict"},
    {"Output", "--output --exit-code"},
};

constexpr OtherOptions kComparing[] = {
    {"What to compare", "--base --new --group --fs --index --reference --self --history"},
    {"How to judge", "--threshold --stall --strict"},
    {"Output", "--all --json --junit"},
};

struct GroupedCommand {
  std::string_view command;
  std::span<const OtherOptions> groups;
};

constexpr std::array<GroupedCommand, 5> kCommands = {{{"run", kMeasuring},
                                                      {"replay", kMeasuring},
                                                      {"predict", kMeasuring},
                                                      {"record", kRecording},
                                                      {"compare", kComparing}}};

}  // namespace

std::vector<OptionGroup> option_groups(std::string_view command) {
  std::vector<OptionGroup> groups;
  const GroupedCommand* const found = find_or_null(kCommands, command, &GroupedCommand::command);
  if (!found) return groups;
  for (const auto& [title, names] : found->groups) {
    OptionGroup& group = groups.emplace_back(OptionGroup{title, {}});
    for (const JobParameter& parameter : job_parameters()) {
      if (parameter.group == title) group.options.push_back(parameter.option);
    }
    for (const auto word : std::views::split(names, ' ')) {
      group.options.emplace_back(word.begin(), word.end());
    }
  }
  return groups;
}

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
  for (const CLI::App* subcommand : command.get_subcommands(is_shown)) {
    rows += row(subcommand->get_name(), subcommand->get_description());
  }
  return rows;
}

std::string usage_line(const CLI::App& command, const std::string& name) {
  std::string text = "Usage: " + name;
  if (!options_of(command, false).empty()) text += " [OPTIONS]";
  for (const CLI::Option* option : options_of(command, true)) text += " " + usage_of(*option);
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

namespace {

// The command and subcommands found in the arguments, for a pointer to their help.
std::string command_path(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* command : app.get_subcommands()) path += " " + command_path(*command);
  return path;
}

// Names of the visible commands.
std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  const auto is_shown = [](const CLI::App* command) { return !command->get_group().empty(); };
  for (const CLI::App* command : app.get_subcommands(is_shown))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return did_you_mean(wrong, views);
}

// Suggestion for the first unrecognised word.
std::string nearest_expected(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) return "";
  const std::string word = left.front().substr(0, left.front().find('='));
  const CLI::App* command = &app;
  std::vector<std::string> options = options_of(app);
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    std::ranges::move(options_of(*command), std::back_inserter(options));
  }
  return suggestion(word, word.starts_with('-') ? options : commands_of(*command));
}

// CLI11 puts names into texts and nowhere else: what stands before `separator`; "" without it.
std::string_view before(std::string_view text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  return end == std::string_view::npos ? "" : text.substr(0, end);
}
std::string_view after(std::string_view text, std::string_view separator) {
  const std::size_t begin = text.find(separator);
  return begin == std::string_view::npos ? "" : text.substr(begin + separator.size());
}

std::string unexpected(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  const std::string word = left.empty() ? "" : left.front();
  return fmt::format("{} '{}'", word.starts_with('-') ? "unknown option" : "unexpected argument",
                     printable(word));
}

// How CLI11 separates the parts of its texts, and the words instead of them. A validator is
// filereel's own, and so is its text.
struct Wording {
  std::string_view kind;       // CLI::Error::get_name()
  std::string_view separator;  // between two parts
  fmt::string_view words;      // {0} and {1}: the parts
};
constexpr std::array kWordings = {
    Wording{"RequiredError", " is required", "{0} is missing"},
    Wording{"RequiresError", " requires ", "{0} needs {1}"},
    Wording{"ExcludesError", " excludes ", "{0} and {1} exclude each other: omit one of them"},
    Wording{"ValidationError", ": ", "{0}: {1}"},
    Wording{"ArgumentMismatch", ": At Most ", "{0} has too many values"},
    Wording{"ArgumentMismatch", ": ", "{0} needs a value"},
    Wording{"ArgumentMismatch", " was given ", "{0} takes no value"},
    Wording{"ConversionError", ": Should be true/false", "{0} takes no value"},
    Wording{"ConversionError", ": too many inputs", "{0} takes no value"},
};

std::string problem(const CLI::App& app, const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";
  const std::string_view text = error.what();
  const std::string kind = error.get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected(app);
  if (text == "A subcommand is required") return "name a command";
  if (text.starts_with(kConversion)) {
    const std::string_view parts = text.substr(kConversion.size());
    return fmt::format("{}: '{}' is not a valid value", before(parts, " = "),
                       printable(after(parts, " = ")));
  }
  for (const Wording& wording : kWordings) {
    const std::string_view name = before(text, wording.separator);
    if (wording.kind != kind || name.empty()) continue;
    return fmt::format(fmt::runtime(wording.words), name, after(text, wording.separator));
  }
  return "invalid arguments";
}

}  // namespace

void check_command(const CLI::App& app, std::string_view word) {
  const std::vector<std::string> names = commands_of(app);
  const auto is_it = [&](const CLI::App* command) { return command->get_name() == word; };
  if (word.starts_with('-') || !app.get_subcommands(is_it).empty()) return;
  throw Error(ErrorKind::usage, fmt::format("unknown command '{}'; see filereel --help{}",
                                            printable(word), suggestion(word, names)));
}

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  constexpr std::size_t kLongest = 500;  // message about an option's value
  return fmt::format("{}; see {} --help{}", one_line(problem(app, error), kLongest),
                     command_path(app), nearest_expected(app));
}

}  // namespace filereel
