// filereel compare: reports what became slower or faster, or ranks more than two results.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/compare/comparison_formats.h"
#include "replay/compare/groups.h"
#include "replay/compare/index.h"
#include "replay/compare/ranking.h"
#include "replay/compare/self_comparison.h"
#include "replay/history/history.h"
#include "replay/results/file_systems.h"
#include "replay/results/work_names.h"
#include "tools/cli/commands.h"
#include "tools/cli/compare_table.h"
#include "tools/cli/comparison_output.h"
#include "tools/cli/ranking_table.h"
#include "tools/cli/result_file.h"

namespace filereel {
namespace {

struct CompareArguments {
  std::vector<std::string> files, base, fresh, groups, file_systems, indexes;
  std::string reference, history;
  bool self = false;
  ComparisonOutput output;
};

ResultGroup load_group(const std::vector<std::string>& files) {
  ResultGroup group{.name = {}, .results = {}, .files = files};
  for (const std::string& file : files) {
    std::vector<Result> results = load_results(file, ResultDetail::figures);
    if (results.size() > 1) {
      throw Error(ErrorKind::unusable_input,
                  fmt::format("{}: a prediction on {}: name it alone to rank them, or compare "
                              "results of `filereel replay --json` on one volume each",
                              printable(file), counted(results.size(), "volume")));
    }
    group.results.push_back(std::move(results.front()));
  }
  return group;
}

// The label, otherwise the file, both if the label is taken, and a number if they are, too.
std::string free_name(const std::string& label, const std::string& file,
                      const std::vector<ResultGroup>& groups) {
  const auto is_free = [&](const std::string& name) {
    return !contains(groups, name, &ResultGroup::name);
  };
  if (!label.empty() && is_free(label)) return label;
  const std::string name = label.empty() ? file : fmt::format("{} ({})", label, file);
  std::string numbered = name;
  for (int i = 2; !is_free(numbered); ++i) numbered = fmt::format("{} {}", name, i);
  return numbered;
}

// Groups results by label. A result without a label is a group of its own, named after its file,
// which tells results of one label on other volumes apart, too.
std::vector<ResultGroup> load_groups(const std::vector<std::string>& files) {
  std::vector<ResultGroup> groups;
  for (const std::string& file : files) {
    for (Result& result : load_results(file, ResultDetail::figures)) {
      auto group = std::ranges::find_if(groups, [&](const ResultGroup& result_group) {
        const Result& other = result_group.results.front();
        return result.label.empty() ? other.label.empty() && result_group.files.front() == file
                                    : other.label == result.label && same_volumes(other, result);
      });
      if (group == groups.end()) {
        group = groups.insert(groups.end(), {free_name(result.label, file, groups), {}, {}});
      }
      group->results.push_back(std::move(result));
      group->files.push_back(file);
    }
  }
  return groups;
}

// "NAME=VALUE,VALUE".
struct NamedList {
  std::string name;
  std::vector<std::string> values;
};

NamedList parse_list(const std::string& text, std::string_view option, std::string_view form) {
  const std::size_t equals = text.find('=');
  NamedList list{.name = text.substr(0, equals), .values = {}};
  for (std::size_t begin = equals; begin != std::string::npos;) {
    const std::size_t end = text.find(',', begin + 1);
    const std::size_t length = end == std::string::npos ? end : end - begin - 1;
    list.values.push_back(text.substr(begin + 1, length));
    begin = end;
  }
  const bool empty = std::ranges::any_of(list.values, &std::string::empty);
  if (!list.name.empty() && !list.values.empty() && !empty) return list;
  throw Error(ErrorKind::usage, fmt::format("{} '{}' must be {}", option, text, form));
}

// "NAME=PATTERN,PATTERN" or "NAME:METRIC=PATTERN,PATTERN".
IndexDefinition parse_index(const std::string& text) {
  NamedList list = parse_list(text, "--index", "NAME=PATTERN,PATTERN, such as 'reads=*read*'");
  IndexDefinition definition{.name = std::move(list.name), .patterns = std::move(list.values)};
  if (const std::size_t colon = definition.name.rfind(':'); colon != std::string::npos) {
    definition.metric = definition.name.substr(colon + 1);
    definition.name.resize(colon);
  }
  return definition;
}

// Throws Error(usage) for an invalid one, and for two of one name.
void check_indexes(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    std::string name = parse_index(text).name;
    if (contains(names, name)) {
      throw Error(ErrorKind::usage,
                  fmt::format("--index '{}': there is an index '{}' already", text, name));
    }
    names.push_back(std::move(name));
  }
}

ResultGroup parse_group(const std::string& text) {
  const NamedList list = parse_list(text, "--group", "NAME=FILE,FILE");
  ResultGroup group = load_group(list.values);
  group.name = list.name;
  return group;
}

std::optional<std::size_t> reference_of(const std::string& name,
                                        const std::vector<ResultGroup>& groups) {
  if (name.empty()) return std::nullopt;
  std::vector<std::string> names;
  std::optional<std::size_t> found;
  std::size_t count = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].name == name) return i;
    names.push_back(groups[i].name);
    if (!contains(groups[i].files, name)) continue;
    found = i;
    ++count;
  }
  if (count == 1) return found;
  throw Error(ErrorKind::usage,
              fmt::format("--reference '{}' is not among the compared results: {}", name,
                          fmt::join(names, "; ")));
}

