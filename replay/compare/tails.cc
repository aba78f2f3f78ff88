// The problem. Each run has a histogram for each kind of operation and size, so there are many
// tails to compare. Testing all of them finds a difference somewhere by chance; testing one chosen
// in advance misses the kind that matters. And a histogram is large: those of all runs and kinds
// together do not stay in memory.
//
// So of each run and kind only a summary is kept (KindRun), and of all kinds the one with the
// smallest p is reported, with this p multiplied by their number (Bonferroni). The percentile
// follows from the number of operations in a typical run of the side with fewer, never from the
// latencies: it would otherwise be chosen by what it is to test.
//
// Stalls are counted over all kinds together, above a threshold for each kind that is given, or
// comes from the base alone (stall_threshold). If the new side had a part in it, more stalls would
// raise the threshold and hide themselves. A base without stalls is usual, and a ratio to 0 has no
// meaning: add_half() adds half a stall of an average run to all rates, so that runs without stalls
// are equal, whatever their length.
#include "replay/compare/tails.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "replay/results/latency.h"
#include "replay/results/packed.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

constexpr double kNs = 1e3;  // per microsecond

// A kind of operation; one size class of it if all runs have several.
struct Kind {
  std::string name;
  std::optional<std::uint64_t> up_to;

  auto operator<=>(const Kind&) const = default;
  std::string text() const { return up_to ? size_class_text(name, *up_to) : name; }
};

// Of one run; empty if it has none.
Histogram latencies_of(const Sample& sample, const Kind& kind) {
  const auto found = sample.latency.find(kind.name);
  if (found == sample.latency.end()) return {};
  if (!kind.up_to) return histogram_of(found->second);
  for (const SizeLatency& of_size : found->second.sizes) {
    if (of_size.up_to == *kind.up_to) return histogram_of(of_size);
  }
  return {};
}

// Empty unless every run has histograms: a kind that is missing in a run then did not occur.
std::set<Kind> kinds_of(const std::vector<const Sample*>& samples) {
  std::map<std::string, bool> sized;  // whether all runs with this kind have sizes
  std::set<Kind> kinds;
  for (const Sample* sample : samples) {
    for (const auto& [name, latency] : sample->latency) {
      if (latency.count == 0) continue;
      if (latency.histogram.empty() && latency.sizes.empty()) return {};
      const auto [place, is_new] = sized.try_emplace(name, true);
      place->second = place->second && !latency.sizes.empty();
    }
  }
  for (const Sample* sample : samples) {
    for (const auto& [name, latency] : sample->latency) {
      if (latency.count == 0) continue;
      if (!sized[name]) kinds.insert({name, std::nullopt});
      for (const SizeLatency& of_size : latency.sizes) {
        if (sized[name]) kinds.insert({name, of_size.up_to});
      }
    }
  }
  return kinds;
}

// Data of a kind in one run; whole histograms are too large to keep.
struct KindRun {
  LatencySummary latency;
  Stalls stalls;
};

struct KindSide {
  std::vector<KindRun> runs;

  // In microseconds. A clock may not advance during an operation, but 0 has no logarithm.
  std::vector<double> each(double LatencySummary::* figure) const {
    constexpr double kLeast = 1e-3;
    std::vector<double> values;
    for (const KindRun& run : runs) values.push_back(std::max(run.latency.*figure, kLeast));
    return values;
  }
  double usual_operations() const {
    std::vector<double> counts;
    for (const KindRun& run : runs) counts.push_back(static_cast<double>(run.latency.count));
    return median(counts);
  }
};

// Empty if a sample is missing. `all`: gets the latencies of all samples.
KindSide look_at(const std::vector<const Sample*>& samples, const Kind& kind,
                 std::uint64_t threshold, Histogram* all = nullptr) {
  KindSide looked;
  for (const Sample* sample : samples) {
    if (!sample) return {};
    const Histogram histogram = latencies_of(*sample, kind);
    looked.runs.push_back({summarise(histogram), stalls_above(histogram, threshold)});
    if (all) all->merge(histogram);
  }
  return looked;
}

