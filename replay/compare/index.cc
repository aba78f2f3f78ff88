#include "replay/compare/index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/error.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/sessions.h"
#include "replay/results/bytes_moved.h"
#include "replay/results/metrics.h"
#include "replay/results/selection.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

constexpr Metric kStorage = {.name = kStorageMetric,
                             .title = "Data rate and access time during busy time",
                             .heading = "sqrt(MB/s × accesses/s)",
                             .unit = Unit::per_second};

// The contribution of a run to an index: one figure; for busy time the data rate, and duration and
// number of the accesses.
using RunFigures = std::array<double, 3>;

// A measurement that counts, with the figures of its runs.
struct CountedMeasurement {
  const Metric* metric = nullptr;
  std::vector<std::vector<RankedValues>> runs;  // by group and column
  std::vector<const PooledMeasurement*> sides;  // by group
};

std::vector<RankedValues> ranked_columns(const Metric& metric, std::span<const RunFigures> runs) {
  std::vector<RankedValues> columns;
  for (std::size_t column = 0; column < RunFigures().size(); ++column) {
    std::vector<double> values;
    for (const RunFigures& run : runs) values.push_back(run[column]);
    columns.emplace_back(values, column == 0 ? middle_of(metric) : Middle::of_times);
  }
  return columns;
}

// The figures of all runs of all groups; empty unless all groups have some.
template <class Of>
std::optional<CountedMeasurement> counted_by(const MatchedMeasurement& matched,
                                             const Metric& metric, Of of) {
  CountedMeasurement measurement{.metric = &metric, .runs = {}, .sides = matched.of};
  for (const PooledMeasurement* gathered : matched.of) {
    std::vector<RunFigures> runs;
    for (std::size_t i = 0; i < gathered->samples.size(); ++i) {
      const auto figures = of(gathered->origins[i], *gathered->samples[i]);
      if (figures) runs.push_back(*figures);
    }
    if (runs.empty()) return std::nullopt;
    measurement.runs.push_back(ranked_columns(metric, runs));
  }
  return measurement;
}

// Whether a figure in bytes has the same definition in all groups.
bool has_one_definition(const MatchedMeasurement& matched) {
  std::vector<const Measurement*> all;
  for (const PooledMeasurement* gathered : matched.of) {
    for (const SampleSource& origin : gathered->origins) all.push_back(origin.measurement);
  }
  return same_bytes(all);
}

std::optional<CountedMeasurement> counted_by_metric(const MatchedMeasurement& matched,
                                                    const Metric& metric) {
  if (metric.of_bytes && !has_one_definition(matched)) return std::nullopt;
  std::optional<MetricSource> source;
  return counted_by(matched, metric,
                    [&](const SampleSource& of, const Sample& sample) -> std::optional<RunFigures> {
                      if (!source || &source->measurement != of.measurement) {
                        source.emplace(*of.result, *of.measurement);
                      }
                      const auto figure = figure_of(metric, *source, sample);
                      if (!figure || !(*figure > 0)) return std::nullopt;
                      return RunFigures{*figure};
                    });
}

std::optional<CountedMeasurement> counted_in_busy_time(const MatchedMeasurement& matched) {
  if (!info_of(matched.key.kind).replays) return std::nullopt;
  return counted_by(matched, kStorage,
                    [](const SampleSource&, const Sample& sample) -> std::optional<RunFigures> {
                      const BusyTime busy = busy_time(sample);
                      if (!(busy.bytes > 0) || !(busy.busy_s > 0)) return std::nullopt;
                      return RunFigures{busy.bytes / 1e6 / busy.busy_s, busy.access_s,
                                        busy.accesses};
                    });
}

// Whether all groups have measured it with the same work.
bool is_comparable(const MatchedMeasurement& matched) {
  return std::ranges::all_of(matched.of, [&](const PooledMeasurement* pooled) {
    return pooled && matched.of.front() &&
           choose_figure(*matched.of.front(), *pooled).obstacle.empty();
  });
}

std::optional<CountedMeasurement> count(const MatchedMeasurement& matched,
                                        const std::string& metric) {
  if (!is_comparable(matched)) return std::nullopt;
  if (metric == kStorageMetric) return counted_in_busy_time(matched);
  if (!metric.empty()) return counted_by_metric(matched, *find_metric(metric));
  for (const std::string_view rate : kMainRates) {
    if (auto found = counted_by_metric(matched, *find_metric(rate))) return found;
  }
  return std::nullopt;
}

