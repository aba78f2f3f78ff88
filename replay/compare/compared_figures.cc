#include "replay/compare/compared_figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/groups.h"
#include "replay/compare/same_work.h"
#include "replay/compare/sessions.h"
#include "replay/results/bytes_moved.h"
#include "replay/results/failures.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

double figure_of(const Sample& sample, Figure figure) {
  switch (figure) {
    case Figure::durable:
      return sample.durable_s;
    case Figure::elapsed:
      return sample.elapsed_s;
    case Figure::per_operation:
      return sample.elapsed_s / static_cast<double>(sample.operations);
    case Figure::in_calls:
      break;
  }
  return seconds_in_calls(sample);
}

template <class Predicate>
bool all_samples(const PooledMeasurement& base, const PooledMeasurement& fresh,
                 Predicate predicate) {
  return std::ranges::all_of(base.samples, predicate) &&
         std::ranges::all_of(fresh.samples, predicate);
}

bool same_operations(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  return all_samples(base, fresh, [&](const Sample* sample) {
    return sample->operations == base.samples.front()->operations;
  });
}

// The definition of bytes that both sides have: that of their samples, or the sums of what their
// calls read and wrote.
std::uint64_t (*common_bytes(const PooledMeasurement& base,
                             const PooledMeasurement& fresh))(const Sample&) {
  std::vector<const Measurement*> all;
  for (const PooledMeasurement* side : {&base, &fresh}) {
    for (const SampleSource& origin : side->origins) all.push_back(origin.measurement);
  }
  if (same_bytes(all)) return [](const Sample& sample) { return sample.bytes; };
  return [](const Sample& sample) {
    const BytesMoved moved = bytes_moved(sample);
    return moved.read + moved.written;
  };
}

// Bytes per operation, by sample.
std::vector<double> operation_sizes(const PooledMeasurement& side,
                                    std::uint64_t (*bytes_of)(const Sample&)) {
  std::vector<double> sizes;
  for (const Sample* sample : side.samples) {
    sizes.push_back(static_cast<double>(bytes_of(*sample)) /
                    static_cast<double>(sample->operations));
  }
  return sizes;
}

// Whether the sizes agree within the random variation of mixes and of short reads at the end of
// files: the medians are close, or the ranges of the two sides overlap.
bool sizes_alike(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  constexpr double kAlike = 0.02;
  const auto bytes_of = common_bytes(base, fresh);
  const std::vector<double> before = operation_sizes(base, bytes_of),
                            after = operation_sizes(fresh, bytes_of);
  const double size = median(before);
  if (std::abs(median(after) - size) <= kAlike * size) return true;
  const auto [low, high] = std::ranges::minmax(before);
  const auto [least, most] = std::ranges::minmax(after);
  return low <= most && least <= high && before.size() > 1 && after.size() > 1;
}

std::string different_work(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  const auto bytes_of = common_bytes(base, fresh);
  const auto text = [&](const Sample& sample) {
    return fmt::format("{} in {}, {}", format_size(bytes_of(sample)), counted(sample.files, "file"),
                       counted(sample.operations, "operation"));
  };
  return fmt::format("different work: {} versus {}", text(*base.samples.front()),
                     text(*fresh.samples.front()));
}

std::string different_sizes(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  const auto bytes_of = common_bytes(base, fresh);
  const auto text = [&](const PooledMeasurement& side) {
    return format_size(static_cast<std::uint64_t>(median(operation_sizes(side, bytes_of))));
  };
  return fmt::format("different sizes of operations, on average: {} versus {}", text(base),
                     text(fresh));
}

// Of the whole work: until durable if one of the sides has something to make durable. Replays of
// recorded traces wait as the program waited.
Figure time_of_work(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  const bool until_durable = !info_of(base.key.kind).replays && (base.wrote || fresh.wrote);
  return until_durable ? Figure::durable : Figure::elapsed;
}

