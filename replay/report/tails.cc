#include "replay/report/tails.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "replay/results/packed.h"

namespace filereel {
namespace {

const double kMedianNines = std::log10(2.0);

double microseconds_of(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

// Leaves out the inner points of ranges with the same latency.
void append(std::vector<CurvePoint>& curve, CurvePoint point) {
  const std::size_t size = curve.size();
  if (size > 1 && curve[size - 1].latency_us == point.latency_us &&
      curve[size - 2].latency_us == point.latency_us) {
    curve.pop_back();
  }
  curve.push_back(point);
}

}  // namespace

std::vector<CurvePoint> percentile_curve(const Histogram& latency) {
  constexpr int kPerNine = 8;  // points
  const std::uint64_t count = latency.count();
  if (count == 0) return {};
  const double end = std::max(kMedianNines, std::log10(static_cast<double>(count)));
  std::vector<CurvePoint> curve;
  const auto add = [&](double nines) {
    const double share = 1 - std::pow(10, -nines);
    append(curve, {nines, microseconds_of(latency.percentile(share))});
  };
  if (end > kMedianNines) add(kMedianNines);
  for (int i = 3; i < end * kPerNine; ++i) add(static_cast<double>(i) / kPerNine);
  append(curve, {end, microseconds_of(latency.max())});
  return curve;
}

std::vector<CurvePoint> percentile_curve(const LatencySummary& latency) {
  if (latency.count == 0) return {};
  const std::array<CurvePoint, 6> known = {{{kMedianNines, latency.p50_us},
                                            {1, latency.p90_us},
                                            {-std::log10(0.05), latency.p95_us},
                                            {2, latency.p99_us},
                                            {3, latency.p999_us},
                                            {4, latency.p9999_us}}};
  const double end = std::max(kMedianNines, std::log10(static_cast<double>(latency.count)));
  std::vector<CurvePoint> curve;
  for (const CurvePoint& one : known) {
    if (one.nines < end && one.latency_us > 0) append(curve, one);
  }
  if (latency.max_us > 0) append(curve, {end, latency.max_us});
  return curve;
}

std::vector<SizeClass> size_classes(const Measurement& measurement, const std::string& kind) {
  constexpr std::uint64_t kNoMost = UINT64_MAX;  // so that the open-ended class sorts last
  std::map<std::uint64_t, Histogram> classes;
  for (const Sample& sample : measurement.samples) {
    const auto found = sample.latency.find(kind);
    if (has_failed(sample) || found == sample.latency.end() || found->second.count == 0) continue;
    if (found->second.sizes.empty()) return {};
    for (const SizeLatency& one : found->second.sizes) {
      classes[one.up_to == 0 ? kNoMost : one.up_to].merge(histogram_of(one));
    }
  }
  if (classes.size() < 2) return {};
  std::vector<SizeClass> list;
  for (auto& [up_to, latency] : classes) {
    list.push_back({size_class_text(kind, up_to == kNoMost ? 0 : up_to), std::move(latency)});
  }
  return list;
}

TimeGrid coarser(const TimeGrid& grid, std::size_t most) {
  std::uint64_t width = grid.width_ns();
  for (std::size_t left = grid.intervals().size(); left > most; left = (left + 1) / 2) width *= 2;
  TimeGrid wide = TimeGrid::of(width, {});
  wide.merge(grid);
  return wide;
}

std::vector<std::uint64_t> cells_of(const TimeGrid& grid) {
  std::vector<std::uint64_t> cells;
  std::size_t last = 0, at = 0;
  for (const TimeGrid::Interval& interval : grid.intervals()) {
    for (const std::uint64_t count : interval.operations) {
      if (count > 0) {
        cells.insert(cells.end(), {at - last, count});
        last = at;
      }
      ++at;
    }
  }
  return cells;
}

std::vector<RatePoint> rates_over_time(const TimeGrid& grid,
                                       const std::vector<std::uint64_t>& amounts,
                                       double elapsed_s) {
  const double width = static_cast<double>(grid.width_ns()) * 1e-9;
  std::vector<RatePoint> points;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const double begin = static_cast<double>(i) * width;
    double amount = static_cast<double>(amounts[i]), duration = width, from = begin;
    if (i + 1 == amounts.size()) {
      const double left = elapsed_s - begin;
      if (left >= width / 2) {
        duration = std::min(left, width);
      } else if (!points.empty()) {
        amount += static_cast<double>(amounts[i - 1]);
        duration = width + std::max(left, 0.0);
        from = begin - width;
        points.pop_back();
      } else if (left > 0) {
        duration = left;
      }
    }
    points.push_back({from + duration / 2, amount / duration});
  }
  return points;
}

std::vector<std::pair<std::uint32_t, const SlowRecord*>> slowest_of(const Measurement& measurement,
                                                                    std::size_t most) {
  std::vector<std::pair<std::uint32_t, const SlowRecord*>> list;
  for (const Sample& sample : measurement.samples) {
    if (has_failed(sample)) continue;
    for (const SlowRecord& one : sample.slowest) list.emplace_back(sample.run, &one);
  }
  std::ranges::stable_sort(list, std::greater{},
                           [](const auto& one) { return one.second->latency_us; });
  list.resize(std::min(list.size(), most));
  return list;
}

}  // namespace filereel
