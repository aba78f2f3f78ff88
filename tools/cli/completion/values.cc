// Table of option values: every option that takes a value needs an entry, unless it is a parameter
// of jobs. Candidates come from their definitions. The few words listed here belong to parsers, and
// tests check that these accept them.
#include <algorithm>
#include <iterator>
#include <ranges>

#include <fmt/format.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/plan/catalogue.h"
#include "replay/plan/drive_parts.h"
#include "replay/volumes/file_system.h"
#include "tools/cli/completion/completion.h"
#include "traces/catalogue_reel.h"
#include "traces/export/exporters.h"
#include "traces/import/importers.h"
#include "traces/record/recorder.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

using Candidates = std::vector<Candidate>;

template <class List>
Candidates named(const List& list) {
  Candidates candidates;
  for (const auto& one : list) {
    Candidate& candidate = candidates.emplace_back(std::string(one.name));
    if constexpr (requires { one.description; }) candidate.description = one.description;
  }
  return candidates;
}

Candidates runnables() {
  Candidates candidates = named(list_catalogue_plans());
  std::ranges::move(named(list_catalogue_workloads()), std::back_inserter(candidates));
  std::ranges::move(named(list_catalogue_file_sets()), std::back_inserter(candidates));
  return candidates;
}

// Block devices of non-zero size, which leaves out unused loop devices.
Candidates block_devices() {
  constexpr std::uint64_t kSector = 512;
  Candidates candidates;
  for (const std::string& name : names_at("/sys/class/block")) {
    const std::string text = read_sysfs("/sys/class/block/" + name + "/size");
    std::string_view rest = text;
    std::uint64_t sectors = 0;
    if (!take_number(rest, sectors) || sectors == 0) continue;
    candidates.emplace_back("/dev/" + name, format_size(sectors * kSector));
  }
  std::ranges::sort(candidates, {}, &Candidate::text);
  return candidates;
}

Candidates file_sets() {
  return find_job_parameter("sets")->candidates();
}
Candidates known_file_systems() {
  return named(file_systems());
}
Candidates reels() {
  return named(reel_catalogue());
}
Candidates import_formats() {
  return named(importers());
}
Candidates export_formats() {
  return named(exporters());
}

Candidates backends() {
  return named(recorder_backends());
}
Candidates drive_parts() {
  return candidates_of(drive_part_names());
}
Candidates shells() {
  return candidates_of(completion_shells());
}

using enum ValueKind;

// The first matching rule applies.
constexpr ValueRule kRules[] = {
    {"NAME", "NAME", files, {}, runnables, "show"},
    {"REEL REELS", "REEL", files, {}, reels},
    {"--format", "FORMAT", words, "auto", import_formats, "import"},
    {"--format", "FORMAT", words, {}, export_formats, "export"},
    {"--against --against-far --control --far --near VOLUME VOLUMES", "VOLUME", volumes,
     "image:", block_devices},
    {"--against-json --csv --html --json --junit --live-json --markdown --resume"
     " --output --base --new FILE RESULT RESULTS",
     "FILE", files},
    {"--reference", "NAME", files},
    {"--backend", "BACKEND", words, "auto", backends},
    {"--check", "WHAT", words, "tree content"},
    {"--cwd --at --under --compare-with --history DIR", "DIR", directories},
    {"--destroy", "DEVICE", files, {}, block_devices},
    {"--fs", "FS", words, {}, known_file_systems},
    {"--initial SET", "SET", files, {}, file_sets},
    {"--parts", "PART", words, {}, drive_parts},
    {"--runs", "N|auto", words, "auto"},
    {"COMMAND", "COMMAND", command},
    {"NAMES", "NAME", files, {}, runnables},
    {"SHELL", "SHELL", words, {}, shells},
    // Values without candidates.
    {"--sessions --thread --times", "N", words},
    {"--pid", "PID", words},
    {"--memory --server-memory", "SIZE", words},
    {"--budget --client-timeout --duration --every --from --grace --stagger --stall --to", "TIME",
     words},
    {"--precision --threshold", "PERCENT", words},
    {"--scale", "FACTOR", words},
    {"--sweep", "KEY=VALUES", words},
    {"--group", "NAME=FILES", words},
    {"--index", "NAME=PATTERNS", words},
    {"--against-label --device --label", "NAME", words},
    {"--firmware", "VERSION", words},
    {"--key --measurement --note", "TEXT", words},
    {"--path", "PATH", words},
    {"A B WORDS", "WORD", words},
};

bool has_word(std::string_view words, std::string_view word) {
  return fmt::format(" {} ", words).contains(fmt::format(" {} ", word));
}

std::vector<ValueRule> rules_of_parameters() {
  std::vector<ValueRule> rules;
  for (const JobParameter& parameter : job_parameters()) {
    if (parameter.value_name.empty()) continue;
    rules.push_back({.arguments = parameter.option,
                     .value = parameter.value_name,
                     .kind = parameter.takes_files ? files : words,
                     .names = parameter.candidates});
  }
  return rules;
}

}  // namespace

const ValueRule* find_value_rule(std::string_view command, std::string_view argument) {
  static const std::vector<ValueRule> of_parameters = rules_of_parameters();
  const auto fits = [&](const ValueRule& rule) {
    return (rule.command.empty() || rule.command == command) && has_word(rule.arguments, argument);
  };
  const ValueRule* const found = find_if_or_null(kRules, fits);
  return found ? found : find_if_or_null(of_parameters, fits);
}

std::vector<Candidate> candidates_of(const ValueRule& rule) {
  std::vector<Candidate> candidates;
  for (const auto word : std::views::split(rule.words, ' ')) {
    candidates.emplace_back(std::string(word.begin(), word.end()));
  }
  if (rule.names != nullptr) std::ranges::move(rule.names(), std::back_inserter(candidates));
  return candidates;
}

}  // namespace filereel