bool belongs(const IndexDefinition& definition, const MeasurementKey& key) {
  if (definition.patterns.empty()) return true;
  const std::array<std::string, 4> texts = {
      key.workload, fmt::format("{} {}", key.workload, key.operation),
      fmt::format("{} {} {}", key.workload, key.set, key.operation), key_text(key)};
  return std::ranges::any_of(definition.patterns, [&](const std::string& pattern) {
    return std::ranges::any_of(texts,
                               [&](const std::string& text) { return matches(pattern, text); });
  });
}

// The median over all runs, or over those of a resample.
double median_of(const RankedValues& runs, const std::vector<std::size_t>* chosen) {
  return chosen ? runs.median_of(*chosen) : runs.median();
}

// Calculates one group's figures from all its runs, or from a resample in which the group's series
// start at `first`.
class GroupFigures {
 public:
  GroupFigures(const std::vector<CountedMeasurement>& counted, std::size_t group)
      : counted_(counted), group_(group) {}

  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const CountedMeasurement& measurement : counted_)
      sizes.push_back(measurement.runs[group_][0].size());
    return sizes;
  }

  double value(const Resample* resample = nullptr, std::size_t first = 0) const {
    return counted_.front().metric == &kStorage ? score(storage(resample, first))
                                                : mean(resample, first);
  }

  StorageFigures storage(const Resample* resample = nullptr, std::size_t first = 0) const {
    double seconds = 0, accesses = 0;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      const auto* chosen = resample ? &(*resample)[first + i] : nullptr;
      seconds += median_of(counted_[i].runs[group_][1], chosen);
      accesses += median_of(counted_[i].runs[group_][2], chosen);
    }
    constexpr double kMicro = 1e6;
    return {mean(resample, first), seconds / accesses * kMicro};
  }

 private:
  static double score(const StorageFigures& figures) {
    constexpr double kMicro = 1e6;
    return std::sqrt(figures.mb_per_s * kMicro / figures.access_us);
  }

  // The geometric mean of the medians.
  double mean(const Resample* resample, std::size_t first) const {
    std::vector<double> medians(counted_.size());
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      const auto* chosen = resample ? &(*resample)[first + i] : nullptr;
      medians[i] = median_of(counted_[i].runs[group_][0], chosen);
    }
    return geometric_mean(medians);
  }

  const std::vector<CountedMeasurement>& counted_;
  std::size_t group_;
};

// The mean error of a group's measurements due to its sessions. They share the state of their
// session, so it does not shrink with their number.
double error_of_sessions(const std::vector<CountedMeasurement>& counted, std::size_t group) {
  double sum = 0;
  for (const CountedMeasurement& measurement : counted)
    sum += session_error(*measurement.sides[group]);
  return sum / static_cast<double>(counted.size());
}

// Whether each run of one group has its partner in the other.
bool in_pairs(const std::vector<CountedMeasurement>& counted, std::size_t group,
              std::size_t other) {
  return std::ranges::all_of(counted, [&](const CountedMeasurement& measurement) {
    return measurement.runs[group][0].size() == measurement.runs[other][0].size() &&
           took_turns(*measurement.sides[group], *measurement.sides[other]);
  });
}

// The geometric mean of ratios is the ratio of geometric means, for times the inverse. Times and
// rates are never mixed in one mean.
IndexValue value_of(const std::vector<CountedMeasurement>& counted, std::size_t group,
                    std::optional<std::size_t> reference) {
  const GroupFigures own(counted, group);
  IndexValue one{.value = own.value()};
  if (counted.front().metric == &kStorage) one.storage = own.storage();
  const std::vector<std::size_t> sizes = own.sizes();
  const double own_error = error_of_sessions(counted, group);
  one.interval =
      widened(resampled_interval(sizes, [&](const Resample& drawn) { return own.value(&drawn); }),
              one.value, own_error);
  if (!reference) return one;
  const bool more_is_better = counted.front().metric->more_is_better;
  const auto relative = [&](double value, double of_reference) {
    constexpr double kHundred = 100;
    return kHundred * (more_is_better ? value / of_reference : of_reference / value);
  };
  const GroupFigures other(counted, *reference);
  one.relative = relative(one.value, other.value());
  if (group == *reference) return one;
  if (in_pairs(counted, group, *reference)) {
    one.took_turns = true;
    one.relative_interval = resampled_interval(sizes, [&](const Resample& drawn) {
      return relative(own.value(&drawn), other.value(&drawn));
    });
    return one;
  }
  std::vector<std::size_t> both = sizes;
  std::ranges::copy(other.sizes(), std::back_inserter(both));
  const auto of_runs = resampled_interval(both, [&](const Resample& drawn) {
    return relative(own.value(&drawn), other.value(&drawn, sizes.size()));
  });
  one.relative_interval = widened(of_runs, *one.relative,
                                  std::hypot(own_error, error_of_sessions(counted, *reference)));
  return one;
}

