#include "tools/option_groups.h"

#include <array>
#include <iterator>

#include "filesets/system/search.h"

namespace filereel {
namespace {

constexpr OptionGroup kMeasuring[] = {
    {"What to measure", "--set --operations --scale --time --full --sweep"},
    {"Where to measure",
     "--near --far --against --against-far --control --fs --destroy --parts --keep"},
    {"How often", "--runs --precision --budget --sessions --every"},
    {"How to measure",
     "--block-size --copy-method --copy-command --threads --pace --order --depth --engine --warm "
     "--owners --verify --stop-on-divergence --allow-divergence --with-block-baseline"},
    {"Several clients",
     "--clients --share --shift --reel-per-client --server-memory --client-timeout --stagger"},
    {"Output",
     "--json --html --live --live-json --against-json --label --against-label --note "
     "--hide-serial --history --device --firmware"},
};

constexpr OptionGroup kRecording[] = {
    {"What to record", "--pid --under --duration --no-faults"},
    {"How to record", "--backend --memory --grace --all-processors"},
    {"Check of the recording", "--check --no-check --strict"},
    {"Output", "--output --exit-code"},
};

constexpr OptionGroup kComparing[] = {
    {"What to compare", "--base --new --group --fs --index --reference --self --history"},
    {"How to judge", "--threshold --stall --strict"},
    {"Output", "--all --json --junit"},
};

struct GroupedCommand {
  std::string_view command;
  std::span<const OptionGroup> groups;
};

constexpr std::array<GroupedCommand, 5> kCommands = {{{"run", kMeasuring},
                                                      {"replay", kMeasuring},
                                                      {"predict", kMeasuring},
                                                      {"record", kRecording},
                                                      {"compare", kComparing}}};

}  // namespace

std::span<const OptionGroup> option_groups(std::string_view command) {
  const GroupedCommand* const found = find_or_null(kCommands, command, &GroupedCommand::command);
  return found ? found->groups : std::span<const OptionGroup>();
}

}  // namespace filereel
