#include "replay/report/tails_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "replay/report/clients_data.h"
#include "replay/report/tails.h"
#include "replay/results/latency.h"
#include "replay/results/members_json.h"
#include "replay/results/packed.h"

namespace filereel {
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
  for (const CurvePoint& one : curve) {
    list.push_back(rounded(one.nines, kDigits));
    list.push_back(rounded(one.latency_us, kDigits));
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
  for (const TimeGrid::Interval& one : grid.intervals()) {
    amounts.push_back(
        bytes ? one.bytes
              : std::accumulate(one.operations.begin(), one.operations.end(), std::uint64_t{0}));
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
  for (const RatePoint& one : rates_over_time(grid, amounts_of(grid, bytes), elapsed_s)) {
    list.push_back(rounded(one.at_s, kDigits));
    list.push_back(rounded(one.per_s / (bytes ? kMega : 1), kDigits));
  }
  return list;
}

// The samples with courses on a page of many samples.
constexpr std::size_t kCoursesOfMany = 3;

// Keeps the typical, the fastest and the slowest sample, in their order.
void keep_few(std::vector<const Sample*>& samples, const Sample* typical) {
  const auto [fastest, slowest] = std::ranges::minmax(samples, {}, &Sample::elapsed_s);
  std::erase_if(samples, [=](const Sample* one) {
    return one != typical && one != fastest && one != slowest;
  });
}

}  // namespace

PageDetail detail_for(std::span<const ReportedResult> results) {
  constexpr std::size_t kIntervals = 24'000, kFewestIntervals = 30;
  constexpr std::size_t kMostCourses = 1'000;
  constexpr std::size_t kOperations = 6'400, kFewestOperations = 8, kMostOperations = 32;
  std::size_t measurements = 1, samples = 1, clients = 1;
  for (const ReportedResult& one : results) {
    measurements += one.result.measurements.size();
    for (const Measurement& measurement : one.result.measurements) {
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
      Json& one = json["sizes"].emplace_back(Json{{"kind", size.name}});
      put_latency(one, summarise(size.latency), percentile_curve(size.latency));
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
      all.intervals(), [](const TimeGrid::Interval& one) { return one.bytes > 0; });
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