FigureChoice choose_by_set(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  const Sample& first = *base.samples.front();
  const bool same = all_samples(base, fresh, [&](const Sample* sample) {
    return sample->bytes == first.bytes && sample->files == first.files;
  });
  return {time_of_work(base, fresh), same ? "" : different_work(base, fresh)};
}

FigureChoice choose_of_others(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  if (base.ends && fresh.ends && *base.ends != *fresh.ends) {
    return {Figure::elapsed,
            fmt::format("different work: the base phase ends by {}, the new phase by {}",
                        phase_end_name(*base.ends), phase_end_name(*fresh.ends))};
  }
  const bool same = same_operations(base, fresh);
  // Missing data of older results does not count against them: the time per operation is
  // comparable.
  const auto ends = base.ends ? base.ends : fresh.ends;
  if (ends == PhaseEnd::work && !same) return {Figure::elapsed, different_work(base, fresh)};
  if (!sizes_alike(base, fresh)) return {Figure::elapsed, different_sizes(base, fresh)};
  const auto has_latency = [](const Sample* sample) { return seconds_in_calls(*sample) > 0; };
  if (base.paced && all_samples(base, fresh, has_latency)) return {Figure::in_calls, ""};
  // Equal numbers of operations are the same work, also in a phase with a time limit or a rate.
  if (!same) return {Figure::per_operation, ""};
  return {time_of_work(base, fresh), ""};
}

std::string why_none(const PooledMeasurement& side, std::string_view name) {
  if (!side.incomplete.empty())
    return fmt::format("the work of the {} result was not done: {}", name, side.incomplete);
  if (side.no_data > 0)
    return fmt::format("the copies of the {} result moved no data: they share blocks", name);
  if (side.failed > 0) return fmt::format("no {} run succeeded", name);
  return fmt::format("the {} result has no runs", name);
}

// The control's counterparts of the measurements of a result. Directories may be on different file
// systems, so the only one of each side matches any.
class Controls {
 public:
  explicit Controls(const Result& result) {
    for (const Result& control : result.control) {
      across_ = crossed_file_systems({&result, 1}, {&control, 1}).has_value();
      for (const Measurement& measurement : control.measurements)
        by_key_.emplace(key(measurement), &measurement);
    }
  }

  // Null if there is none, or its work was not done.
  const Measurement* of(const Measurement& measurement) const {
    if (by_key_.empty()) return nullptr;
    const auto found = by_key_.find(key(measurement));
    return found == by_key_.end() || is_incomplete(*found->second) ? nullptr : found->second;
  }

 private:
  MeasurementKey key(const Measurement& measurement) const {
    MeasurementKey key = key_of(measurement);
    if (across_) key.file_system.clear();
    return key;
  }

  bool across_ = false;
  std::map<MeasurementKey, const Measurement*> by_key_;
};

const Sample* control_sample(const Measurement* control, std::uint32_t run) {
  if (!control) return nullptr;
  const Sample* const found = find_or_null(control->samples, run, &Sample::run);
  return found && has_figure(*control, *found) ? found : nullptr;
}

// Whether a fact about the work differs, such as its digest. Unknown ones may be the same.
template <typename Value>
bool differs(std::vector<Value> base, const std::vector<Value>& fresh) {
  base.insert(base.end(), fresh.begin(), fresh.end());
  return std::ranges::adjacent_find(base, std::not_equal_to()) != base.end();
}

template <typename Value>
void add_new(const Value& value, std::vector<Value>& list) {
  if (!contains(list, value)) list.push_back(value);
}

// All its samples.
void leave_out(PooledMeasurement& side) {
  side.failed += static_cast<std::uint32_t>(side.samples.size());
  side.samples.clear();
  side.origins.clear();
  side.controls.clear();
}

void add_busy_share(const Sample& sample, std::vector<double>& shares) {
  const Conditions& conditions = sample.conditions;
  if (!conditions.other_cpu) return;
  shares.push_back(*conditions.other_cpu + conditions.stolen_cpu.value_or(0));
}

}  // namespace

