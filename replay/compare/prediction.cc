#include "replay/compare/prediction.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/random.h"
#include "filesets/system/search.h"
#include "replay/compare/sessions.h"
#include "replay/statistics/bootstrap.h"
#include "replay/statistics/holm.h"
#include "replay/statistics/normal.h"
#include "replay/statistics/order.h"
#include "replay/statistics/verdict_runs.h"

namespace filereel {
namespace {

constexpr double kDeviations = 1.96;  // standard errors on either side of a 95 % interval
constexpr double kLevel = 0.05;       // of all comparisons together

// A time, and its standard error on the logarithmic scale.
struct ReplayedTime {
  PredictedTime time;
  double spread = 0;
};

ReplayedTime replayed(std::span<const ReplayedVolume> volumes, std::size_t number) {
  const ReplayedVolume& volume = volumes[number];
  ReplayedTime one{.time = {.volume = number}};
  if (!volume.seconds.empty()) one.time.median_s = median(volume.seconds);
  const std::optional<Interval> interval = median_interval(volume.seconds);
  one.time.reason = volume.obstacle;
  if (!interval && one.time.reason.empty()) {
    one.time.reason =
        fmt::format("{} of the {} repetitions needed {} complete", volume.seconds.size(),
                    kLeastForInterval, agreeing(volume.seconds.size(), "is", "are"));
    if (volume.stopped > 0) {
      one.time.reason +=
          fmt::format(": filereel was stopped or frozen, or the machine suspended, during {}",
                      counted(volume.stopped, "repetition"));
    }
  }
  if (!one.time.reason.empty()) return one;
  one.time.rank = 1;
  one.spread = std::log(interval->high / interval->low) / (2 * kDeviations);
  return one;
}

// The logarithms of the ratios of the replays of each turn; empty without turns, as between the
// file systems of one volume.
std::vector<double> turns_of(const ReplayedVolume& one, const ReplayedVolume& other) {
  std::vector<double> ratios;
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < one.runs.size(); ++i) {
    const auto found = std::ranges::find(other.runs, one.runs[i]);
    if (found == other.runs.end()) continue;
    const auto at = static_cast<std::size_t>(found - other.runs.begin());
    ratios.push_back(std::log(one.seconds[i] / other.seconds[at]));
    turns.push_back({"", one.begins_s[i], other.begins_s[at]});
  }
  return alternate(turns) ? ratios : std::vector<double>();
}

// The errors of a ratio apart from the repetitions'.
struct RatioErrors {
  double accuracy = 0, sessions = 0;
};

// The difference of two volumes on the logarithmic scale, as far as it counts, and the variances of
// its errors: that of the repetitions shrinks with their number, the rest does not.
struct TimeDifference {
  double size = 0;
  double runs = 0;  // repetitions
  double of_runs = 0, fixed = 0;
  bool first_slower = false;

  // The probability of a difference at least as large between two volumes of the same speed.
  double two_sided() const {
    const double error = std::sqrt(of_runs + fixed);
    if (error == 0) return size == 0 ? 1 : 0;
    return 2 * normal_tail(size / error);
  }