std::string_view unit_text(const Metric& metric) {
  if (metric.unit == Unit::per_second) return metric.heading;
  return metric.unit == Unit::microseconds ? "µs" : unit_name(metric.unit);
}

// "" for several.
std::string_view unit_of(const std::vector<CountedMeasurement>& counted) {
  const std::string_view first = unit_text(*counted.front().metric);
  const bool same = std::ranges::all_of(counted, [&](const CountedMeasurement& measurement) {
    return unit_text(*measurement.metric) == first;
  });
  return same ? first : "";
}

// The measurements of all groups and sessions, each once.
std::vector<const Measurement*> measurements_of(const std::vector<CountedMeasurement>& counted) {
  std::vector<const Measurement*> list;
  for (const CountedMeasurement& measurement : counted) {
    for (const PooledMeasurement* side : measurement.sides) {
      for (const SampleSource& of : side->origins) {
        if (list.empty() || list.back() != of.measurement) list.push_back(of.measurement);
      }
    }
  }
  return list;
}

// "MB/s until durable", "time until durable"; of several metrics, or of the storage figure, the
// unit alone.
std::string rate_of(const std::vector<CountedMeasurement>& counted) {
  const Metric* first = counted.front().metric;
  std::string unit(unit_text(*first));
  const bool same = std::ranges::all_of(
      counted, [&](const CountedMeasurement& measurement) { return measurement.metric == first; });
  if (!same || first == &kStorage) return unit;
  std::string title = title_of(*first, measurements_of(counted));
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  if (is_lower(title[1]) && !is_lower(title[0])) title[0] = static_cast<char>(title[0] - 'A' + 'a');
  const bool is_whole = title.starts_with(unit + " ") || unit == "s" || unit == "µs";
  return is_whole ? title : fmt::format("{} ({})", unit, title);
}

struct PlannedIndex {
  IndexDefinition definition;
  std::string plan;
};

// Equal definitions once.
std::vector<PlannedIndex> definitions_of(const MatchedGroups& groups) {
  std::vector<PlannedIndex> list;
  for (const ResultGroup& group : groups.list()) {
    for (const Result& result : group.results) {
      for (const IndexDefinition& index : result.plan.indexes) {
        if (contains(list, index, &PlannedIndex::definition)) continue;
        list.push_back({index, result.plan.name});
      }
    }
  }
  return list;
}

// Gives indices of one name and different contents different names.
void tell_apart(std::vector<PlannedIndex>& list) {
  const auto count = [&](const std::string& name) {
    return std::ranges::count_if(list, [&](const PlannedIndex& planned_index) {
      return planned_index.definition.name == name;
    });
  };
  std::vector<std::string> names;
  for (const PlannedIndex& one : list) {
    const auto earlier = std::ranges::count_if(  // of an edited plan
        std::span(list).first(names.size()), [&](const PlannedIndex& other) {
          return other.definition.name == one.definition.name && other.plan == one.plan;
        });
    std::string& name = names.emplace_back(one.definition.name);
    if (count(name) > 1) name = fmt::format("{} ({})", name, one.plan);
    if (earlier > 0) name += fmt::format(" {}", earlier + 1);
  }
  for (std::size_t i = 0; i < list.size(); ++i) list[i].definition.name = std::move(names[i]);
}

void check_metric(const IndexDefinition& definition) {
  if (definition.metric.empty()) return;
  if (definition.metric == kStorageMetric || find_metric(definition.metric)) return;
  std::vector<std::string_view> names = {kStorageMetric};
  for (const Metric& metric : metrics()) names.push_back(metric.name);
  throw Error(ErrorKind::usage,
              fmt::format("index '{}': unknown metric '{}'{}", definition.name, definition.metric,
                          use_one_of(definition.metric, names)));
}

}  // namespace

