#include "replay/compare/prediction.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "replay/statistics/bootstrap.h"
#include "replay/statistics/holm.h"
#include "replay/statistics/normal.h"
#include "replay/statistics/order.h"

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
  }
  if (!one.time.reason.empty()) return one;
  one.time.rank = 1;
  one.spread = std::log(interval->high / interval->low) / (2 * kDeviations);
  return one;
}

// The logarithms of the ratios of the replays of each turn; empty without turns.
std::vector<double> turns_of(const ReplayedVolume& one, const ReplayedVolume& other) {
  std::vector<double> ratios;
  if (one.file_system != other.file_system) return ratios;
  for (std::size_t i = 0; i < one.runs.size(); ++i) {
    const auto found = std::ranges::find(other.runs, one.runs[i]);
    if (found == other.runs.end()) continue;
    const auto at = static_cast<std::size_t>(found - other.runs.begin());
    ratios.push_back(std::log(one.seconds[i] / other.seconds[at]));
  }
  return ratios;
}

// The errors of a ratio apart from the repetitions'.
struct RatioErrors {
  double accuracy = 0, sessions = 0;
};

// The probability of a difference at least as large between two volumes of the same speed.
double two_sided(const ReplayedTime& one, const ReplayedTime& other,
                 std::span<const ReplayedVolume> volumes, const RatioErrors& errors) {
  const std::vector<double> turns = turns_of(volumes[one.time.volume], volumes[other.time.volume]);
  double difference = std::log(one.time.median_s / other.time.median_s), error = 0;
  const ReplayedTime& slower = difference > 0 ? one : other;
  const double saved = -std::log1p(-volumes[slower.time.volume].most_saved);
  if (turns.size() < kLeastForInterval) {
    constexpr double kSides = 2;
    error = std::hypot(std::hypot(one.spread, other.spread, errors.accuracy),
                       std::sqrt(kSides) * errors.sessions);
  } else {
    difference = mean(turns);
    error =
        std::hypot(std::sqrt(variance(turns) / static_cast<double>(turns.size())), errors.accuracy);
  }
  const double least = std::max(0.0, std::abs(difference) - saved);
  if (error == 0) return least == 0 ? 1 : 0;
  return 2 * normal_tail(least / error);
}

void rank(std::span<ReplayedTime> times, std::span<const ReplayedVolume> volumes,
          const RatioErrors& errors) {
  std::vector<std::pair<ReplayedTime*, ReplayedTime*>> pairs;  // the faster one first
  std::vector<double> p;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t j = i + 1; j < times.size(); ++j) {
      if (times[i].time.rank == 0 || times[j].time.rank == 0) continue;
      const bool in_order = times[i].time.median_s <= times[j].time.median_s;
      pairs.emplace_back(&times[in_order ? i : j], &times[in_order ? j : i]);
      p.push_back(two_sided(times[i], times[j], volumes, errors));
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

}  // namespace

Prediction predict_times(std::span<const ReplayedVolume> volumes,
                         const std::optional<ReplayAccuracy>& accuracy, double sessions) {
  std::vector<ReplayedTime> times;
  for (std::size_t i = 0; i < volumes.size(); ++i) times.push_back(replayed(volumes, i));
  rank(times, volumes, {accuracy ? accuracy->between : 0, sessions});
  Prediction prediction{.accuracy = accuracy, .times = {}, .sessions = sessions};
  for (ReplayedTime& one : times) {
    if (one.time.rank > 0) {
      const double width =
          std::exp(kDeviations * std::hypot(one.spread, accuracy ? accuracy->single : 0, sessions));
      const double least = one.time.median_s * (1 - volumes[one.time.volume].most_saved);
      one.time.interval = {least / width, one.time.median_s * width};
    }
    prediction.times.push_back(std::move(one.time));
  }
  std::ranges::stable_sort(prediction.times, {}, [](const PredictedTime& one) {
    return std::tuple(one.rank == 0, one.rank, one.median_s);
  });
  return prediction;
}

}  // namespace filereel
