#include "replay/report/figures.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/results/failures.h"
#include "replay/statistics/summary.h"
#include "traces/fc_test.h"

namespace filereel {

std::string sentence_of(std::string text, std::string_view end) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text.ends_with('.') ? text : text.append(end);
}

std::string figure_text(Unit unit, double figure) {
  constexpr double kSmall = 0.1;
  switch (unit) {
    case Unit::seconds:
      return format_duration(figure);
    case Unit::microseconds:
      return format_duration(figure * 1e-6);
    case Unit::share:
      return figure < kSmall ? fmt::format("{:.1f} %", figure * 100) : share_text(figure);
    case Unit::mb_per_s:
    case Unit::per_second:
      break;
  }
  return format_number(figure);
}

Interval range_of(const Spread& spread) {
  return spread.interval.value_or(Interval{spread.low, spread.high});
}

std::string share_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string describe_runs(const Result& result) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0, precise = 0, all = 0;
  std::set<std::string> ends;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.samples.empty()) continue;
    ++all;
    least = std::min(least, measurement.samples.size());
    most = std::max(most, measurement.samples.size());
    if (measurement.runs_ended == "precise") ++precise;
    ends.insert(measurement.runs_ended);
  }
  if (all == 0) return "no runs";
  std::string text = least == most ? counted(most, "run", "runs") + " each"
                                   : fmt::format("{} to {} runs each", least, most);
  const std::optional<AutoRuns>& automatic = result.plan.auto_runs;
  if (!automatic) return text;
  text += fmt::format(", intervals of {} within {:.3g} %", counted_of(precise, all, "measurement"),
                      automatic->width * 100);
  if (ends.contains("budget")) {
    text += fmt::format(" (no further one fits into the budget of {})",
                        format_duration(automatic->budget_s));
  }
  if (ends.contains("most")) {
    text += fmt::format(" (limit of {} reached)", counted(automatic->most, "run", "runs"));
  }
  return text;
}

std::vector<std::string> describe_settings(const Result& result) {
  std::vector<std::pair<std::string, std::string>> groups;  // settings, names
  for (const JobRecord& job : result.plan.jobs) {
    const std::string text = settings_text(job, result.volumes);
    const auto same = std::ranges::find(groups, text, &std::pair<std::string, std::string>::first);
    if (same == groups.end()) {
      groups.emplace_back(text, job.name);
    } else {
      same->second += ", " + job.name;
    }
  }
  std::vector<std::string> list;
  for (const auto& [how, names] : groups) {
    list.push_back(groups.size() > 1 ? fmt::format("{}: {}", names, how) : how);
  }
  return list;
}

std::string divergences_text(const Measurement& measurement) {
  const Differences all = differences_of(measurement);
  return all.results == 0 ? "0" : fmt::format("{} of {}", all.results, all.operations);
}

std::string differing_text(const Measurement& measurement) {
  const Differences all = differences_of(measurement);
  return fmt::format("{} {}{}", counted_of(all.results, all.operations, "result"),
                     agreeing(all.results, "differs", "differ"), in_runs(all));
}

std::string in_runs(const Differences& all) {
  return all.runs < 2 ? "" : fmt::format(" in {}", counted(all.runs, "run"));
}

std::string clients_text(std::span<const Measurement* const> measurements) {
  std::set<std::size_t> clients, hosts;
  for (const Measurement* measurement : measurements) {
    for (const Sample& sample : measurement->samples) {
      if (!sample.clients) continue;
      std::set<std::string_view> names;
      for (const ClientFigures& client : sample.clients->each) names.insert(client.host);
      clients.insert(sample.clients->each.size());
      hosts.insert(names.size());
    }
  }
  if (clients.empty() || *clients.rbegin() < 2) return "";
  const auto counted_text = [](const std::set<std::size_t>& counts, std::string_view what) {
    const std::size_t least = *counts.begin(), most = *counts.rbegin();
    const std::string range = least < most ? fmt::format("{} to ", least) : "";
    return range + counted(most, what);
  };
  return counted_text(clients, "client") + " on " + counted_text(hosts, "host");
}

std::string step_of(const Measurement& measurement) {
  const bool usual = measurement.workload == info_of(measurement.kind).name;
  return (usual ? "" : measurement.workload + " ") + measurement.operation +
         point_text(measurement.parameters);
}

std::string title_of(const WorkRecord& work) {
  if (work.set.empty()) return work.job;
  const bool usual = std::ranges::any_of(job_kinds(), [&](JobKind kind) {
    return info_of(kind).by_set && work.job == info_of(kind).name;
  });
  return usual ? work.set : fmt::format("{} {}", work.job, work.set);
}

std::string subject_of(const Measurement& measurement) {
  const JobKindInfo& kind = info_of(measurement.kind);
  if (kind.by_set) return fmt::format("{} {}", step_of(measurement), measurement.set);
  std::string text = measurement.workload;
  if (!kind.replays && measurement.operation != text) text += " " + measurement.operation;
  return text + point_text(measurement.parameters);
}