// Two sides have those of their plans, or the named ones; a ranking always has some.
std::vector<Index> indexes_of(const CompareArguments& arguments,
                              const std::vector<ResultGroup>& groups,
                              std::optional<std::size_t> reference, bool is_ranking) {
  const MatchedGroups matched(groups);
  if (arguments.indexes.empty() && !is_ranking) return planned_indexes(matched, reference);
  if (arguments.indexes.empty()) return default_indexes(matched, reference);
  std::vector<Index> list;
  for (const std::string& text : arguments.indexes) {
    list.push_back(index_of(parse_index(text), matched, reference));
  }
  return list;
}

void check_file_systems(const std::vector<ResultGroup>& groups,
                        const std::vector<std::string>& file_systems) {
  for (const ResultGroup& group : groups) {
    const std::vector<std::string> there = file_systems_of(group.results);
    const bool any =
        file_systems.empty() ||
        std::ranges::any_of(file_systems, [&](const auto& one) { return contains(there, one); });
    if (any) continue;
    throw Error(ErrorKind::unusable_input,
                fmt::format("--fs {}: '{}' has {}; name one of its file systems",
                            fmt::join(file_systems, ","), fmt::join(group.files, ", "),
                            contents_text(group.results)));
  }
}

void rank(const CompareArguments& arguments, std::span<const ResultGroup> loaded,
          const Session& session) {
  if (arguments.output.strict || !arguments.output.junit.empty() || !arguments.history.empty()) {
    throw Error(ErrorKind::usage,
                "--strict, --junit and --history need two sides: name two results, or use --base "
                "and --new");
  }
  const bool whole = arguments.file_systems.empty() && share_file_systems(loaded);
  const std::vector<ResultGroup> groups =
      whole ? std::vector<ResultGroup>(loaded.begin(), loaded.end())
            : by_file_system(loaded, arguments.file_systems);
  if (groups.size() == 1) {
    throw Error(
        ErrorKind::unusable_input,
        fmt::format("nothing to compare: '{}' has {}; name a second result, or one with several "
                    "file systems",
                    fmt::join(groups.front().files, ", "), contents_text(groups.front().results)));
  }
  const Ranking ranking = rank_groups(groups, compare_options(arguments.output));
  if (!ranking.measurements.empty() && !ranking.comparable()) {
    const RankedMeasurement& first = ranking.measurements.front();
    const auto other = std::ranges::find(first.entries, false, &RankedEntry::comparable);
    throw Error(ErrorKind::unusable_input,
                fmt::format("nothing to compare: {}: {}: {}; use the same plan and options for all "
                            "runs",
                            key_name(first.key), ranking.names[other->group], other->reason));
  }
  if (ranking.measurements.empty()) {
    std::vector<std::string> parts;
    for (const ResultGroup& group : groups) {
      parts.push_back(fmt::format("{} has {}", group.name, contents_text(group.results)));
    }
    throw Error(ErrorKind::unusable_input,
                fmt::format("nothing to compare: {}; use the same plan and options for all runs",
                            fmt::join(parts, "; ")));
  }
  const std::vector<Index> indexes =
      indexes_of(arguments, groups, reference_of(arguments.reference, groups), true);
  if (arguments.output.json != "-") {
    session.print(format_ranking(ranking, indexes, session, STDOUT_FILENO, arguments.output.all));
  }
  if (!arguments.output.json.empty()) {
    session.print_to(arguments.output.json, ranking_to_json(ranking, indexes));
  }
}

