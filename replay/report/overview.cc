#include "replay/report/overview.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "replay/report/figures.h"
#include "replay/results/metrics.h"
#include "replay/results/selection.h"

namespace filereel {
namespace {

// Whether the name alone tells which file system the result has.
bool names_file_system(const ReportedResult& reported, const std::string& file_system,
                       bool one_each) {
  const std::string& label = reported.result.label;
  if (label.empty() || file_systems_of(reported.result).size() != 1) return false;
  return one_each || label.contains(file_system);
}

std::vector<Series> series_of(std::span<const ReportedResult> results) {
  const std::vector<std::string> names = result_names(results);
  std::vector<Series> series;
  bool several_file_systems = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const std::string& file_system : file_systems_of(results[i].result)) {
      several_file_systems =
          several_file_systems || (!series.empty() && series.front().file_system != file_system);
      series.push_back({i, file_system, ""});
    }
  }
  const bool one_each = series.size() == results.size();
  for (Series& one : series) {
    const std::string& name = names[one.result];
    const bool told =
        !several_file_systems || names_file_system(results[one.result], one.file_system, one_each);
    one.name = results.size() == 1 ? one.file_system
               : told              ? name
                                   : fmt::format("{} {}", name, one.file_system);
  }
  return series;
}

const JobRecord* job_named(std::span<const ReportedResult> results, const std::string& name) {
  for (const ReportedResult& reported : results) {
    const JobRecord* const found = find_or_null(reported.result.plan.jobs, name, &JobRecord::name);
    if (found) return found;
  }
  return nullptr;
}

void add_default(std::vector<ReportView>& views, ReportView view) {
  const auto same = [&](const ReportView& other) {
    return other.jobs == view.jobs && other.operations == view.operations;
  };
  if (std::ranges::none_of(views, same)) views.push_back(std::move(view));
}

// Escapes a name for use as a pattern.
std::string literal(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::string_view("*?[\\").contains(c)) text += '\\';
    text += c;
  }
  return text;
}

// The default view of a row: a chart for a step of FC-Test, a job, or a phase of a sweep.
ReportView default_view(const OverviewRow& row, bool swept) {
  ReportView view;
  const MeasurementKey& key = row.key;
  const JobKindInfo& kind = info_of(key.kind);
  view.jobs = {literal(key.workload)};
  if (kind.by_set || swept) view.operations = {literal(key.operation)};
  view.title = kind.by_set && key.workload == kind.name ? key.operation : key.workload;
  const bool told = key.operation == view.title || key.operation == "run" || kind.replays;
  if (!view.operations.empty() && !told) view.title += " " + key.operation;
  return view;
}

std::vector<ReportView> default_views(std::span<const ReportedResult> results,
                                      const Overview& overview) {
  std::vector<ReportView> views;
  std::optional<ReportView> traces;  // all in one chart
  for (const OverviewRow& row : overview.rows) {
    const JobRecord* job = job_named(results, row.key.workload);
    const bool swept = job && !job->axes.empty();
    if (info_of(row.key.kind).replays && !swept) {
      if (!traces) traces.emplace().title = row.key.workload;
      const std::string name = literal(row.key.workload);
      if (!contains(traces->jobs, name)) traces->jobs.push_back(name);
      continue;
    }
    add_default(views, default_view(row, swept));
  }
  if (traces) {
    if (traces->jobs.size() > 1) traces->title = "Recorded programs";
    traces->metrics = {"elapsed_s", "durable_s"};
    views.push_back(*std::move(traces));
  }
  return views;
}

// The usual metrics of the rows, the preferred one first: of FC-Test MB/s, of other jobs the most
// significant one.
std::vector<const Metric*> usual_metrics(const std::vector<const OverviewRow*>& rows) {
  std::vector<const Measurement*> list;
  for (const OverviewRow* row : rows) std::ranges::copy(row->cells, std::back_inserter(list));
  std::vector<const Metric*> usual = default_metrics(list);
  if (info_of(rows.front()->key.kind).by_set) std::ranges::reverse(usual);
  return usual;
}

// The first of the usual metrics and main rates that most cells have: a phase of accesses has no
// files/s, and a delete has no MB/s.
const Metric* metric_of(std::span<const ReportedResult> results, const Overview& overview,
                        const OverviewRow& row) {
  std::vector<const Metric*> candidates = usual_metrics({&row});
  for (const std::string_view rate : kMainRates) candidates.push_back(find_metric(rate));
  candidates.push_back(find_metric("elapsed_s"));
  const auto cells_with = [&](const Metric* metric) {
    std::size_t count = 0;
    for (std::size_t s = 0; s < row.cells.size(); ++s) {
      const Result& result = results[overview.series[s].result].result;
      if (row.cells[s] && spread_of(*metric, result, *row.cells[s])) ++count;
    }
    return count;
  };
  return *std::ranges::max_element(candidates, {}, cells_with);
}

