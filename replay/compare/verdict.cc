#include "replay/compare/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/random.h"
#include "replay/compare/evidence.h"
#include "replay/statistics/holm.h"
#include "replay/statistics/mann_whitney.h"
#include "replay/statistics/order.h"
#include "replay/statistics/shift.h"

namespace filereel {
namespace {

constexpr std::uint32_t kMostRuns = 1000;  // upper limit of the advice

double drift_ratio(std::span<const double> series) {
  const std::size_t half = series.size() / 2;
  return half > 0 ? median(series.last(half)) / median(series.first(half)) : 1;
}

// Distance from "no change", symmetric in both directions.
double distance(double ratio) {
  return std::abs(std::log(ratio));
}

// The number of runs on each side with which the smallest p passes a level.
std::uint32_t least_runs(double level) {
  std::uint32_t runs = 2;
  while (least_p(runs, runs) > level && runs < kMostRuns) ++runs;
  return runs;
}

// Estimates how many runs on each side would decide. Intervals shrink with the square root of the
// number of runs. Always more than the current number.
std::uint32_t runs_that_decide(const ComparedMeasurement& row, double level, double threshold) {
  const std::uint32_t least =
      std::max(least_runs(level), std::max(row.base.samples, row.fresh.samples) + 1);
  const AspectResult& time = row.time;
  if (!time.ratio_interval) return least;
  constexpr double kNormal95 = 1.959964;
  const double half =
      (std::log(time.ratio_interval->high) - std::log(time.ratio_interval->low)) / 2;
  const double effect = distance(time.ratio), limit = std::log1p(threshold);
  // To be significant, an effect must be as large as the interval at the corrected level. To be
  // none, the interval must end before the threshold.
  const double share = effect >= limit ? half / effect * -normal_quantile(level / 2) / kNormal95
                                       : half / (limit - effect);
  const double now = std::min(row.base.samples, row.fresh.samples);
  const double runs = std::ceil(now * share * share);
  return runs < kMostRuns ? std::max(static_cast<std::uint32_t>(runs), least)
                          : std::max(kMostRuns, least);
}

std::string percent(double ratio) {
  return fmt::format("{:+.1f} %", (ratio - 1) * 100);
}

// Whether CPU use by others can explain the whole difference. CPU-bound work slows down at most in
// proportion to the remaining CPU time. A single operation may have to wait for a CPU for some time
// slices, regardless of its own CPU time.
bool explained_by_cpu_use(const AspectTest& question, double busier, double left) {
  constexpr double kBusier = 0.05;
  constexpr double kLongestWaitNs = 50e6;
  if (busier <= kBusier) return false;
  return question.aspect == Aspect::time ? distance(question.answer.ratio) <= std::log(left)
                                         : question.latency_ns < kLongestWaitNs;
}

// Another possible cause of the whole difference; "" if there is none. A side that drifted as far
// as the two differ was measured while something changed.
std::string other_cause(const PendingComparison& tested, const AspectTest& question) {
  const double ratio = question.answer.ratio;
  const auto moved = [&](std::string_view name, double moves) {
    return distance(moves) < distance(ratio)
               ? ""
               : fmt::format("the {} result drifts by {} during its runs", name, percent(moves));
  };
  std::string text = moved("base", question.base_drift);
  if (text.empty()) text = moved("new", question.fresh_drift);
  if (!text.empty() || !tested.base_busy || !tested.fresh_busy) return text;
  const double base = *tested.base_busy, fresh = *tested.fresh_busy;
  constexpr double kLeastLeft = 0.01;
  const double left = std::max(1 - base, kLeastLeft) / std::max(1 - fresh, kLeastLeft);
  const bool slower = ratio > 1;
  if (explained_by_cpu_use(question, slower ? fresh - base : base - fresh,
                           slower ? left : 1 / left)) {
    text = fmt::format(
        "other programs used {:.0f} % of the CPU time in the base result, {:.0f} % in the new",
        base * 100, fresh * 100);
    if (question.aspect == Aspect::time) {
      text += fmt::format(", which can explain up to {}", percent(left));
    }
  }
  return text;
}

void decide(PendingComparison& tested, AspectTest& question, const CompareOptions& options) {
  AspectResult& answer = question.answer;
  const double limit = std::log1p(question.least);
  const bool significant = *answer.p_holm <= 2 * options.false_alarms;  // p is two-sided
  const bool matters = distance(answer.ratio) >= limit;
  if (answer.ratio_interval && distance(answer.ratio_interval->low) <= limit &&
      distance(answer.ratio_interval->high) <= limit) {
    answer.verdict = Verdict::same;
    return;
  }
  if (significant && matters) {
    answer.reason = other_cause(tested, question);
    tested.disturbed = tested.disturbed || !answer.reason.empty();
    if (answer.reason.empty()) {
      answer.verdict = answer.ratio > 1 ? Verdict::slower : Verdict::faster;
    }
    return;
  }
  if (answer.ratio_interval) {
    answer.reason =
        fmt::format("the change is between {} and {}", percent(answer.ratio_interval->low),
                    percent(answer.ratio_interval->high));
  } else {
    answer.reason = "too few runs";
  }
}

// Certain answers decide, the worst first: time, then stalls, then a tail. Undecided tails and
// stalls leave the verdict to the time.
void sum_up(ComparedMeasurement& row) {
  struct Said {
    Aspect aspect;
    const AspectResult* answer;
  };
  std::vector<Said> all = {{Aspect::time, &row.time}};
  if (row.stalls) all.push_back({Aspect::stalls, &row.stalls->answer});
  if (row.tail) all.push_back({Aspect::tail, &row.tail->answer});
  for (const Verdict verdict : {Verdict::slower, Verdict::faster}) {
    const auto found =
        std::ranges::find(all, verdict, [](const Said& one) { return one.answer->verdict; });
    if (found == all.end()) continue;
    row.verdict = verdict;
    row.aspect = found->aspect;
    row.evidence = evidence_of(row);
    return;
  }
  row.verdict = row.time.verdict;
}

// Weights that divide the error budget (Holm 1979). Time keeps most of it, so that it is detected
// about as reliably as without the others. Relevant tails and stalls are far beyond their part of
// it.
double weight_of(Aspect aspect) {
  return aspect == Aspect::time ? 0.8 : 0.1;
}

}  // namespace

AspectTest ask(Aspect aspect, std::span<const double> base, std::span<const double> fresh) {
  const Ratio ratio = ratio_of(base, fresh);
  return {.aspect = aspect,
          .answer = {.ratio = ratio.estimate,
                     .ratio_interval = ratio.interval,
                     .p = mann_whitney(base, fresh).p},
          .base_drift = drift_ratio(base),
          .fresh_drift = drift_ratio(fresh)};
}

void judge(std::span<PendingComparison> rows, const CompareOptions& options) {
  std::vector<double> p, weights;
  for (const PendingComparison& tested : rows) {
    for (const AspectTest& one : tested.questions) {
      p.push_back(*one.answer.p);
      weights.push_back(weight_of(one.aspect));
    }
  }
  const std::vector<double> corrected = holm_adjusted(p, weights);
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  auto next = corrected.begin();
  for (PendingComparison& tested : rows) {
    for (AspectTest& one : tested.questions) {
      one.answer.p_holm = *next++;
      decide(tested, one, options);
      answer_of(tested.row, one.aspect) = one.answer;
    }
    sum_up(tested.row);
    if (tested.row.verdict == Verdict::cannot_tell && tested.row.time.p && !tested.disturbed) {
      const double level = 2 * options.false_alarms * weight_of(Aspect::time) / all;
      tested.row.runs_needed = runs_that_decide(tested.row, level, options.threshold);
    }
  }
}

}  // namespace filereel