// Reduces both sides to the file systems of --fs: one for each side, or one for both.
void choose_file_systems(std::array<ResultGroup, 2>& sides,
                         const std::vector<std::string>& file_systems) {
  if (file_systems.empty()) return;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::vector<std::string> name = {file_systems[std::min(i, file_systems.size() - 1)]};
    check_file_systems({sides[i]}, name);
    sides[i].results = std::move(by_file_system({&sides[i], 1}, name).front().results);
  }
}

void compare_sides(const CompareArguments& arguments, std::array<ResultGroup, 2> sides,
                   Session& session) {
  if (arguments.file_systems.size() > 2) {
    throw Error(ErrorKind::usage, "--fs with two sides: one file system for both, or BASE,NEW");
  }
  choose_file_systems(sides, arguments.file_systems);
  HistoryDirectory history;
  if (!arguments.history.empty()) history = read_history(arguments.history);
  // Under other names, earlier sessions would tell nothing of the spread.
  std::vector<Result*> all;
  for (HistoryEntry& entry : history.entries) all.push_back(&entry.result);
  for (ResultGroup& side : sides) {
    for (Result& result : side.results) all.push_back(&result);
  }
  name_alike(all);
  const IndexMaker indexes = [&](const ResultComparison& comparison) {
    std::vector<ResultGroup> groups(sides.begin(), sides.end());
    groups[0].name = comparison.base_name;
    groups[1].name = comparison.fresh_name;
    return indexes_of(arguments, groups, reference_of(arguments.reference, groups).value_or(0),
                      !arguments.reference.empty());
  };
  const std::vector<std::vector<Result>> earlier =
      other_sessions(history, sides[0].results, sides[1].results);
  show_comparison(sides[0].results, sides[1].results, arguments.output, session, earlier, indexes);
}

// Handles --base and --new. Two results on the command line are added to them.
void compare_named_sides(CompareArguments arguments, Session& session) {
  const std::vector<std::string>& files = arguments.files;
  if (!arguments.groups.empty()) {
    throw Error(ErrorKind::usage,
                "--group is for rankings, but --base and --new are for two sides");
  }
  if (files.size() > 2 || (files.size() == 1 && arguments.base.empty())) {
    throw Error(ErrorKind::usage, "--base and --new need two results: BASE.json NEW.json");
  }
  if (files.size() == 2) arguments.base.insert(arguments.base.begin(), files.front());
  if (!files.empty()) arguments.fresh.insert(arguments.fresh.begin(), files.back());
  if (arguments.base.empty() || arguments.fresh.empty()) {
    throw Error(ErrorKind::usage, "compare needs two sides: filereel compare BASE.json NEW.json");
  }
  compare_sides(arguments, {load_group(arguments.base), load_group(arguments.fresh)}, session);
}

// Differences of other volumes would be counted as false alarms.
void check_one_volume(const ResultGroup& sessions, const SelfComparison& self) {
  std::string what;
  for (std::size_t i = 1; i < sessions.results.size() && what.empty(); ++i) {
    const auto across =
        crossed_file_systems({&sessions.results.front(), 1}, {&sessions.results[i], 1});
    if (across) what = fmt::format("file system: {}, {}", across->base, across->fresh);
  }
  for (const Difference& difference : self.differences) {
    if (!what.empty() || difference.kind == ChangeKind::other) continue;
    what = difference.what;
    for (std::size_t i = 0; i < difference.values.size(); ++i) {
      what += fmt::format("{} {}", i == 0 ? ":" : ",", difference.values[i].text);
    }
  }
  if (what.empty()) return;
  throw Error(ErrorKind::unusable_input,
              fmt::format("the sessions are not of one volume ({}): --self needs sessions between "
                          "which nothing changed",
                          what));
}