std::optional<double> busy_share(const Result& result) {
  std::vector<double> shares;
  for (const Measurement& measurement : result.measurements) {
    for (const Sample& sample : measurement.samples) add_busy_share(sample, shares);
  }
  if (shares.empty()) return std::nullopt;
  return median(shares);
}

bool has_figure(const Measurement& measurement, const Sample& sample) {
  const bool by_set = info_of(measurement.kind).by_set;
  return !sample.moved_no_data && !has_failed(sample) && sample.durable_s > 0 &&
         sample.elapsed_s > 0 && (by_set || sample.operations > 0);
}

std::vector<PooledMeasurement> gather(std::span<const Result> results, const Matching& matching,
                                      std::optional<std::size_t> group) {
  std::vector<PooledMeasurement> all;
  std::map<MeasurementKey, std::size_t> places;
  for (const Result& result : results) {
    const Controls controls(result);
    const auto begun_s = static_cast<double>(result.started_s().value_or(0));
    const std::optional<double> busy = busy_share(result);
    for (const Measurement& measurement : result.measurements) {
      std::optional<MeasurementKey> key = matching.find_key(result, measurement, group);
      if (!key) continue;
      const auto [place, is_new] = places.try_emplace(*std::move(key), all.size());
      if (is_new) all.emplace_back().key = place->first;
      PooledMeasurement& side = all[place->second];
      side.ends = measurement.ends;
      side.wrote = side.wrote || has_written(measurement);
      side.paced = measurement.replay && measurement.replay->pace != "asap";
      add_new(result.job_of(measurement).scale, side.scales);
      if (const auto& cached = measurement.without_direct_io) {
        add_new(*cached, side.without_direct_io);
      }
      if (!measurement.work_digest.empty()) add_new(measurement.work_digest, side.digests);
      if (busy) side.session_busy.push_back(*busy);
      if (side.incomplete.empty()) side.incomplete = failed_work_text(result, measurement);
      const Measurement* const control = controls.of(measurement);
      for (const Sample& sample : measurement.samples) {
        if (sample.moved_no_data) {
          ++side.no_data;
        } else if (!has_figure(measurement, sample)) {
          ++side.failed;
        } else {
          side.samples.push_back(&sample);
          side.origins.push_back({&result, &measurement, begun_s});
          side.controls.push_back(control_sample(control, sample.run));
        }
      }
    }
  }
  for (PooledMeasurement& side : all) {
    if (!side.incomplete.empty()) leave_out(side);
  }
  return all;
}

FigureChoice choose_figure(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  const bool by_set = info_of(base.key.kind).by_set;
  const Figure usual = by_set ? time_of_work(base, fresh) : Figure::elapsed;
  const bool undone = !base.incomplete.empty() || !fresh.incomplete.empty();
  if (base.samples.empty()) return {usual, why_none(base, "base"), undone};
  if (fresh.samples.empty()) return {usual, why_none(fresh, "new"), undone};
  if (base.scales.size() > 1 || base.scales != fresh.scales) {
    return {usual, fmt::format("different scales: {} versus {}", fmt::join(base.scales, ", "),
                               fmt::join(fresh.scales, ", "))};
  }
  if (differs(base.without_direct_io, fresh.without_direct_io)) {
    return {usual, "direct I/O in some results, the page cache in others"};
  }
  if (differs(base.digests, fresh.digests)) {
    return {usual, fmt::format("different work: the {} changed",
                               work_name(base.key.kind, base.key.workload, base.key.set))};
  }
  return by_set ? choose_by_set(base, fresh) : choose_of_others(base, fresh);
}

std::vector<double> figures_of(const PooledMeasurement& side, Figure figure) {
  std::vector<double> figures;
  figures.reserve(side.samples.size());
  for (const Sample* sample : side.samples) figures.push_back(figure_of(*sample, figure));
  return figures;
}

