#include "tools/completion/completion.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include "replay/engine/io_engine.h"
#include "replay/run/reel_run.h"
#include "replay/schedule/schedule.h"
#include "tools/commands.h"
#include "traces/operation.h"

namespace filereel {
namespace {

// Calls `visit` with each command and its path.
void each_command(const CLI::App& app, const std::string& path,
                  const std::function<void(const CLI::App&, const std::string&)>& visit) {
  visit(app, path);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    each_command(*command, path.empty() ? name : path + " " + name, visit);
  }
}

std::vector<std::string> words_of(const std::string& command, const std::string& argument) {
  return value_of(command, argument).value().words;
}

CompletedCommand small_command() {
  CompletedOption mode = {.names = {"-m", "--mode"},
                          .description = "The user's mode: one [of two]",
                          .value = CompletedValue{ValueKind::words, {"fast", "slow"}}};
  return {.name = "filereel",
          .description = "",
          .options = {},
          .positionals = {},
          .commands = {{.name = "go",
                        .description = "Go",
                        .options = {mode},
                        .positionals = {},
                        .commands = {}}}};
}

TEST_CASE("somebody has thought of what to offer for every option that takes a value") {
  CLI::App app("", "filereel");
  Session session;
  add_commands(app, session);
  each_command(app, "", [](const CLI::App& command, const std::string& path) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_items_expected_max() == 0) continue;
      const std::string name =
          option->get_positional() ? option->get_name() : "--" + option->get_lnames().at(0);
      CHECK_MESSAGE(value_of(path, name), "tools/completion/values.cc lacks ", path, " ", name);
    }
  });
}

TEST_CASE("commands, options and what belongs to them are those of the command line") {
  CLI::App app("", "filereel");
  Session session;
  add_commands(app, session);
  const CompletedCommand root = completed_command(app);
  const auto find = [](const auto& list, const std::string& name) {
    return std::ranges::find_if(list, [&](const auto& one) { return one.name == name; });
  };
  CHECK(find(root.commands, "completion") == root.commands.end());
  const auto run = find(root.commands, "run");
  REQUIRE(run != root.commands.end());
  CHECK(run->description.starts_with("Measure"));
  const auto near = std::ranges::find_if(
      run->options, [](const auto& one) { return one.names.back() == "--near"; });
  REQUIRE(near != run->options.end());
  CHECK(near->value->kind == ValueKind::volumes);
  const auto history = find(root.commands, "history");
  REQUIRE(history != root.commands.end());
  CHECK(history->positionals.at(0).name == "DIR");
  const auto add = find(history->commands, "add");
  REQUIRE(add != history->commands.end());
  CHECK(add->positionals.at(0).repeats);
}

TEST_CASE("the words that are offered are words that are understood") {
  for (const std::string& word : words_of("replay", "--order")) parse_order(word);
  for (const std::string& word : words_of("replay", "--pace")) parse_pace(word);
  for (const std::string& word : words_of("replay", "--verify")) parse_reel_verify(word);
  for (const std::string& word : words_of("run", "--copy-method")) parse_copy_method(word);
  for (const std::string& word : words_of("replay", "--engine")) {
    if (word != "auto") parse_engine(word);
  }
  CHECK(words_of("replay", "--order").size() == 3);
  CHECK_FALSE(value_of("run", "--no-such-option"));
}

TEST_CASE("texts are quoted as each shell wants it") {
  CHECK(single_quoted("it's") == R"('it'\''s')");
  const CompletedCommand root = small_command();
  CHECK(bash_completion(root).contains("'go:'--mode) _filereel_offer -W 'fast slow' ;;"));
  CHECK(zsh_completion(root).contains(
      R"('*--mode=[The user'\''s mode\: one \[of two\]]:mode:(fast slow)')"));
  CHECK(fish_completion(root).contains(
      R"(-s m -l mode -r -f -a 'fast slow' -d 'The user\'s mode: one [of two]')"));
}

}  // namespace
}  // namespace filereel
