#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "tools/completion/completion.h"

namespace filereel {
namespace {

CompletedOption option_of(const CLI::Option& option, const std::string& path) {
  CompletedOption completed;
  for (const std::string& name : option.get_snames()) completed.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) completed.names.push_back("--" + name);
  completed.description = option.get_description();
  if (option.get_items_expected_max() > 0) {
    completed.value = value_of(path, completed.names.back()).value_or(CompletedValue{});
  }
  return completed;
}

CompletedPositional positional_of(const CLI::Option& option, const std::string& path) {
  return {.name = option.get_name(),
          .description = option.get_description(),
          .value = value_of(path, option.get_name()).value_or(CompletedValue{}),
          .repeats = option.get_items_expected_max() > 1};
}

CompletedCommand command_of(const CLI::App& app, const std::string& path,
                            const std::vector<CompletedOption>& common) {
  CompletedCommand completed = {.name = app.get_name(),
                                .description = app.get_description(),
                                .options = {},
                                .positionals = {},
                                .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      completed.positionals.push_back(positional_of(*option, path));
    } else {
      completed.options.push_back(option_of(*option, path));
    }
  }
  completed.options.insert(completed.options.end(), common.begin(), common.end());
  std::vector<CompletedOption> passed_on = common;
  if (path.empty()) {
    std::ranges::copy_if(completed.options, std::back_inserter(passed_on), [](const auto& option) {
      return option.names.back() != "--help" && option.names.back() != "--version";
    });
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    const std::string& name = command->get_name();
    completed.commands.push_back(
        command_of(*command, path.empty() ? name : path + " " + name, passed_on));
  }
  return completed;
}

}  // namespace

CompletedCommand completed_command(const CLI::App& app) {
  return command_of(app, "", {});
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string single_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace filereel
