#include "replay/report/tails_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "replay/report/clients_data.h"
#include "replay/results/json_members.h"
#include "replay/results/latency.h"
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
  for (const CurvePoint& point : known) {
    if (point.nines < end && point.latency_us > 0) append(curve, point);
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
    for (const SizeLatency& of_size : found->second.sizes) {
      classes[of_size.up_to == 0 ? kNoMost : of_size.up_to].merge(histogram_of(of_size));
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
    for (const SlowRecord& record : sample.slowest) list.emplace_back(sample.run, &record);
  }
  std::ranges::stable_sort(list, std::greater{},
                           [](const auto& one) { return one.second->latency_us; });
  list.resize(std::min(list.size(), most));
  return list;
}

namespace {

// For drawing only: more digits are not visible.
double rounded(double value, int digits) {
  if (!(value > 0) || !std::isfinite(value)) return value;
  const double magnitude = std::pow(10, digits - 1 - std::floor(std::log10(value)));
  return std::isfinite(magnitude) && magnitude > 0 ? std::round(value * magnitude) / magnitude
                                                   : value;
}

Json curve_data(const std::vector<CurvePoint>& curve) {
  constexpr int kDigits = 4;
  Json list = Json::array();
  for (const CurvePoint& point : curve) {
    list.push_back(rounded(point.nines, kDigits));
    list.push_back(rounded(point.latency_us, kDigits));
  }
  return list;
}

void put_latency(Json& json, const LatencySummary& latency, const std::vector<CurvePoint>& curve) {
  json["operations"] = latency.count;
  for (const auto& percentile : kPercentiles) {
    if (latency.*percentile.place > 0) json[percentile.name] = latency.*percentile.place;
  }
  json["curve"] = curve_data(curve);
}

// Amounts of a sample: bytes if any sample moves some, otherwise operations.
std::vector<std::uint64_t> amounts_of(const TimeGrid& grid, bool bytes) {
  std::vector<std::uint64_t> amounts;
  for (const TimeGrid::Interval& interval : grid.intervals()) {
    amounts.push_back(bytes ? interval.bytes
                            : std::accumulate(interval.operations.begin(),
                                              interval.operations.end(), std::uint64_t{0}));
  }
  return amounts;
}

Json grid_data(const TimeGrid& grid) {
  return {{"interval_s", static_cast<double>(grid.width_ns()) * 1e-9},
          {"intervals", grid.intervals().size()},
          {"cells", cells_of(grid)}};
}

Json rates_data(const TimeGrid& grid, bool bytes, double elapsed_s) {
  constexpr int kDigits = 4;
  constexpr double kMega = 1e6;
  Json list = Json::array();
  for (const RatePoint& point : rates_over_time(grid, amounts_of(grid, bytes), elapsed_s)) {
    list.push_back(rounded(point.at_s, kDigits));
    list.push_back(rounded(point.per_s / (bytes ? kMega : 1), kDigits));
  }
  return list;
}

// The samples with courses on a page of many samples.
constexpr std::size_t kCoursesOfMany = 3;

// Keeps the typical, the fastest and the slowest sample, in their order.
void keep_few(std::vector<const Sample*>& samples, const Sample* typical) {
  const auto [fastest, slowest] = std::ranges::minmax(samples, {}, &Sample::elapsed_s);
  std::erase_if(samples, [=](const Sample* sample) {
    return sample != typical && sample != fastest && sample != slowest;
  });
}

}  // namespace