namespace {

// A figure of an FC-Test measurement, input of a mean.
struct FigureOfSet {
  std::string set;
  double rate = 0;
  bool of_files = false;
};

std::optional<FigureOfSet> figure_of(const Measurement& measurement) {
  const Summary summary = measurement.summary();
  if (summary.mb_per_s) return FigureOfSet{measurement.set, summary.mb_per_s->median, false};
  if (summary.files_per_s && measurement.operation == fc_step_name(FcStep::remove)) {
    return FigureOfSet{measurement.set, summary.files_per_s->median, true};
  }
  return std::nullopt;
}

struct Group {
  std::size_t result = 0;
  std::string operation, file_system;
  std::vector<FigureOfSet> sets;
};

std::vector<Group> groups_of(std::span<const ReportedResult> results) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Measurement& measurement : results[i].result.measurements) {
      const std::optional<FigureOfSet> figure = figure_of(measurement);
      if (!info_of(measurement.kind).by_set || !figure) continue;
      auto group = std::ranges::find_if(groups, [&](const Group& other) {
        return other.result == i && other.operation == step_of(measurement) &&
               other.file_system == measurement.file_system;
      });
      if (group == groups.end()) {
        group = groups.insert(groups.end(), {i, step_of(measurement), measurement.file_system, {}});
      }
      group->sets.push_back(*figure);
    }
  }
  return groups;
}

// The sets that all groups with the operation have.
std::set<std::string> common_sets(const std::vector<Group>& groups, const std::string& operation) {
  std::map<std::string, std::size_t> counts;
  std::size_t of_operation = 0;
  for (const Group& group : groups) {
    if (group.operation != operation) continue;
    ++of_operation;
    std::set<std::string> names;
    for (const FigureOfSet& figure : group.sets) names.insert(figure.set);
    for (const std::string& name : names) ++counts[name];
  }
  std::set<std::string> common;
  for (const auto& [name, count] : counts) {
    if (count == of_operation) common.insert(name);
  }
  return common;
}

bool is_whole(const Result& result) {
  return result.complete && std::ranges::none_of(result.measurements, is_failed);
}

// Jobs and file systems of the plan without any measurement, and measurements without samples.
std::vector<std::string> missing_from(const Result& result) {
  std::vector<std::string> missing;
  const auto add = [&](const std::string& name, std::string Measurement::* member) {
    const auto is = [&](const Measurement& measurement) {
      return measurement.*member == name && !measurement.samples.empty();
    };
    if (std::ranges::none_of(result.measurements, is)) missing.push_back(name);
  };
  for (const JobRecord& job : result.plan.jobs) add(job.name, &Measurement::workload);
  for (const WorkRecord& work : result.plan.work) {
    if (!work.set.empty()) add(work.set, &Measurement::set);
  }
  for (const std::string& system : result.plan.file_systems) add(system, &Measurement::file_system);
  const std::set<std::string> whole(missing.begin(), missing.end());
  for (const Measurement& one : result.measurements) {
    if (!one.samples.empty() || whole.contains(one.workload) || whole.contains(one.file_system)) {
      continue;
    }
    missing.push_back(fmt::format("{} on {}", subject_of(one), one.file_system));
  }
  return missing;
}

// The volume as the command named it. A directory that one command names relative to another one,
// and another by its whole path, has one name, if nothing tells the two apart.
std::string target_name(const VolumeDescription& volume, std::span<const ReportedResult> results) {
  const bool is_relative = volume.target_kind == target_kind_name(TargetKind::directory) &&
                           !volume.target.starts_with('/');
  for (const ReportedResult& reported : results) {
    if (!is_relative || reported.result.volumes.empty()) continue;
    const VolumeDescription& other = reported.result.volumes.front();
    if (other.target.starts_with('/') && other.target.ends_with("/" + volume.target) &&
        other.file_system == volume.file_system && other.size == volume.size &&
        other.mount_options == volume.mount_options && other.layers == volume.layers &&
        std::ranges::equal(other.drives, volume.drives, {}, &DeviceIdentity::name,
                           &DeviceIdentity::name)) {
      return other.target;
    }
  }
  return volume.target;
}

}  // namespace

bool all_failed(const Measurement& measurement) {
  return !measurement.samples.empty() && std::ranges::all_of(measurement.samples, has_failed);
}

bool is_failed(const Measurement& measurement) {
  return is_incomplete(measurement) || all_failed(measurement);
}

