#include "tools/usage_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "tools/command_line.h"

namespace filereel {
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
  for (const Wording& one : kWordings) {
    const std::string_view name = before(text, one.separator);
    if (one.kind != kind || name.empty()) continue;
    return fmt::format(fmt::runtime(one.words), name, after(text, one.separator));
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
