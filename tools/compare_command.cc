// filereel compare: whether something became slower.
#include <memory>
#include <string>
#include <vector>

#include "filesets/system/error.h"
#include "tools/commands.h"
#include "tools/comparison_output.h"
#include "tools/result_file.h"

namespace filereel {
namespace {

struct CompareArguments {
  std::vector<std::string> files, base, fresh;
  ComparisonOutput output;
};

std::vector<Result> load_group(const std::vector<std::string>& files) {
  std::vector<Result> group;
  for (const std::string& file : files) group.push_back(load_result(file));
  return group;
}

void compare(CompareArguments arguments, Session& session) {
  check_output(arguments.output);
  if (arguments.files.size() > 2 || (arguments.files.size() == 1 && arguments.base.empty())) {
    throw Error(ErrorKind::usage,
                "compare takes two results, BASE.json and NEW.json; more of each: --base FILE "
                "--base FILE --new FILE");
  }
  if (arguments.files.size() == 2) {
    arguments.base.insert(arguments.base.begin(), arguments.files.front());
  }
  if (!arguments.files.empty()) {
    arguments.fresh.insert(arguments.fresh.begin(), arguments.files.back());
  }
  if (arguments.base.empty() || arguments.fresh.empty()) {
    throw Error(ErrorKind::usage, "compare needs two sides: filereel compare BASE.json NEW.json");
  }
  const std::vector<Result> base = load_group(arguments.base);
  const std::vector<Result> fresh = load_group(arguments.fresh);
  show_comparison(base, fresh, arguments.output, session);
}

}  // namespace

void add_compare_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("compare", "Say what became slower or faster");
  const auto arguments = std::make_shared<CompareArguments>();
  command
      ->add_option("RESULTS", arguments->files,
                   "BASE.json NEW.json, each a result; - for "
                   "standard input")
      ->type_name("");
  command->add_option("--base", arguments->base, "Another result of the base; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--new", arguments->fresh, "Another result of the new; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_comparison_options(*command, arguments->output);
  command->footer(
      "Exits with 4 if anything is slower, in time, tail or stalls; with --strict, with 5 if\n"
      "nothing is slower but something is undecided.\n\nExamples:\n"
      "  filereel compare before.json after.json --threshold 5%\n"
      "  filereel compare --base a1.json --base a2.json --new b1.json --new b2.json\n"
      "  filereel compare before.json after.json --junit filereel.xml");
  command->callback([arguments, &session] { compare(*arguments, session); });
}

}  // namespace filereel