std::string incomplete_text(const Result& result) {
  if (result.complete) return "";
  std::set<std::size_t> counts;
  for (const Measurement& measurement : result.measurements) {
    if (!measurement.samples.empty()) counts.insert(measurement.samples.size());
  }
  if (counts.empty()) return "the run ended early, before the first measurement";
  const std::size_t least = *counts.begin(), most = *counts.rbegin();
  std::string text =
      fmt::format("the run ended early, with {}{} of each measurement",
                  least == most ? "" : fmt::format("{} to ", least), counted(most, "run"));
  const std::vector<std::string> missing = missing_from(result);
  constexpr std::size_t kMost = 5;
  if (!missing.empty()) {
    text += fmt::format("; not measured: {}",
                        fmt::join(std::span(missing).first(std::min(kMost, missing.size())), ", "));
  }
  if (missing.size() > kMost) text += fmt::format(" and {} more", missing.size() - kMost);
  return text;
}

std::string drives_text(const Result& result) {
  std::vector<std::string> names;
  std::string unnamed;  // the first volume, if it has no known drive but another one has
  const auto add = [&](std::string name) {
    if (!contains(names, name)) names.push_back(std::move(name));
  };
  for (const VolumeDescription& volume : result.volumes) {
    for (const DeviceIdentity& drive : volume.drives) {
      if (drive.model.empty()) continue;
      add(drive.model + (drive.firmware.empty() ? "" : " " + drive.firmware));
    }
    if (volume.network) add(volume.network->source);
    if (names.empty()) unnamed = unnamed.empty() ? volume.target : unnamed;
  }
  // A far drive alone would have the figures of near.
  if (!names.empty() && !unnamed.empty()) names.insert(names.begin(), unnamed);
  return fmt::format("{}", fmt::join(names, " + "));
}

std::vector<std::string> result_names(std::span<const ReportedResult> results) {
  std::vector<std::string> names;
  for (const ReportedResult& reported : results) {
    const Result& result = reported.result;
    std::string name = result.label;
    if (name.empty()) name = drives_text(result);
    if (name.empty() && !result.volumes.empty())
      name = target_name(result.volumes.front(), results);
    if (name.empty()) name = result.started;
    const std::string first = name;
    for (int number = 2; contains(names, name); ++number) {
      name = fmt::format("{} ({})", first, number);
    }
    names.push_back(std::move(name));
  }
  return names;
}

const Sample* typical_sample(const Measurement& measurement) {
  std::vector<const Sample*> order;
  for (const Sample& sample : measurement.samples) order.push_back(&sample);
  if (order.empty()) return nullptr;
  std::ranges::stable_sort(
      order, {}, [](const Sample* one) { return std::pair(has_failed(*one), one->elapsed_s); });
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(order, [](const Sample* one) { return has_failed(*one); }));
  const std::size_t usable = failed < order.size() ? order.size() - failed : order.size();
  return order[(usable - 1) / 2];
}

std::vector<KindShare> shares_of_kinds(const Measurement& measurement) {
  std::map<std::string, KindShare> kinds;
  double seconds = 0, calls = 0;
  for (const Sample& sample : measurement.samples) {
    for (const auto& [name, latency] : sample.latency) {
      if (latency.count == 0) continue;
      KindShare& kind = kinds[name];
      kind.kind = name;
      kind.count += latency.count;
      kind.errors += latency.errors;
      kind.bytes += latency.bytes;
      kind.seconds += latency.total_us * 1e-6;
      seconds += latency.total_us * 1e-6;
      calls += static_cast<double>(latency.count);
    }
  }
  std::vector<KindShare> list;
  for (auto& [name, kind] : kinds) {
    kind.share_of_time = seconds > 0 ? kind.seconds / seconds : 0;
    kind.share_of_calls = static_cast<double>(kind.count) / calls;
    list.push_back(std::move(kind));
  }
  std::ranges::stable_sort(list, [](const KindShare& a, const KindShare& b) {
    return std::tie(a.seconds, a.count) > std::tie(b.seconds, b.count);
  });
  return list;
}

std::vector<Score> scores_of(std::span<const ReportedResult> results) {
  if (!std::ranges::all_of(results, is_whole, &ReportedResult::result)) return {};
  const std::vector<Group> groups = groups_of(results);
  std::vector<Score> scores;
  for (const Group& group : groups) {
    const std::set<std::string> common = common_sets(groups, group.operation);
    Score score{
        .result = group.result, .operation = group.operation, .file_system = group.file_system};
    std::vector<double> rates;
    for (const FigureOfSet& figure : group.sets) {
      if (!common.contains(figure.set)) continue;
      rates.push_back(figure.rate);
      score.of_files = figure.of_files;
    }
    if (rates.size() < 2) continue;  // no mean
    score.sets = static_cast<std::uint32_t>(rates.size());
    score.rate = geometric_mean(rates);
    scores.push_back(std::move(score));
  }
  for (Score& score : scores) {
    const auto same = [&](const Score& other) { return other.operation == score.operation; };
    score.best = std::ranges::count_if(scores, same) > 1 &&
                 std::ranges::none_of(scores, [&](const Score& other) {
                   return same(other) && other.rate > score.rate;
                 });
  }
  return scores;
}

}  // namespace filereel