// Of the base with its own threshold, which is returned, too.
KindSide look_at_base(const std::vector<const Sample*>& samples, const Kind& kind,
                      const CompareOptions& options, std::uint64_t& threshold) {
  Histogram usual;
  threshold = options.stall_ns.value_or(kLeastStallNs);
  KindSide looked = look_at(samples, kind, threshold, &usual);
  if (options.stall_ns) return looked;
  threshold = stall_threshold(usual);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Stalls& stalls = looked.runs[i].stalls;  // above a lower threshold: most runs have none
    if (stalls.count > 0) stalls = stalls_above(latencies_of(*samples[i], kind), threshold);
  }
  return looked;
}

struct KindComparison {
  Kind kind;
  std::uint64_t threshold = 0;  // of stalls, ns
  KindSide base, fresh;
  KindSide base_control, fresh_control;  // of the control's samples in the same runs; or empty
};

std::vector<KindComparison> look_at_kinds(const PooledMeasurement& base,
                                          const PooledMeasurement& fresh,
                                          const CompareOptions& options) {
  std::vector<const Sample*> all = base.samples;
  all.insert(all.end(), fresh.samples.begin(), fresh.samples.end());
  std::vector<KindComparison> kinds;
  for (const Kind& kind : kinds_of(all)) {
    std::uint64_t threshold = 0;
    KindSide before = look_at_base(base.samples, kind, options, threshold);
    kinds.push_back({kind, threshold, std::move(before), look_at(fresh.samples, kind, threshold),
                     look_at(base.controls, kind, threshold),
                     look_at(fresh.controls, kind, threshold)});
  }
  return kinds;
}

struct AskedTail {
  ComparedTail tail;
  AspectTest question;
};

// Nothing unless each run of the control has such operations.
std::vector<double> control_tail(const KindSide& control, double LatencySummary::* figure) {
  const bool lacks =
      std::ranges::any_of(control.runs, [](const KindRun& run) { return run.latency.count == 0; });
  return lacks ? std::vector<double>() : control.each(figure);
}

std::optional<AskedTail> ask_tail(const KindComparison& kind, const PooledMeasurement& before,
                                  const PooledMeasurement& after, const CompareOptions& options) {
  const Percentile* tail =
      tail_percentile(std::min(kind.base.usual_operations(), kind.fresh.usual_operations()));
  if (!tail) return std::nullopt;
  const SideFigures base{&before, kind.base.each(tail->figure),
                         control_tail(kind.base_control, tail->figure)};
  const SideFigures fresh{&after, kind.fresh.each(tail->figure),
                          control_tail(kind.fresh_control, tail->figure)};
  AskedTail asked;
  asked.tail.kind = kind.kind.text();
  asked.tail.percentile = tail->percent;
  asked.tail.base_us = median(base.values);
  asked.tail.fresh_us = median(fresh.values);
  asked.question = ask(Aspect::tail, base, fresh);
  asked.question.least = options.tail_threshold();
  asked.question.latency_ns = std::max(asked.tail.base_us, asked.tail.fresh_us) * kNs;
  return asked;
}

void add_tail(const std::vector<KindComparison>& kinds, const PooledMeasurement& base,
              const PooledMeasurement& fresh, const CompareOptions& options,
              PendingComparison& tested) {
  std::vector<AskedTail> asked;
  for (const KindComparison& kind : kinds) {
    if (auto one = ask_tail(kind, base, fresh, options)) asked.push_back(std::move(*one));
  }
  if (asked.empty()) return;
  AskedTail& surest = *std::ranges::min_element(
      asked, {}, [](const AskedTail& tail) { return *tail.question.answer.p; });
  AspectTest& question = surest.question;
  for (double* p : {&*question.answer.p, &question.evidence.p_runs}) {
    *p = std::min(1.0, *p * static_cast<double>(asked.size()));
  }
  tested.row.tail = std::move(surest.tail);
  tested.questions.push_back(std::move(surest.question));
}

// Over all kinds.
struct StallsOfSide {
  StallSide sum;
  double stall_s = 0;
  std::vector<double> rates;  // by run, over all operations
};

