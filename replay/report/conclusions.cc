#include "replay/report/conclusions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/report/figures.h"
#include "replay/results/block_baseline.h"
#include "replay/results/latency.h"

namespace filereel {
namespace {

using Findings = std::vector<std::string>;
using Results = std::span<const ReportedResult>;

// Why the measurement's figures do not count; "" if they do.
std::string failure_of(const Result& result, const Measurement& measurement) {
  std::string text = failed_work_text(result, measurement);
  if (!text.empty() || !all_failed(measurement)) return text;
  return fmt::format("no usable run of {}", measurement.samples.size());
}

// The name of a measurement's series.
std::string series_name(const Overview& overview, std::size_t result,
                        const std::string& file_system) {
  const Series* const found = find_if_or_null(overview.series, [&](const Series& series) {
    return series.result == result && series.file_system == file_system;
  });
  return found ? found->name : file_system;
}

// Results that ended early or failed: before any conclusion about speed.
void add_failures(Results results, const std::vector<std::string>& names, Findings& findings) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i].result;
    std::size_t failed = 0, measured = 0;
    std::string first;
    for (const Measurement& measurement : result.measurements) {
      measured += measurement.samples.empty() ? 0 : 1;
      const std::string why = failure_of(result, measurement);
      if (why.empty()) continue;
      if (failed++ == 0)
        first = fmt::format("{} on {}: {}", subject_of(measurement), measurement.file_system, why);
    }
    if (failed == 0) continue;
    findings.push_back(fmt::format("{} in {}, which {} not compared: {}{}.",
                                   results.size() > 1 ? names[i] + " failed" : "Failed",
                                   counted_of(failed, std::max(failed, measured), "measurement"),
                                   agreeing(failed, "is", "are"), first,
                                   failed > 1 ? fmt::format("; {} more", failed - 1) : ""));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string incomplete = incomplete_text(results[i].result);
    if (incomplete.empty()) continue;
    findings.push_back(fmt::format(
        "{}: {}.", results.size() > 1 ? names[i] + " is incomplete" : "Incomplete", incomplete));
  }
}

// Distance from "no change", in either direction.
double effect_of(const ComparedMeasurement& compared) {
  return std::abs(std::log(answer_of(compared, compared.aspect).ratio));
}

std::string change_text(const ComparedMeasurement& compared, const ResultComparison& comparison) {
  const std::string name = key_text(compared.key, shared_replay_of(comparison.measurements));
  return fmt::format("{} is {} with {} than with {}: {}.", name, verdict_text(compared),
                     comparison.fresh_name, comparison.base_name, compared.evidence);
}

// The overall verdict of `compare`.
std::string verdict_sentence(const ResultComparison& comparison) {
  const std::string &base = comparison.base_name, &fresh = comparison.fresh_name;
  const std::size_t all = comparison.measurements.size();
  const std::size_t slower = comparison.count(Verdict::slower);
  const std::size_t faster = comparison.count(Verdict::faster);
  if (!comparison.comparable()) {
    return fmt::format("{} and {} have no measurement of the same work in common.", base, fresh);
  }
  switch (comparison.overall) {
    case Verdict::slower:
      return fmt::format("{} is slower than {} in {}, and faster in {}.", fresh, base,
                         counted_of(slower, all, "measurement"), faster);
    case Verdict::faster:
      return fmt::format("{} is faster than {} in {}, and slower in none.", fresh, base,
                         counted_of(faster, all, "measurement"));
    case Verdict::same:
      return fmt::format(
          "{} is as fast as {} in {}.", fresh, base,
          all == 1 ? "the only measurement" : fmt::format("all {} measurements", all));
    case Verdict::cannot_tell:
      break;
  }
  std::string text =
      fmt::format("Cannot tell whether {} is slower or faster than {} in {}", fresh, base,
                  counted_of(comparison.count(Verdict::cannot_tell), all, "measurement"));
  std::vector<std::string> indicated;
  for (const Verdict verdict : {Verdict::slower, Verdict::faster}) {
    const auto count = std::ranges::count_if(
        comparison.measurements,
        [&](const ComparedMeasurement& compared) { return compared.indicated() == verdict; });
    if (count > 0) indicated.push_back(fmt::format("{} in {}", verdict_name(verdict), count));
  }
  if (!indicated.empty()) {
    text += fmt::format("; indicated, but not proven: {}", fmt::join(indicated, ", "));
  }
  return text + ".";
}

