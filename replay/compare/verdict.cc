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
#include <fmt/ranges.h>

#include "filesets/system/random.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

std::string share_of(double part, double all) {
  return format_roughly(all > 0 ? part / all * 100 : 0) + " %";
}

std::string microseconds_text(double us) {
  return format_duration(us * 1e-6);
}

std::string of_time(const ComparedMeasurement& compared) {
  const AspectResult& time = compared.time;
  std::string text =
      fmt::format("{:+.1f} % {}", (time.ratio - 1) * 100, figure_name(compared.figure));
  if (time.ratio_interval) {
    text += fmt::format(" ({:+.1f} to {:+.1f} %)", (time.ratio_interval->low - 1) * 100,
                        (time.ratio_interval->high - 1) * 100);
  }
  return text;
}

std::string of_tail(const ComparedTail& tail) {
  return fmt::format("p{:g} of {} {}, {} before", tail.percentile, tail.kind,
                     microseconds_text(tail.fresh_us), microseconds_text(tail.base_us));
}

std::string of_stalls(const ComparedMeasurement& compared) {
  const ComparedStalls& stalls = *compared.stalls;
  const auto count = [](const StallSide& side) { return counted(side.stalls, "stall"); };
  std::string text =
      fmt::format("{} over {} in {}", count(stalls.fresh), microseconds_text(stalls.threshold_us),
                  counted(compared.fresh.samples, "run"));
  if (stalls.fresh.stalls > 0) {
    text += fmt::format(" ({} of operations, {} of the time)",
                        share_of(static_cast<double>(stalls.fresh.stalls),
                                 static_cast<double>(stalls.fresh.operations)),
                        share_of(stalls.fresh.share_of_time, 1));
  }
  text += fmt::format(", {} before", stalls.base.stalls);
  if (compared.base.samples != compared.fresh.samples)
    text += fmt::format(" in {}", compared.base.samples);
  return text;
}

}  // namespace

std::string evidence_of(const ComparedMeasurement& compared) {
  std::vector<std::string> parts;
  if (compared.time.verdict == compared.verdict) parts.push_back(of_time(compared));
  if (compared.stalls && compared.stalls->answer.verdict == compared.verdict)
    parts.push_back(of_stalls(compared));
  if (compared.tail && compared.tail->answer.verdict == compared.verdict)
    parts.push_back(of_tail(*compared.tail));
  return fmt::format("{}", fmt::join(parts, "; "));
}