StallsOfSide sum_up(const std::vector<KindComparison>& kinds, KindSide KindComparison::* side,
                    const std::vector<const Sample*>& samples) {
  StallsOfSide all;
  double seconds = 0;
  for (std::size_t run = 0; run < (kinds.front().*side).runs.size(); ++run) {
    Stalls stalls;
    std::uint64_t operations = 0;
    for (const KindComparison& kind : kinds) {
      const KindRun& one = (kind.*side).runs[run];
      stalls += one.stalls;
      operations += one.latency.count;
    }
    all.sum.stalls += stalls.count;
    all.sum.operations += operations;
    all.stall_s += stalls.seconds;
    seconds += seconds_in_calls(*samples[run]);
    all.rates.push_back(
        operations > 0 ? static_cast<double>(stalls.count) / static_cast<double>(operations) : 0);
  }
  if (seconds > 0) all.sum.share_of_time = std::min(1.0, all.stall_s / seconds);
  return all;
}

// The smallest threshold of the kinds that stalled, otherwise of all kinds, in microseconds.
double threshold_shown(const std::vector<KindComparison>& kinds) {
  const auto smallest = std::ranges::min(kinds, {}, [](const KindComparison& kind) {
    const auto stalled = [](const KindRun& run) { return run.stalls.count > 0; };
    const bool none = std::ranges::none_of(kind.base.runs, stalled) &&
                      std::ranges::none_of(kind.fresh.runs, stalled);
    return std::pair(none, kind.threshold);
  });
  return static_cast<double>(smallest.threshold) / kNs;
}

// Adds half a stall of an average run to each rate. Ratios need values above 0, and runs without
// stalls become equal, whatever the number of their operations.
void add_half(const StallsOfSide& before, const StallsOfSide& after, std::vector<double>& base,
              std::vector<double>& fresh) {
  const auto runs = static_cast<double>(base.size() + fresh.size());
  const double half =
      0.5 * runs / static_cast<double>(before.sum.operations + after.sum.operations);
  for (std::vector<double>* rates : {&base, &fresh}) {
    for (double& rate : *rates) rate += half;
  }
}

void add_stalls(const std::vector<KindComparison>& kinds, const PooledMeasurement& base,
                const PooledMeasurement& fresh, PendingComparison& tested) {
  if (kinds.empty()) return;
  const StallsOfSide before = sum_up(kinds, &KindComparison::base, base.samples);
  const StallsOfSide after = sum_up(kinds, &KindComparison::fresh, fresh.samples);
  ComparedStalls& stalls = tested.row.stalls.emplace();
  stalls.threshold_us = threshold_shown(kinds);
  stalls.base = before.sum;
  stalls.fresh = after.sum;
  const std::uint64_t count = before.sum.stalls + after.sum.stalls;
  if (count == 0) {
    stalls.answer.verdict = Verdict::same;
    return;
  }
  SideFigures figures{.of = &base, .values = before.rates},
      other{.of = &fresh, .values = after.rates};
  add_half(before, after, figures.values, other.values);
  const StallsOfSide of_base = sum_up(kinds, &KindComparison::base_control, base.controls);
  const StallsOfSide of_fresh = sum_up(kinds, &KindComparison::fresh_control, fresh.controls);
  if (of_base.sum.operations > 0 && of_fresh.sum.operations > 0) {
    figures.control = of_base.rates;
    other.control = of_fresh.rates;
    add_half(of_base, of_fresh, figures.control, other.control);
  }
  AspectTest question = ask(Aspect::stalls, figures, other);
  question.least = 0.5;
  question.latency_ns = (before.stall_s + after.stall_s) / static_cast<double>(count) * 1e9;
  tested.questions.push_back(std::move(question));
}

}  // namespace

void test_tails(const PooledMeasurement& base, const PooledMeasurement& fresh,
                const CompareOptions& options, PendingComparison& tested) {
  const std::vector<KindComparison> kinds = look_at_kinds(base, fresh, options);
  add_tail(kinds, base, fresh, options, tested);
  add_stalls(kinds, base, fresh, tested);
}

}  // namespace filereel