PageDetail detail_for(std::span<const ReportedResult> results) {
  constexpr std::size_t kIntervals = 24'000, kFewestIntervals = 30;
  constexpr std::size_t kMostCourses = 1'000;
  constexpr std::size_t kOperations = 6'400, kFewestOperations = 8, kMostOperations = 32;
  std::size_t measurements = 1, samples = 1, clients = 1;
  for (const ReportedResult& reported : results) {
    measurements += reported.result.measurements.size();
    for (const Measurement& measurement : reported.result.measurements) {
      samples += measurement.samples.size();
      for (const Sample& sample : measurement.samples) clients += clients_shown(sample);
    }
  }
  return {std::clamp(kIntervals / samples, kFewestIntervals, TimeGrid::kIntervals),
          std::clamp(kOperations / measurements, kFewestOperations, kMostOperations),
          std::clamp(kIntervals / clients, kFewestIntervals, TimeGrid::kIntervals),
          samples <= kMostCourses};
}

Json kinds_data(const Measurement& measurement, PooledLatencies& pooled) {
  Json list = Json::array();
  for (const KindShare& kind : shares_of_kinds(measurement)) {
    Json& json = list.emplace_back(Json{{"kind", kind.kind},
                                        {"count", kind.count},
                                        {"errors", kind.errors},
                                        {"bytes", kind.bytes},
                                        {"seconds", kind.seconds},
                                        {"share_of_time", kind.share_of_time},
                                        {"share_of_calls", kind.share_of_calls}});
    const Histogram& all = pooled.histogram(kind.kind);
    const LatencySummary& latency = pooled.summary(kind.kind);
    if (latency.count == 0) continue;
    json["pooled"] = !all.empty();
    put_latency(json, latency, all.empty() ? percentile_curve(latency) : percentile_curve(all));
    for (const SizeClass& size : size_classes(measurement, kind.kind)) {
      Json& item = json["sizes"].emplace_back(Json{{"kind", size.name}});
      put_latency(item, summarise(size.latency), percentile_curve(size.latency));
    }
  }
  return list;
}

Json course_data(const Measurement& measurement, const PageDetail& detail) {
  // One at a time: a grid takes 130 KB, and there may be thousands of samples.
  const auto grid_of = [&](const Sample& sample) {
    return coarser(unpack_course(*sample.course), detail.intervals);
  };
  TimeGrid all;
  std::vector<const Sample*> samples;  // with courses
  for (const Sample& sample : measurement.samples) {
    if (!sample.course || has_failed(sample)) continue;
    const TimeGrid grid = grid_of(sample);
    if (grid.intervals().empty()) continue;
    all.merge(grid);
    samples.push_back(&sample);
  }
  if (samples.empty()) return Json::object();
  const Sample* const typical = typical_sample(measurement);
  const bool bytes = std::ranges::any_of(
      all.intervals(), [](const TimeGrid::Interval& interval) { return interval.bytes > 0; });
  Json json = {{"figure", bytes ? "mb_per_s_elapsed" : "operations_per_s"},
               {"typical", typical->run},
               {"runs", Json::array()}};
  if (!detail.all_courses && samples.size() > kCoursesOfMany) {
    json["repetitions"] = samples.size();
    keep_few(samples, typical);
  }
  for (const Sample* sample : samples) {
    const TimeGrid grid = grid_of(*sample);
    Json& run = json["runs"].emplace_back(grid_data(grid));
    run["run"] = sample->run;
    run["rates"] = rates_data(grid, bytes, sample->elapsed_s);
  }
  if (json["runs"].size() > 1) json["all"] = grid_data(coarser(all, detail.intervals));
  return json;
}

Json slowest_data(const Measurement& measurement, const PageDetail& detail) {
  Json list = Json::array();
  for (const auto& [run, one] : slowest_of(measurement, detail.operations)) {
    list.push_back({run, one->operation, one->path, one->offset, one->length, one->thread,
                    one->at_s, one->latency_us,
                    one->service_us ? Json(*one->service_us) : Json(nullptr), one->position});
  }
  return list;
}

Json latency_bins() {
  Json list = Json::array();
  for (std::size_t bin = 0; bin < TimeGrid::kBins; ++bin)
    list.push_back(TimeGrid::bin_lower_bound(bin));
  return list;
}

}  // namespace filereel