// Slower measurements, then faster ones, the largest effects first.
void add_changes(const ResultComparison& comparison, Findings& findings) {
  constexpr std::size_t kNamed = 3;
  std::vector<const ComparedMeasurement*> changed;
  for (const ComparedMeasurement& measurement : comparison.measurements) {
    if (measurement.verdict == Verdict::slower || measurement.verdict == Verdict::faster)
      changed.push_back(&measurement);
  }
  std::ranges::stable_sort(changed, [](const auto* a, const auto* b) {
    const auto rank = [](const ComparedMeasurement& compared) {
      return std::pair(compared.verdict != Verdict::slower, -effect_of(compared));
    };
    return rank(*a) < rank(*b);
  });
  for (std::size_t i = 0; i < changed.size() && i < kNamed; ++i) {
    findings.push_back(change_text(*changed[i], comparison));
  }
  if (changed.size() <= kNamed) return;
  const std::span<const ComparedMeasurement* const> rest = std::span(changed).subspan(kNamed);
  const auto slower = std::ranges::count(rest, Verdict::slower, &ComparedMeasurement::verdict);
  findings.push_back(fmt::format("Others: {} slower, {} faster.", slower,
                                 rest.size() - static_cast<std::size_t>(slower)));
}

// The leaders in FC-Test's operations.
void add_leaders(Results results, const Overview& overview, Findings& findings) {
  std::vector<std::pair<std::string, int>> leaders;
  std::vector<std::string> contested;
  for (const Score& score : scores_of(results)) {
    if (!score.best) continue;
    const std::string who = series_name(overview, score.result, score.file_system);
    if (!contains(contested, score.operation)) {
      contested.push_back(score.operation);
    }
    auto leader = std::ranges::find(leaders, who, &std::pair<std::string, int>::first);
    if (leader == leaders.end()) leader = leaders.insert(leaders.end(), {who, 0});
    ++leader->second;
  }
  std::ranges::stable_sort(leaders, std::greater{}, &std::pair<std::string, int>::second);
  for (const auto& [who, count] : leaders) {
    findings.push_back(fmt::format("{} has the highest mean over the file sets in {} (not tested).",
                                   who, counted_of(count, contested.size(), "operation")));
  }
}

// The times of recorded programs, and the ratio of the slowest to the fastest.
void add_replays(const Overview& overview, Findings& findings) {
  for (const OverviewRow& row : overview.rows) {
    if (!info_of(row.key.kind).replays) continue;
    std::vector<std::pair<double, std::string>> times;
    std::string differing;
    for (std::size_t s = 0; s < row.cells.size(); ++s) {
      const auto seconds = row.cells[s] ? row.cells[s]->seconds(&Sample::elapsed_s) : std::nullopt;
      if (!seconds) continue;
      const std::string where =
          overview.series[s].name == "none" ? "" : " on " + overview.series[s].name;
      if (differences_of(*row.cells[s]).results > 0) {
        differing +=
            fmt::format("; {}{}", differing_text(*row.cells[s]), row.cells.size() > 1 ? where : "");
      }
      times.emplace_back(seconds->median, where);
    }
    if (times.empty()) continue;
    std::ranges::stable_sort(times, {}, &std::pair<double, std::string>::first);
    const auto& [fastest, first] = times.front();
    const auto& [slowest, last] = times.back();
    std::string text =
        fmt::format("{} took {}{}", subject_of(row, overview), format_duration(fastest), first);
    if (times.size() > 1) {
      text += fmt::format("{} {}{}, {} ×", times.size() > 2 ? " (the lowest median) to" : ",",
                          format_duration(slowest), last, format_roughly(slowest / fastest));
    }
    text += differing.empty() ? "; all results match the trace." : differing + ".";
    findings.push_back(std::move(text));
  }
}

void add_block_shares(Results results, Findings& findings) {
  std::vector<double> shares;
  for (const ReportedResult& reported : results) {
    for (const Measurement& measurement : reported.result.measurements) {
      if (const auto share = block_share(reported.result, measurement)) shares.push_back(*share);
    }
  }
  if (shares.empty()) return;
  const auto [low, high] = std::ranges::minmax(shares);
  findings.push_back(
      fmt::format("File access reaches {} to {} of the block-level speed of the same device.",
                  share_text(low), share_text(high)));
}

// Stalls of a measurement of one result.
struct StallShare {
  std::string where;
  std::uint64_t count = 0;
  double threshold_s = 0;
  double share_of_operations = 0, share_of_time = 0;
};

// Relative to the latencies of the measurement itself.
std::vector<StallShare> own_stalls(Results results, const Overview& overview) {
  std::vector<StallShare> list;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Measurement& measurement : results[i].result.measurements) {
      if (is_failed(measurement)) continue;
      const std::optional<MeasurementStalls> own = measurement_stalls(measurement);
      if (!own) continue;
      list.push_back({fmt::format("{} on {}", subject_of(measurement),
                                  series_name(overview, i, measurement.file_system)),
                      own->stalls.count, static_cast<double>(own->threshold_ns) * 1e-9,
                      own->share_of_operations, own->share_of_time});
    }
  }
  return list;
}