void compare_self(const CompareArguments& arguments, const Session& session) {
  const bool sides = !arguments.base.empty() || !arguments.fresh.empty();
  if (sides || !arguments.groups.empty() || !arguments.indexes.empty() ||
      !arguments.reference.empty() || !arguments.history.empty() ||
      !arguments.file_systems.empty() || !arguments.output.junit.empty() ||
      arguments.output.strict) {
    throw Error(ErrorKind::usage,
                "--self takes results of one volume, --threshold, --stall and --json only");
  }
  if (arguments.files.size() < 2) {
    throw Error(ErrorKind::usage, "--self needs at least two sessions of the same volume");
  }
  ResultGroup group = load_group(arguments.files);
  name_alike({&group, 1});
  const SelfComparison self = compare_with_itself(group.results, compare_options(arguments.output));
  check_one_volume(group, self);
  if (self.measurements.empty()) {
    throw Error(ErrorKind::unusable_input,
                "nothing to compare: the sessions have no measurement of the same work in common; "
                "use the same plan and options for all");
  }
  if (arguments.output.json != "-") {
    session.print(format_self_comparison(self, session, STDOUT_FILENO));
  }
  if (!arguments.output.json.empty()) {
    session.print_to(arguments.output.json, self_comparison_to_json(self));
  }
}

void compare(const CompareArguments& arguments, Session& session) {
  check_output(arguments.output);
  if (arguments.self) return compare_self(arguments, session);
  check_indexes(arguments.indexes);
  const std::vector<std::string>& files = arguments.files;
  if (!arguments.base.empty() || !arguments.fresh.empty()) {
    compare_named_sides(arguments, session);
    return;
  }
  if (files.empty() && arguments.groups.empty()) {
    throw Error(ErrorKind::usage, "compare needs results: filereel compare BASE.json NEW.json");
  }
  if (files.size() == 2 && arguments.groups.empty() && arguments.file_systems.size() <= 2) {
    compare_sides(arguments, {load_group({files[0]}), load_group({files[1]})}, session);
    return;
  }
  std::vector<ResultGroup> groups = load_groups(files);
  std::ranges::transform(arguments.groups, std::back_inserter(groups), parse_group);
  name_alike(groups);
  check_file_systems(groups, arguments.file_systems);
  if (files.size() == 1 && arguments.groups.empty() && arguments.file_systems.size() == 2) {
    compare_sides(arguments, {groups.front(), groups.front()}, session);
    return;
  }
  rank(arguments, groups, session);
}

}  // namespace

void add_compare_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("compare", "Report what became slower or faster, or rank results");
  const auto arguments = std::make_shared<CompareArguments>();
  command->add_option(
      "RESULTS", arguments->files,
      "BASE.json NEW.json; more, or one with several file systems, for a ranking; - "
      "for standard input");
  command->add_option("--base", arguments->base, "Additional base result; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--new", arguments->fresh, "Additional new result; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--group", arguments->groups,
                   "Results to rank as one, NAME=FILE,FILE; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--fs", arguments->file_systems, "File systems to compare (BASE,NEW) or to rank")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--index", arguments->indexes,
                   "Index to calculate, NAME[:METRIC]=PATTERN,PATTERN; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--reference", arguments->reference,
                      "Label or file of the result with index 100 (the base)");
  command->add_flag("--self", arguments->self,
                    "Compare sessions of one volume between which nothing changed: false alarms, "
                    "and the smallest provable change");
  command->add_option("--history", arguments->history,
                      "Directory of `filereel history`: other sessions of the same volume, for the "
                      "spread between sessions");
  add_comparison_options(*command, arguments->output);
  command->footer(
      "Exits with 4 if a time, a tail or stalls are worse; with --strict, with 5 if\nnothing is "
      "worse but something is undecided. A ranking exits with 0.\n\nExamples:\n"
      "  filereel compare before.json after.json --threshold 5%\n"
      "  filereel compare --base a1.json --base a2.json --new b1.json --new b2.json\n"
      "  filereel compare before.json after.json --junit filereel.xml\n"
      "  filereel compare --self before-1.json before-2.json before-3.json\n"
      "  filereel compare drive.json --fs ext4,xfs\n"
      "  filereel compare a.json b.json c.json --index 'reads=*read*' --reference a.json");
  command->callback([arguments, &session] { compare(*arguments, session); });
}

}  // namespace filereel
