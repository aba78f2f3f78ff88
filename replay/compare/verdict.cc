#include "replay/compare/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/random.h"
#include "replay/statistics/holm.h"
#include "replay/statistics/mann_whitney.h"
#include "replay/statistics/order.h"
#include "replay/statistics/shift.h"

namespace filereel {
namespace {

constexpr std::uint32_t kMostRuns = 1000;  // that anybody is advised to make

double movement(std::span<const double> series) {
  const std::size_t half = series.size() / 2;
  return half > 0 ? median(series.last(half)) / median(series.first(half)) : 1;
}

// Distance from "no change", alike for both directions.
double distance(double ratio) {
  return std::abs(std::log(ratio));
}

// How many runs on each side let the smallest p pass a level.
std::uint32_t least_runs(double level) {
  std::uint32_t runs = 2;
  while (least_p(runs, runs) > level && runs < kMostRuns) ++runs;
  return runs;
}

// About how many runs on each side would decide: intervals shrink with the root of their number.
std::uint32_t runs_that_decide(const ComparedMeasurement& row, double level, double threshold) {
  const std::uint32_t least = least_runs(level);
  if (!row.ratio_interval) return least;
  constexpr double kNormal95 = 1.959964;
  const double half = (std::log(row.ratio_interval->high) - std::log(row.ratio_interval->low)) / 2;
  const double effect = distance(row.ratio), limit = std::log1p(threshold);
  // To be told from nothing an effect must be as large as the interval at the corrected level; to
  // be called none the interval must end before the threshold.
  const double share = effect >= limit ? half / effect * -normal_quantile(level / 2) / kNormal95
                                       : half / (limit - effect);
  const double now = std::min(row.base.samples, row.fresh.samples);
  const double runs = std::ceil(now * share * share);
  return runs < kMostRuns ? std::max(static_cast<std::uint32_t>(runs), least) : kMostRuns;
}

std::string percent(double ratio) {
  return fmt::format("{:+.1f} %", (ratio - 1) * 100);
}

// What else could be all there is to the difference; "" for nothing. A side that moved by itself as
// far as the two differ was measured while something changed, and so was one during which other
// programs had clearly more of the processors.
std::string disturbance(const Tested& tested) {
  constexpr double kBusier = 0.05;
  const double ratio = tested.row.ratio;
  const auto moved = [&](std::string_view name, double moves) {
    return distance(moves) < distance(ratio)
               ? ""
               : fmt::format("the times of {} change by {} while it is measured", name,
                             percent(moves));
  };
  std::string text = moved("the base", tested.base_moves);
  if (text.empty()) text = moved("the new", tested.fresh_moves);
  if (!text.empty() || !tested.base_busy || !tested.fresh_busy) return text;
  const double busier = *tested.fresh_busy - *tested.base_busy;
  if ((ratio > 1 ? busier : -busier) > kBusier) {
    text =
        fmt::format("others took {:.0f} % of the processors with the base, {:.0f} % with the new",
                    *tested.base_busy * 100, *tested.fresh_busy * 100);
  }
  return text;
}

void decide(Tested& tested, double level, const CompareOptions& options) {
  ComparedMeasurement& row = tested.row;
  const double limit = std::log1p(options.threshold);
  const bool significant = *row.p_holm <= 2 * options.false_alarms;  // p is of both directions
  const bool matters = distance(row.ratio) >= limit;
  if (row.ratio_interval && distance(row.ratio_interval->low) <= limit &&
      distance(row.ratio_interval->high) <= limit) {
    row.verdict = Verdict::same;
    return;
  }
  if (significant && matters) {
    row.reason = disturbance(tested);
    tested.disturbed = !row.reason.empty();
    if (!tested.disturbed) row.verdict = row.ratio > 1 ? Verdict::slower : Verdict::faster;
    return;
  }
  row.runs_needed = runs_that_decide(row, level, options.threshold);
  if (row.ratio_interval) {
    row.reason = fmt::format("the time changes by something from {} to {}",
                             percent(row.ratio_interval->low), percent(row.ratio_interval->high));
  } else {
    row.reason = "too few runs";
  }
}

}  // namespace

void test_figures(std::span<const double> base, std::span<const double> fresh, Tested& tested) {
  ComparedMeasurement& row = tested.row;
  const Ratio ratio = ratio_of(base, fresh);
  row.ratio = ratio.estimate;
  row.ratio_interval = ratio.interval;
  row.p = mann_whitney(base, fresh).p;
  tested.base_moves = movement(base);
  tested.fresh_moves = movement(fresh);
}

void judge(std::span<Tested> rows, const CompareOptions& options) {
  std::vector<double> p;
  for (const Tested& tested : rows) {
    if (tested.row.p) p.push_back(*tested.row.p);
  }
  const std::vector<double> corrected = holm_adjusted(p);
  auto next = corrected.begin();
  for (Tested& tested : rows) {
    if (!tested.row.p) continue;
    tested.row.p_holm = *next++;
    decide(tested, 2 * options.false_alarms / static_cast<double>(p.size()), options);
  }
}

}  // namespace filereel