namespace {

double drift_ratio(std::span<const double> series) {
  const std::size_t half = series.size() / 2;
  return half > 0 ? median(series.last(half)) / median(series.first(half)) : 1;
}

// Distance from "no change", symmetric in both directions.
double distance(double ratio) {
  return std::abs(std::log(ratio));
}

// Estimates how many more runs on each side would decide: the effect must be as large as the
// interval at the corrected level; to be none, the interval must end before the threshold. Nothing
// if no number would do.
std::optional<std::uint32_t> more_runs(const ComparedMeasurement& row,
                                       const SessionEvidence& evidence, double level,
                                       double threshold) {
  const std::uint32_t least = std::min(row.base.samples, row.fresh.samples);
  if (!row.time.ratio_interval) return std::max(runs_for_level(level), least + 1) - least;
  constexpr double kTail95 = 0.025;
  const double effect = distance(evidence.ratio), limit = std::log1p(threshold);
  const auto decide = [&](std::uint32_t more) {
    const SessionEvidence then = evidence.with_more(row.base.samples, row.fresh.samples, more);
    const auto half = [&](double tail) {
      return student_quantile(1 - tail, then.freedom) * then.error;
    };
    return effect >= limit ? effect >= half(level / 2) : effect + half(kTail95) <= limit;
  };
  if (!decide(kMostAdvisedRuns)) return std::nullopt;
  std::uint32_t too_few = 0, enough = kMostAdvisedRuns;
  while (enough - too_few > 1) {
    const std::uint32_t middle = (too_few + enough) / 2;
    (decide(middle) ? enough : too_few) = middle;
  }
  return enough;
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
  // What was measured in turns had the same conditions. A control corrects a drift, but other
  // programs need not slow it down as much as the volume.
  if (question.answer.basis == Basis::in_turns) return "";
  std::string text;
  if (question.answer.basis != Basis::control) {
    text = moved("base", question.base_drift);
    if (text.empty()) text = moved("new", question.fresh_drift);
  }
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

// Whether the 95 % interval lies beyond the threshold. Ranks must differ, too, for what t is not
// made for.
bool is_beyond(const AspectTest& question) {
  constexpr double kLikely = 0.05;
  const std::optional<Interval>& interval = question.answer.ratio_interval;
  if (!interval) return false;
  const double limit = 1 + question.least;
  const bool beyond = interval->low > limit || interval->high < 1 / limit;
  return beyond && (question.aspect == Aspect::time || question.evidence.p_runs <= kLikely);
}

// `p_runs`: of the runs alone, corrected for all tests.
void decide(PendingComparison& tested, AspectTest& question, double p_runs,
            const CompareOptions& options) {
  AspectResult& answer = question.answer;
  const double limit = std::log1p(question.least);
  const double level = options.level();
  const bool matters = distance(answer.ratio) >= limit;
  if (answer.ratio_interval && distance(answer.ratio_interval->low) <= limit &&
      distance(answer.ratio_interval->high) <= limit) {
    answer.verdict = Verdict::same;
    return;
  }
  const Verdict direction = answer.ratio > 1 ? Verdict::slower : Verdict::faster;
  const bool shown = *answer.p_holm <= level, beyond = is_beyond(question);
  if ((shown || beyond || p_runs <= level) && matters) {
    answer.reason = other_cause(tested, question);
    if (!answer.reason.empty()) {
      tested.disturbed = tested.disturbed.value_or(question.aspect);
      return;
    }
    if (shown) {
      answer.verdict = direction;
    } else if (beyond) {
      answer.indicated = direction;
      answer.reason = "indicated, but not proven";
    } else {
      answer.reason = "the runs differ, but not by more than sessions may differ";
      if (answer.basis != Basis::in_turns) {
        answer.reason += ": measure in turns";
        if (answer.basis != Basis::control) answer.reason += ", or with a control volume";
      }
    }
  } else if (answer.ratio_interval) {
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
        std::ranges::find(all, verdict, [](const Said& said) { return said.answer->verdict; });
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
  return aspect == Aspect::time ? kShareOfTime : (1 - kShareOfTime) / 2;
}

}  // namespace

AspectTest ask(Aspect aspect, const SideFigures& base, const SideFigures& fresh,
               std::span<const SideFigures> earlier, const MachineChange* machine) {
  const SessionEvidence evidence = evidence_for(aspect, base, fresh, earlier, machine);
  return {.aspect = aspect,
          .answer = {.ratio = evidence.ratio,
                     .ratio_interval = evidence.interval,
                     .basis = evidence.basis,
                     .p = evidence.p},
          .evidence = evidence,
          .base_drift = drift_ratio(base.values),
          .fresh_drift = drift_ratio(fresh.values)};
}

void judge(std::span<PendingComparison> rows, const CompareOptions& options) {
  std::vector<double> p, p_runs, weights;
  for (const PendingComparison& tested : rows) {
    for (const AspectTest& question : tested.questions) {
      p.push_back(*question.answer.p);
      p_runs.push_back(question.evidence.p_runs);
      weights.push_back(weight_of(question.aspect));
    }
  }
  const std::vector<double> corrected = holm_adjusted(p, weights),
                            corrected_runs = holm_adjusted(p_runs, weights);
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto level = [&](Aspect aspect) { return options.level() * weight_of(aspect) / all; };
  std::size_t next = 0;
  for (PendingComparison& tested : rows) {
    const SessionEvidence* time = nullptr;
    for (AspectTest& test : tested.questions) {
      test.answer.p_holm = corrected[next];
      test.answer.provable = test.evidence.provable(level(test.aspect));
      if (test.answer.provable) test.answer.provable = std::max(*test.answer.provable, test.least);
      decide(tested, test, corrected_runs[next++], options);
      answer_of(tested.row, test.aspect) = test.answer;
      if (test.aspect == Aspect::time) time = &test.evidence;
    }
    sum_up(tested.row);
    if (tested.row.verdict == Verdict::cannot_tell && time && !tested.disturbed) {
      tested.row.more_runs = more_runs(tested.row, *time, level(Aspect::time), options.threshold);
    }
  }
}

}  // namespace filereel
