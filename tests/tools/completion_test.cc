#include "tools/cli/completion/completion.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include "replay/engine/engine_kind.h"
#include "replay/jobs/job_options.h"
#include "replay/plan/drive_parts.h"
#include "tools/cli/commands.h"
#include "tools/cli/reel_output.h"

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

std::vector<std::string> values_of(const std::string& command, const std::string& argument) {
  const ValueRule* rule = find_value_rule(command, argument);
  REQUIRE(rule != nullptr);
  std::vector<std::string> values;
  for (const Candidate& candidate : candidates_of(*rule)) values.push_back(candidate.text);
  return values;
}

std::string complete(const CLI::App& app, const std::vector<std::string>& words) {
  return complete_words(app, words);
}

TEST_CASE("the table of values has a line for every option that takes one") {
  CLI::App app("", "filereel");
  Session session;
  add_commands(app, session);
  each_command(app, "", [](const CLI::App& command, const std::string& path) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_items_expected_max() == 0) continue;
      CHECK_MESSAGE(find_value_rule(path, option->get_name()),
                    "tools/cli/completion/values.cc lacks ", path, " ", option->get_name());
    }
  });
}

TEST_CASE("the values that are offered are values that are understood") {
  for (const JobParameter& parameter : job_parameters()) {
    if (!parameter.candidates || parameter.key == "clients") continue;  // mpi is no value of jobs
    const std::vector<std::string> values = values_of("run", std::string(parameter.option));
    JobOptions options;
    if (parameter.has_list()) parameter.set(options, values);
    for (const std::string& value : values) {
      if (!parameter.has_list()) parameter.set(options, {&value, 1});
    }
  }
  CHECK(values_of("replay", "--order").size() == 3);
  CHECK(parse_drive_parts(values_of("run", "--parts")).size() == 3);
  for (const std::string& value : values_of("record", "--check")) checks_content(value);
  CHECK(find_value_rule("run", "--no-such-option") == nullptr);
}

TEST_CASE("a command line of any shape is completed") {
  CLI::App app("", "program");
  bool quiet = false;
  app.add_flag("-q,--quiet", quiet, "No [remarks]: none\nat all");
  app.fallthrough();
  std::string text;
  std::vector<std::string> list;
  CLI::App* go = app.add_subcommand("go", "Go");
  go->add_option("DIR", text, "Where");
  go->add_option("--order", text, "Which");
  go->add_option("--fs", list, "Which")->delimiter(',');
  go->add_subcommand("fast", "At once")->add_option("RESULTS", list, "");
  app.add_subcommand("secret", "")->group("");
  SUBCASE("commands, but not hidden ones") {
    CHECK(complete(app, {""}) == "go\tGo\n");
  }
  SUBCASE("options of a command and of those above, on one line each") {
    CHECK(complete(app, {"go", "--o"}) == "--order\tWhich\n");
    CHECK(complete(app, {"go", "d", "fast", "--q"}) == "--quiet\tNo [remarks]: none\n");
    CHECK(complete(app, {"--o"}).empty());
    CHECK(complete(app, {"go", "fast", "--o"}) == "--order\tWhich\n");
    CHECK(complete(app, {"--vers"}).empty());
    CHECK(complete(app, {"go", "--hel"}).starts_with("--help\t"));
  }
  SUBCASE("values, behind a blank or attached") {
    CHECK(complete(app, {"go", "--order", "s"}) == "strict\n");
    CHECK(complete(app, {"go", "--order=s"}) == "--order=strict\n");
    CHECK(complete(app, {"go", "--fs=xfs,nt"}) == "--fs=xfs,ntfs\n:nospace\n");
    CHECK_FALSE(complete(app, {"go", "--fs=xfs,"}).contains("xfs,xfs"));
    CHECK(complete(app, {"go", "--quiet=s"}).empty());
  }
  SUBCASE("arguments, then commands behind them") {
    CHECK(complete(app, {"go", "-q", ""}) == ":directories\t\n");
    CHECK(complete(app, {"go", "--order", "strict", "d", ""}) == "fast\tAt once\n");
    CHECK(complete(app, {"go", "d", "fast", "a", "b", "c"}) == ":files\t\n");
    CHECK(complete(app, {"go", "--", "d", ""}).empty());
    CHECK(complete(app, {"go", "--", "-"}) == ":directories\t\n");
  }
  SUBCASE("nothing where there is no command line") {
    CHECK(complete(app, {}).empty());
    CHECK(complete(app, {"stop", ""}).empty());
    CHECK(complete(app, {"secret", ""}).empty());
    CHECK(complete(app, {"go", "d", "slowly", ""}).empty());
  }
}

TEST_CASE("each shell has a stub") {
  for (const std::string& shell : values_of("completion", "SHELL")) {
    CHECK(completion_stub(shell).contains("__complete"));
  }
  CHECK(completion_stub("tcsh").empty());
}

}  // namespace
}  // namespace filereel