  // How many repetitions make it significant at the level; nothing if that is not worth it.
  std::optional<std::uint32_t> deciding_runs(double level) const {
    const double quantile = normal_quantile(1 - level / 2);
    const double left = size * size / (quantile * quantile) - fixed;
    if (left <= 0) return std::nullopt;
    const double wanted = std::ceil(runs * of_runs / left);
    if (wanted > kMostAdvisedRuns) return std::nullopt;
    return static_cast<std::uint32_t>(wanted);
  }
};

TimeDifference difference_of(const ReplayedTime& one, const ReplayedTime& other,
                             std::span<const ReplayedVolume> volumes, const RatioErrors& errors) {
  const ReplayedVolume &first = volumes[one.time.volume], &second = volumes[other.time.volume];
  const std::vector<double> turns = turns_of(first, second);
  double ratio = std::log(one.time.median_s / other.time.median_s);
  TimeDifference found{.fixed = errors.accuracy * errors.accuracy};
  if (turns.size() < kLeastForInterval) {
    found.runs = static_cast<double>(std::min(first.seconds.size(), second.seconds.size()));
    found.of_runs = one.spread * one.spread + other.spread * other.spread;
    found.fixed += 2 * errors.sessions * errors.sessions;
  } else {
    ratio = mean(turns);
    found.runs = static_cast<double>(turns.size());
    found.of_runs = variance(turns) / found.runs;
  }
  const double saved = -std::log1p(-(ratio > 0 ? first : second).most_saved);  // by the slower one
  found.size = std::max(0.0, std::abs(ratio) - saved);
  found.first_slower = ratio > 0;
  return found;
}

void rank(std::span<ReplayedTime> times, std::span<const ReplayedVolume> volumes,
          const RatioErrors& errors) {
  std::vector<std::pair<ReplayedTime*, ReplayedTime*>> pairs;  // the faster one first
  std::vector<double> p;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t j = i + 1; j < times.size(); ++j) {
      if (times[i].time.rank == 0 || times[j].time.rank == 0) continue;
      const TimeDifference found = difference_of(times[i], times[j], volumes, errors);
      pairs.emplace_back(&times[found.first_slower ? j : i], &times[found.first_slower ? i : j]);
      p.push_back(found.two_sided());
    }
  }
  const std::vector<double> adjusted = holm_adjusted(p, std::vector<double>(p.size(), 1));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (adjusted[i] > kLevel) continue;
    PredictedTime& slower = pairs[i].second->time;
    slower.faster.push_back(pairs[i].first->time.volume);
    ++slower.rank;
  }
}

// Of the two fastest of `times`, if neither is shown to be faster, and a number may decide.
std::optional<std::uint32_t> deciding_runs(std::span<const ReplayedTime> times,
                                           std::span<const ReplayedVolume> volumes,
                                           const RatioErrors& errors) {
  std::vector<const ReplayedTime*> ranked;
  for (const ReplayedTime& one : times) {
    if (one.time.rank > 0) ranked.push_back(&one);
  }
  if (ranked.size() < 2) return std::nullopt;
  std::ranges::sort(ranked, {}, [](const ReplayedTime* one) {
    return std::tuple(one->time.rank, one->time.median_s);
  });
  const ReplayedTime &first = *ranked[0], &second = *ranked[1];
  if (contains(second.time.faster, first.time.volume)) return std::nullopt;
  const std::size_t pairs = ranked.size() * (ranked.size() - 1) / 2;
  return difference_of(first, second, volumes, errors)
      .deciding_runs(kLevel / static_cast<double>(pairs));
}

}  // namespace

std::uint32_t last_rank(const PredictedTime& time, const Prediction& prediction) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(prediction.times, [&](const PredictedTime& other) {
        return other.rank > 0 && !contains(other.faster, time.volume);
      }));
}

Prediction predict_times(std::span<const ReplayedVolume> volumes,
                         const std::optional<ReplayAccuracy>& accuracy, double sessions) {
  std::vector<ReplayedTime> times;
  for (std::size_t i = 0; i < volumes.size(); ++i) times.push_back(replayed(volumes, i));
  const RatioErrors errors{accuracy ? accuracy->between : 0, sessions};
  rank(times, volumes, errors);
  Prediction prediction{.accuracy = accuracy,
                        .times = {},
                        .sessions = sessions,
                        .deciding_runs = deciding_runs(times, volumes, errors)};
  for (ReplayedTime& one : times) {
    if (one.time.rank > 0) {
      const double width =
          std::exp(kDeviations * std::hypot(one.spread, accuracy ? accuracy->single : 0, sessions));
      const ReplayedVolume& volume = volumes[one.time.volume];
      const double low = one.time.median_s / width;
      const double saved = std::max(low * (1 - volume.most_saved), volume.saved_to_s);
      one.time.interval = {std::min(low, saved), one.time.median_s * width};
      one.time.lowered = 1 - one.time.interval->low / low;
    }
    prediction.times.push_back(std::move(one.time));
  }
  std::ranges::stable_sort(prediction.times, {}, [](const PredictedTime& one) {
    return std::tuple(one.rank == 0, one.rank, one.median_s);
  });
  return prediction;
}

}  // namespace filereel
