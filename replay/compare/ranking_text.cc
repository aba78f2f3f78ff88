#include "replay/compare/ranking_text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"

namespace filereel {
namespace {

std::string joined(const std::vector<std::size_t>& groups, std::span<const std::string> names) {
  std::vector<std::string> list;
  for (const std::size_t group : groups) list.push_back(names[group]);
  return fmt::format("{}", fmt::join(list, ", "));
}

// "btrfs slower than ext4, xfs": a part for each list of faster ones, short lists first.
std::string slower_of(const RankedMeasurement& one, std::vector<std::size_t> RankedEntry::* list,
                      std::span<const std::string> names) {
  const auto others = std::ranges::count(one.entries, true, &RankedEntry::comparable) - 1;
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> slower;
  for (const RankedEntry& entry : one.entries) {
    std::vector<std::size_t> faster = entry.*list;
    if (faster.empty()) continue;
    std::ranges::sort(faster);
    slower[std::move(faster)].push_back(entry.group);
  }
  std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> sorted(slower.begin(),
                                                                                    slower.end());
  std::ranges::stable_sort(sorted, {}, [](const auto& part) { return part.first.size(); });
  std::vector<std::string> parts;
  for (const auto& [faster, groups] : sorted) {
    const bool all = others > 1 && std::ssize(faster) == others;
    parts.push_back(fmt::format("{} slower than {}", joined(groups, names),
                                all ? "all others" : joined(faster, names)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

// "fastest: ext4; proven: btrfs slower than ext4, xfs".
std::string proven_of(const RankedMeasurement& one, std::span<const std::string> names) {
  const RankedEntry* fastest = one.fastest();
  return fmt::format("{}proven: {}",
                     fastest ? fmt::format("fastest: {}; ", names[fastest->group]) : "",
                     slower_of(one, &RankedEntry::faster, names));
}

// "indicated: btrfs slower than ext4, xfs; about 8 runs of each should decide"; "" for nothing.
std::string indicated_of(const RankedMeasurement& one, std::span<const std::string> names) {
  if (!one.indicates()) return "";
  std::string text = "indicated: " + slower_of(one, &RankedEntry::indicated, names);
  if (one.runs_needed) {
    text += fmt::format("; about {} of each should decide", counted(*one.runs_needed, "run"));
  }
  return text;
}

}  // namespace

std::string conclusion_text(const RankedMeasurement& one, const Ranking& ranking) {
  if (!one.comparable()) return "not compared";
  const std::string indicated = indicated_of(one, ranking.names);
  std::string text =
      one.decided() ? proven_of(one, ranking.names)
      : one.same    ? fmt::format("the same within {:.3g} %", ranking.options.threshold * 100)
                    : fmt::format("no ranking: {}", indicated.empty() ? "no significant difference"
                                                                      : "nothing is proven");
  if (!indicated.empty()) text += "; " + indicated;
  return text;
}

std::string promise_text(const Ranking& ranking) {
  std::string text = fmt::format("threshold {:.3g} %, at most 1 false order in {:.0f} rankings{}{}",
                                 ranking.options.threshold * 100, 1 / ranking.options.false_alarms,
                                 ranking.level.empty() ? "" : " ", ranking.level);
  if (std::ranges::any_of(ranking.measurements, &RankedMeasurement::has_ranks)) {
    text = "ranks overlap where no difference is proven; " + text;
  }
  if (std::ranges::any_of(ranking.measurements, &RankedMeasurement::indicates)) {
    text += "; where nothing differs, chance indicates up to 1 pair in 20";
  }
  return text;
}

}  // namespace filereel
