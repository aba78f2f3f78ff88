#include "replay/compare/comparison_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/compare/comparison.h"
#include "replay/compare/sessions.h"

namespace filereel {
namespace {

// The replay parameters in the keys of recorded traces, in addition to the sweep's.
constexpr std::array<std::string_view, 6> kReplayParameters = {"order", "pace",   "engine",
                                                               "depth", "verify", "clients"};

std::string basis_text(Basis basis, const std::string& machine) {
  switch (basis) {
    case Basis::in_turns:
      return "in turns, by pairs";
    case Basis::control:
      return "between sessions, with a control volume";
    case Basis::sessions:
      return "between sessions, by the spread of several on a side";
    case Basis::history:
      return "between sessions, by their spread in the history";
    case Basis::assumption:
      break;
  }
  return fmt::format(
      "between sessions, assuming that those of a quiet {} differ by {:.0f} %, of a busy one "
      "by more",
      machine == "physical"    ? "physical machine"
      : machine == "container" ? "container"
                               : "virtual machine",
      assumed_spread(machine, Aspect::time, 0) * 100);
}

}  // namespace

std::string_view basis_name(Basis basis) {
  static constexpr std::array<std::string_view, 5> kNames = {"in turns", "control", "sessions",
                                                             "history", "assumption"};
  return kNames[static_cast<std::size_t>(basis)];
}

std::string level_text(std::span<const Basis> bases, const std::string& machine) {
  std::vector<std::string> parts;
  for (const Basis basis :
       {Basis::in_turns, Basis::control, Basis::sessions, Basis::history, Basis::assumption}) {
    const auto count = std::ranges::count(bases, basis);
    if (count == 0) continue;
    std::string part = basis_text(basis, machine);
    if (count < std::ssize(bases)) part += fmt::format(" ({} of {})", count, bases.size());
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string level_of(const ResultComparison& comparison) {
  std::vector<Basis> bases;
  for (const ComparedMeasurement& compared : comparison.measurements) {
    if (compared.time.p) bases.push_back(compared.time.basis);
  }
  return level_text(bases, comparison.machine);
}

std::string_view interval_name(const ResultComparison& comparison) {
  const bool assumed = std::ranges::any_of(comparison.measurements, [](const auto& one) {
    return one.time.p && one.time.basis == Basis::assumption;
  });
  return assumed ? kBetweenSessions : kMeasuredInterval;
}

std::string promise_text(const ResultComparison& comparison) {
  const std::string level = level_of(comparison);
  if (level.empty()) return "nothing was compared";
  return fmt::format("at most 1 false alarm in {:.0f} comparisons {}",
                     1 / comparison.options.false_alarms, level);
}

std::string basis_of_changes(const ResultComparison& comparison) {
  const auto differs = [&](const ComparedMeasurement& compared) {
    const double of_medians = compared.fresh.median / compared.base.median;
    return compared.time.p && std::abs(std::log(compared.time.ratio / of_medians)) >
                                  std::log1p(comparison.options.threshold);
  };
  const auto found = std::ranges::find_if(comparison.measurements, differs);
  if (found == comparison.measurements.end()) return "";
  switch (found->time.basis) {
    case Basis::in_turns:
      return "change: the mean over the turns, not that of the medians";
    case Basis::control:
      return "change: without that of the control volume";
    case Basis::sessions:
      return "change: the mean over the sessions, not that of the medians";
    case Basis::history:
    case Basis::assumption:
      break;
  }
  return "change: the median over all pairs of runs, not that of the medians";
}

std::string control_text(const ControlUse& control) {
  if (!control.used) return "";
  constexpr double kVisible = 0.5;
  const double percent = std::abs(control.change() - 1) * 100;
  if (percent < kVisible) {
    return "the machine did not change between the sessions (control volume)";
  }
  return fmt::format(
      "the machine became {:.0f} % {} between the sessions (control volume{}); "
      "corrected",
      percent, control.change() > 1 ? "slower" : "faster",
      control.changed() ? "" : ", not certain");
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::cannot_tell:
      break;
  }
  return "cannot tell";
}

std::string_view aspect_name(Aspect aspect) {
  static constexpr std::array<std::string_view, 3> kNames = {"time", "tail", "stalls"};
  return kNames[static_cast<std::size_t>(aspect)];
}

std::string_view figure_name(Figure figure) {
  switch (figure) {
    case Figure::durable:
      return "time until durable";
    case Figure::elapsed:
      return "elapsed time";
    case Figure::per_operation:
      return "time per operation";
    case Figure::in_calls:
      break;
  }
  return "time in calls";
}

std::string_view change_kind_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::firmware:
      return "firmware";
    case ChangeKind::file_system:
      return "file system";
    case ChangeKind::drive:
      return "drive";
    case ChangeKind::other:
      break;
  }
  return "other";
}