// The 99th percentiles of reads and writes: a rate over an axis, such as the queue depth or the
// number of clients, means little without the latency.
std::vector<std::string> tail_metrics(const std::vector<const OverviewRow*>& rows) {
  std::vector<std::string> names;
  for (const std::string_view name : {"read_p99_us", "write_p99_us"}) {
    const std::string kind(find_metric(name)->kind);
    const auto has_kind = [&](const Sample& sample) { return sample.latency.contains(kind); };
    const auto has = [&](const OverviewRow* row) {
      return std::ranges::any_of(row->first->samples, has_kind);
    };
    if (std::ranges::any_of(rows, has)) names.emplace_back(name);
  }
  return names;
}

// The axis with the most points, which a curve shows best; the last one of several.
const SweepAxis& longest_axis(const JobRecord& job) {
  const SweepAxis* longest = &job.axes.front();
  for (const SweepAxis& axis : job.axes) {
    if (axis.values.size() >= longest->values.size()) longest = &axis;
  }
  return *longest;
}

// Names, such as those of copy programs, have no curve. Axes that are not of the sweep have one.
bool has_curve(const JobRecord& job, const std::string& name) {
  const SweepAxis* const axis = find_or_null(job.axes, name, &SweepAxis::name);
  return !axis || std::ranges::all_of(axis->values, [](const std::string& value) {
    return !value.empty() && value.front() >= '0' && value.front() <= '9';
  });
}

// Over the size of accesses, operations/s only say that larger ones take longer.
bool is_of_sizes(std::string_view axis) {
  return axis == "size" || axis == "block_size";
}

}  // namespace

std::string subject_of(const OverviewRow& row, const Overview& overview) {
  std::string text = subject_of(*row.first);
  if (!info_of(row.key.kind).replays) return text;
  std::vector<std::string> settings;
  for (const auto& [name, value] : own_replay(row.key, shared_replay_of(overview.rows))) {
    settings.push_back(fmt::format("{} {}", name, value));
  }
  return settings.empty() ? text : fmt::format("{} ({})", text, fmt::join(settings, ", "));
}

Overview overview_of(std::span<const ReportedResult> results) {
  Overview overview{series_of(results), {}};
  std::map<MeasurementKey, std::size_t> rows;
  for (std::size_t s = 0; s < overview.series.size(); ++s) {
    const Series& series = overview.series[s];
    for (const Measurement& measurement : results[series.result].result.measurements) {
      if (measurement.samples.empty() || measurement.file_system != series.file_system) continue;
      MeasurementKey key = key_of(measurement);
      key.file_system.clear();
      const auto [found, is_new] = rows.emplace(std::move(key), overview.rows.size());
      if (is_new) {
        overview.rows.push_back({found->first, &measurement, {}, nullptr});
        overview.rows.back().cells.resize(overview.series.size());
      }
      overview.rows[found->second].cells[s] = &measurement;
    }
  }
  for (OverviewRow& row : overview.rows) row.metric = metric_of(results, overview, row);
  return overview;
}

std::vector<ReportView> views_of(std::span<const ReportedResult> results,
                                 const Overview& overview) {
  std::vector<ReportView> views;
  for (const ReportedResult& reported : results) {
    for (const ReportView& view : reported.result.plan.report) {
      if (!contains(views, view)) views.push_back(view);
    }
  }
  if (views.empty()) views = default_views(results, overview);
  std::erase_if(views, [&](ReportView& view) {
    std::vector<const OverviewRow*> rows;
    for (const OverviewRow& row : overview.rows) {
      if (is_selected(view, *row.first)) rows.push_back(&row);
    }
    if (rows.empty()) return true;
    const JobRecord* job = job_named(results, rows.front()->key.workload);
    const bool swept = job && !job->axes.empty();
    if (view.by.empty() && swept) view.by = longest_axis(*job).name;
    if (view.form.empty()) view.form = swept && has_curve(*job, view.by) ? "lines" : "bars";
    if (!view.metrics.empty() || view.form == "bars" || view.form == "table") return false;
    view.metrics.emplace_back(is_of_sizes(view.by) ? "mb_per_s"
                                                   : usual_metrics(rows).front()->name);
    if (view.form == "lines")
      std::ranges::copy(tail_metrics(rows), std::back_inserter(view.metrics));
    return false;
  });
  return views;
}

}  // namespace filereel