Index index_of(const IndexDefinition& definition, const MatchedGroups& groups,
               std::optional<std::size_t> reference) {
  check_metric(definition);
  Index index{.definition = definition,
              .out_of = groups.measurements().size(),
              .unit = {},
              .reference = reference};
  std::vector<CountedMeasurement> counted;
  for (const MatchedMeasurement& matched : groups.measurements()) {
    const bool is_trace = info_of(matched.key.kind).replays;
    if (!belongs(definition, matched.key) || (definition.metric == kStorageMetric && !is_trace)) {
      continue;
    }
    if (auto found = count(matched, definition.metric)) {
      counted.push_back(*std::move(found));
      index.measurements.push_back(matched.key);
    } else {
      index.left_out.push_back(matched.key);
    }
  }
  if (counted.empty()) return index;
  index.unit = unit_of(counted);
  if (!index.unit.empty()) index.rate = rate_of(counted);
  index.more_is_better = counted.front().metric->more_is_better;
  const bool several_units = index.unit.empty();
  if (several_units) index.reference = reference.value_or(0);
  for (std::size_t group = 0; group < groups.groups(); ++group) {
    IndexValue value = value_of(counted, group, index.reference);
    if (several_units) {
      value.value = *value.relative;
      value.interval = value.relative_interval;
    }
    index.values.push_back(value);
  }
  return index;
}

std::string_view Index::interval_name() const {
  return unit.empty() ? relative_interval_name() : kBetweenSessions;
}

std::string_view Index::relative_interval_name() const {
  for (std::size_t group = 0; group < values.size(); ++group) {
    if (group != reference && !values[group].took_turns) return kBetweenSessions;
  }
  return kMeasuredInterval;
}

std::string Index::contents() const {
  std::string text =
      fmt::format("of the medians of {}", counted_of(measurements.size(), out_of, "measurement"));
  std::map<std::string, std::size_t> counts;
  for (const MeasurementKey& key : measurements) {
    ++counts[key.set.empty() ? key.workload : fmt::format("{} {}", key.workload, key.set)];
  }
  for (const auto& [name, count] : counts) {
    const bool most = 2 * count > measurements.size() && counts.size() > 1;
    if (most) text += fmt::format(", {} of them of {}", count, name);
  }
  return text;
}

std::string Index::text(double value) const {
  constexpr double kMicro = 1e-6;
  if (unit == "s") return format_duration(value);
  return unit == "µs" ? format_duration(value * kMicro) : format_number(value);
}

std::vector<std::size_t> Index::order() const {
  std::vector<std::size_t> groups(values.size());
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  std::ranges::stable_sort(groups, [&](std::size_t one, std::size_t other) {
    const double first = values[one].value, second = values[other].value;
    return more_is_better ? first > second : first < second;
  });
  return groups;
}

std::vector<Index> planned_indexes(const MatchedGroups& groups,
                                   std::optional<std::size_t> reference) {
  std::vector<PlannedIndex> planned = definitions_of(groups);
  tell_apart(planned);
  std::vector<Index> list;
  for (const PlannedIndex& planned_index : planned) {
    list.push_back(index_of(planned_index.definition, groups, reference));
    list.back().plan = planned_index.plan;
  }
  return list;
}

std::vector<Index> default_indexes(const MatchedGroups& groups,
                                   std::optional<std::size_t> reference) {
  std::vector<Index> list = planned_indexes(groups, reference);
  if (!list.empty()) return list;
  list.push_back(index_of({.name = "all"}, groups, reference));
  list.push_back(index_of({.name = "recorded programs", .metric = std::string(kStorageMetric)},
                          groups, reference));
  std::erase_if(list, [](const Index& index) { return index.measurements.size() < 2; });
  return list;
}

BusyTime busy_time(const Sample& sample) {
  BusyTime sum;
  for (const char* kind : {"read", "write"}) {
    const auto found = sample.latency.find(kind);
    if (found == sample.latency.end()) continue;
    sum.bytes += static_cast<double>(found->second.bytes);
    sum.accesses += static_cast<double>(found->second.count);
    const auto service = sample.service.find(kind);
    const LatencySummary& time = service == sample.service.end() ? found->second : service->second;
    sum.access_s += time.total_us * 1e-6;
  }
  sum.busy_s = std::min(sum.access_s, sample.elapsed_s);
  return sum;
}

}  // namespace filereel
