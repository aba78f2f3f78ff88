#include "tools/option_groups.h"

#include <array>
#include <iterator>
#include <ranges>
#include <span>

#include "replay/run/job_options.h"

#include "filesets/system/search.h"

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
    {"Several clients", "--reel-per-client --server-memory --client-timeout --stagger"},
    {"Output",
     "--json --html --live --live-json --against-json --label --against-label --note "
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
    for (const JobParameter& one : job_parameters()) {
      if (one.group == title) group.options.push_back(one.option);
    }
    for (const auto word : std::views::split(names, ' ')) {
      group.options.emplace_back(word.begin(), word.end());
    }
  }
  return groups;
}

}  // namespace filereel