std::vector<double> control_figures_of(const PooledMeasurement& side, Figure figure) {
  std::vector<double> figures;
  for (const Sample* sample : side.controls) {
    if (!sample) return {};
    figures.push_back(figure_of(*sample, figure));
  }
  return figures;
}

ComparedSide side_of(const PooledMeasurement& side, Figure figure) {
  const std::vector<double> figures = figures_of(side, figure);
  ComparedSide compared_side{.samples = static_cast<std::uint32_t>(figures.size()),
                             .left_out = side.failed + side.no_data};
  if (!figures.empty()) compared_side.median = median(figures);
  if (!figures.empty()) {
    compared_side.interval =
        widened(median_interval(figures), compared_side.median, session_error(side));
    if (figure == Figure::per_operation) compared_side.operations_per_s = 1 / compared_side.median;
  }
  return compared_side;
}

double seconds_in_calls(const Sample& sample) {
  double microseconds = 0;
  for (const auto& [kind, latency] : sample.service.empty() ? sample.latency : sample.service) {
    microseconds += latency.total_us;
  }
  return microseconds / 1e6;
}

std::optional<double> busy_share(const PooledMeasurement& side) {
  std::vector<double> shares;
  for (const Sample* sample : side.samples) add_busy_share(*sample, shares);
  // Short samples have no share of their own.
  if (shares.size() < side.samples.size() && !side.session_busy.empty()) {
    return median(side.session_busy);
  }
  if (shares.empty()) return std::nullopt;
  return median(shares);
}

SideFigures side_figures(const PooledMeasurement& side, Figure figure) {
  return {
      .of = &side, .values = figures_of(side, figure), .control = control_figures_of(side, figure)};
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> list;
  list.reserve(values.size());
  for (const double value : values) list.push_back(std::log(value));
  return list;
}

std::vector<double> logarithms_of(const SideFigures& side, bool controlled) {
  std::vector<double> list = logarithms(side.values);
  for (std::size_t i = 0; controlled && i < list.size(); ++i) list[i] -= std::log(side.control[i]);
  return list;
}

std::vector<double> begins_of(const PooledMeasurement& side) {
  std::vector<double> begins;
  begins.reserve(side.origins.size());
  for (const SampleSource& origin : side.origins) begins.push_back(origin.begun_s);
  return begins;
}

std::vector<double> figures_by_state(std::span<const double> begins,
                                     std::span<const double> values) {
  std::vector<std::pair<double, double>> order;
  for (std::size_t i = 0; i < values.size(); ++i) order.emplace_back(begins[i], values[i]);
  std::ranges::sort(order);
  std::vector<double> figures, state;
  double first = 0;
  for (const auto& [begin, value] : order) {
    if (!state.empty() && begin - first >= kSameState) {
      figures.push_back(median(state));
      state.clear();
    }
    if (state.empty()) first = begin;
    state.push_back(value);
  }
  if (!state.empty()) figures.push_back(median(state));
  return figures;
}

void StateSpread::add(std::span<const double> figures) {
  if (figures.size() < 2) return;
  freedom += static_cast<double>(figures.size() - 1);
  squares += variance(figures) * static_cast<double>(figures.size() - 1);
}

double error_of_runs(const Ratio& ratio, std::span<const double> base,
                     std::span<const double> fresh) {
  if (ratio.interval) {  // of 95 %
    const auto freedom = static_cast<double>(base.size() + fresh.size() - 2);
    return std::log(ratio.interval->high / ratio.interval->low) / 2 /
           student_quantile(0.975, freedom);
  }
  double sum = 0;
  for (const std::span<const double>& side : {base, fresh}) {
    if (side.size() > 1) sum += variance(side) / static_cast<double>(side.size());
  }
  return std::sqrt(sum);
}

}  // namespace filereel