// Relative to the latencies of the base, as the comparison counts them.
std::vector<StallShare> compared_stalls(const ResultComparison& comparison) {
  std::vector<StallShare> list;
  const Parameters shared = shared_replay_of(comparison.measurements);
  for (const ComparedMeasurement& compared : comparison.measurements) {
    if (!compared.stalls) continue;
    const auto add = [&](const std::string& name, const StallSide& side) {
      if (side.stalls == 0) return;
      list.push_back({fmt::format("{}, {}", name, key_text(compared.key, shared)), side.stalls,
                      compared.stalls->threshold_us * 1e-6,
                      static_cast<double>(side.stalls) / static_cast<double>(side.operations),
                      side.share_of_time});
    };
    add(comparison.base_name, compared.stalls->base);
    add(comparison.fresh_name, compared.stalls->fresh);
  }
  return list;
}

// The measurement with the largest share of time in stalls. With a comparison, stalls are those
// that it counts, so that a page has one number of them.
void add_stalls(Results results, const Overview& overview, const ResultComparison* comparison,
                Findings& findings) {
  constexpr double kNotable = 0.01;
  const std::vector<StallShare> list =
      comparison ? compared_stalls(*comparison) : own_stalls(results, overview);
  const auto most = std::ranges::max_element(list, {}, &StallShare::share_of_time);
  if (most == list.end() || most->share_of_time < kNotable) return;
  findings.push_back(fmt::format(
      "Largest share of time in stalls: {}: {} of {} or more and far longer than usual for their "
      "kind, {} % of the operations and {} % of the time in calls.",
      most->where, counted(most->count, "operation"), format_duration(most->threshold_s),
      format_roughly(most->share_of_operations * 100), format_roughly(most->share_of_time * 100)));
}

// The measurement with the largest spread, if it has enough samples: the ratio of its ends, which
// is the same for times and rates.
void add_least_steady(Results results, const Overview& overview, Findings& findings) {
  constexpr std::size_t kEnough = 3;
  constexpr double kNotable = 1.1;
  double widest = 0;
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Measurement& measurement : results[i].result.measurements) {
      const Metric* metric = info_of(measurement.kind).replays
                                 ? find_metric("elapsed_s")
                                 : main_metric(results[i].result, measurement);
      if (!metric || is_failed(measurement)) continue;
      const MetricSource of(results[i].result, measurement);
      const auto runs = static_cast<std::size_t>(std::ranges::count_if(
          measurement.samples,
          [&](const Sample& sample) { return figure_of(*metric, of, sample).has_value(); }));
      if (runs < kEnough) continue;
      const std::optional<Spread> spread = spread_of(*metric, results[i].result, measurement);
      if (!spread || spread->low <= 0) continue;
      const double ratio = spread->high / spread->low;
      if (ratio <= widest) continue;
      widest = ratio;
      const std::string_view unit = metric->unit == Unit::seconds ? "" : metric->heading;
      text = fmt::format("Largest spread: {} on {}, {} to {}{}{} in {}, a factor of {}.",
                         subject_of(measurement), series_name(overview, i, measurement.file_system),
                         figure_text(metric->unit, spread->low),
                         figure_text(metric->unit, spread->high), unit.empty() ? "" : " ", unit,
                         counted(runs, "repetition"), format_roughly(ratio));
    }
  }
  if (widest >= kNotable) findings.push_back(text);
}

// The main figures of a single drive: "Measured: create programs 564 MB/s; random-read 41.7 to
// 589 MB/s." The points of a sweep, and the phases of a workload, share a part.
void add_main_figures(Results results, const Overview& overview, Findings& findings) {
  constexpr std::size_t kNamed = 5;
  struct Part {
    std::string name;
    const Metric* metric;
    double low, high;
  };
  std::vector<Part> parts;
  for (const OverviewRow& row : overview.rows) {
    const JobKindInfo& kind = info_of(row.key.kind);
    if (kind.replays) continue;  // each has a finding of its own
    const std::optional<Spread> spread =
        spread_of(*row.metric, results[overview.series[0].result].result, *row.first);
    if (!spread) continue;
    std::string name =
        kind.by_set ? fmt::format("{} {}", row.key.operation, row.key.set) : row.key.workload;
    if (std::ranges::any_of(row.first->samples, &Sample::moved_no_data)) name += " (no data moved)";
    const auto same = std::ranges::find_if(
        parts, [&](const Part& part) { return part.name == name && part.metric == row.metric; });
    if (same == parts.end()) {
      parts.push_back({name, row.metric, spread->median, spread->median});
    } else {
      same->low = std::min(same->low, spread->median);
      same->high = std::max(same->high, spread->median);
    }
  }
  if (parts.empty()) return;
  std::vector<std::string> texts;
  for (const Part& one : std::span(parts).first(std::min(kNamed, parts.size()))) {
    const bool rate = is_rate(one.metric->unit);
    const std::string low = figure_text(one.metric->unit, one.low),
                      high = figure_text(one.metric->unit, one.high);
    texts.push_back(fmt::format("{} {}{}{}{}", one.name, low, low == high ? "" : " to ",
                                low == high ? "" : high,
                                rate ? fmt::format(" {}", one.metric->heading) : ""));
  }
  if (parts.size() > kNamed) texts.push_back(fmt::format("{} more", parts.size() - kNamed));
  findings.push_back(fmt::format("Measured: {}.", fmt::join(texts, "; ")));
}