MeasurementKey key_of(const Measurement& measurement) {
  MeasurementKey key{measurement.kind,      measurement.workload,    measurement.set,
                     measurement.operation, measurement.file_system, measurement.parameters};
  if (const auto& replay = measurement.replay) {
    const std::array<std::string, kReplayParameters.size()> how = {
        replay->order,  replay->pace,
        replay->engine, std::to_string(replay->depth),
        replay->verify, std::to_string(replay->clients)};
    for (std::size_t i = 0; i < how.size(); ++i) {
      key.parameters.emplace_back(kReplayParameters[i], how[i]);
    }
  }
  return key;
}

Parameters shared_replay(std::span<const MeasurementKey> keys) {
  std::optional<Parameters> shared;
  for (const MeasurementKey& key : keys) {
    if (!info_of(key.kind).replays) continue;
    if (!shared) shared = key.parameters;
    std::erase_if(*shared, [&](const auto& one) {
      return !contains(kReplayParameters, one.first) || !contains(key.parameters, one);
    });
  }
  return shared.value_or(Parameters{});
}

Parameters own_replay(const MeasurementKey& key, const Parameters& shared) {
  Parameters own = shared_replay({&key, 1});
  std::erase_if(own, [&](const auto& one) { return contains(shared, one); });
  return own;
}

std::string key_text(const MeasurementKey& key, const Parameters& without) {
  std::vector<std::string> parts;
  parts.push_back(key.workload);
  if (key.set != key.workload) parts.push_back(key.set);  // the same for traces
  parts.push_back(key.operation);
  parts.push_back(key.file_system);
  std::erase(parts, "");
  for (const auto& parameter : key.parameters) {
    const bool is_shared = info_of(key.kind).replays && contains(without, parameter);
    if (!is_shared) parts.push_back(fmt::format("{}={}", parameter.first, parameter.second));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string key_name(const MeasurementKey& key) {
  return key_text(key, shared_replay({&key, 1}));
}

std::string undecided_text(const ComparedMeasurement& compared) {
  if (!compared.more_runs) return compared.reason();
  return fmt::format("{}; about {} on each side should decide", compared.reason(),
                     counted(*compared.more_runs, "more run", "more runs"));
}

std::string verdict_text(const ComparedMeasurement& compared) {
  if (!compared.comparable) return "not compared";
  if (const auto change = compared.indicated()) {
    const Aspect aspect = compared.indicating();
    return fmt::format("{} indicated{}", verdict_name(*change),
                       aspect == Aspect::time ? "" : fmt::format(" ({})", aspect_name(aspect)));
  }
  std::string text(verdict_name(compared.verdict));
  if (compared.verdict != Verdict::slower && compared.verdict != Verdict::faster) return text;
  if (compared.aspect != Aspect::time) text += fmt::format(" ({})", aspect_name(compared.aspect));
  return text;
}

namespace {

std::string joined(const std::vector<std::size_t>& groups, std::span<const std::string> names) {
  std::vector<std::string> list;
  for (const std::size_t group : groups) list.push_back(names[group]);
  return fmt::format("{}", fmt::join(list, ", "));
}

// "btrfs slower than ext4, xfs": a part for each list of faster ones, short lists first.
std::string slower_of(const RankedMeasurement& ranked, std::vector<std::size_t> RankedEntry::* list,
                      std::span<const std::string> names) {
  const auto others = std::ranges::count(ranked.entries, true, &RankedEntry::comparable) - 1;
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> slower;
  for (const RankedEntry& entry : ranked.entries) {
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
std::string proven_of(const RankedMeasurement& ranked, std::span<const std::string> names) {
  const RankedEntry* fastest = ranked.fastest();
  return fmt::format("{}proven: {}",
                     fastest ? fmt::format("fastest: {}; ", names[fastest->group]) : "",
                     slower_of(ranked, &RankedEntry::faster, names));
}

// "indicated: btrfs slower than ext4, xfs; about 8 runs of each should decide"; "" for nothing.
std::string indicated_of(const RankedMeasurement& ranked, std::span<const std::string> names) {
  if (!ranked.indicates()) return "";
  std::string text = "indicated: " + slower_of(ranked, &RankedEntry::indicated, names);
  if (ranked.runs_needed) {
    text += fmt::format("; about {} of each should decide", counted(*ranked.runs_needed, "run"));
  }
  return text;
}

}  // namespace

std::string conclusion_text(const RankedMeasurement& ranked, const Ranking& ranking) {
  if (!ranked.comparable()) return "not compared";
  const std::string indicated = indicated_of(ranked, ranking.names);
  std::string text =
      ranked.decided() ? proven_of(ranked, ranking.names)
      : ranked.same    ? fmt::format("the same within {:.3g} %", ranking.options.threshold * 100)
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