// Volumes on one drive do not differ by drives, and copies between them stay on it.
void add_shared_drive(Results results, Findings& findings) {
  std::set<std::string> drives, targets;
  bool far = false;
  for (const ReportedResult& reported : results) {
    for (const VolumeDescription& volume : reported.result.volumes) {
      if (volume.drives.empty()) return;  // unknown
      far = far || volume.role != Role::near;
      targets.insert(volume.target);
      for (const DeviceIdentity& drive : volume.drives) {
        // Without a serial number, another machine may have a drive of the same name.
        if (drive.serial.empty() && reported.result.session != results[0].result.session) return;
        drives.insert(fmt::format("{} {} {}", reported.result.host.cpu, drive.serial, drive.name));
      }
    }
  }
  if (targets.size() < 2 || drives.size() != 1) return;
  if (!far && results.size() < 2) return;  // sessions of one volume in several directories
  const std::string& name = results[0].result.volumes[0].drives[0].name;
  findings.push_back(fmt::format("All volumes are on the drive {}: {}{}.", name,
                                 far ? "copies to far volumes stay on it" : "",
                                 results.size() < 2 ? ""
                                 : far              ? ", and volumes do not differ by drives"
                                                    : "they do not differ by drives"));
}

}  // namespace

std::vector<std::string> findings_of(Results results, const ResultComparison* comparison,
                                     const std::string& verdict) {
  return findings_of(results, overview_of(results), comparison, verdict);
}

std::vector<std::string> findings_of(Results results, const Overview& overview,
                                     const ResultComparison* comparison,
                                     const std::string& verdict) {
  const std::vector<std::string> names = result_names(results);
  Findings findings;
  add_failures(results, names, findings);
  if (comparison) {
    findings.push_back(verdict_sentence(*comparison));
    add_changes(*comparison, findings);
  } else if (!verdict.empty()) {
    findings.push_back(verdict);
  }
  if (overview.series.size() == 1) add_main_figures(results, overview, findings);
  add_leaders(results, overview, findings);
  add_replays(overview, findings);
  add_block_shares(results, findings);
  add_stalls(results, overview, comparison, findings);
  add_least_steady(results, overview, findings);
  add_shared_drive(results, findings);
  return findings;
}

namespace {

// Whether all results are those of the predictions.
bool only_predicted(const ReportColumns& columns, std::span<const StoredPrediction> predictions) {
  std::size_t results = 0, predicted = 0;
  for (std::size_t i = 0; i < columns.pooled().size(); ++i) results += columns.sessions(i).size();
  for (const StoredPrediction& prediction : predictions) predicted += prediction.results.size();
  return predicted > 0 && predicted == results;
}

}  // namespace

Conclusions conclusions_of(const ReportColumns& columns,
                           std::span<const StoredPrediction> predictions) {
  const std::vector<ReportedResult>& results = columns.pooled();
  Conclusions all;
  all.overview = overview_of(results);
  if (only_predicted(columns, predictions)) {
    const Ranking ranking = standings_of(columns, all.overview).ranking;
    all.standings.ranking.names = ranking.names;
    all.standings.ranking.differences = ranking.differences;
    all.findings = findings_of(results, all.overview, nullptr, "");
    return all;
  }
  all.standings = standings_of(columns, all.overview);
  if (results.size() == 2) {
    const std::vector<std::string> names = result_names(results);
    all.comparison = compare_results(columns.sessions(0), columns.sessions(1));
    all.comparison->base_name = names[0];
    all.comparison->fresh_name = names[1];
    follow_comparison(*all.comparison, all.overview, all.standings);
  }
  all.findings = findings_of(results, all.overview, all.comparison ? &*all.comparison : nullptr,
                             verdict_of(all.overview, all.standings));
  return all;
}

}  // namespace filereel
