#include "replay/compare/prediction.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

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
    one.time.reason = fmt::format("{} of the {} repetitions needed are complete",
                                  volume.seconds.size(), kLeastForInterval);
  }
  if (!one.time.reason.empty()) return one;
  one.time.rank = 1;
  one.spread = std::log(interval->high / interval->low) / (2 * kDeviations);
  return one;
}

// The probability of a difference at least as large between two volumes of the same speed.
double two_sided(const ReplayedTime& one, const ReplayedTime& other, double accuracy) {
  const double difference = std::abs(std::log(one.time.median_s / other.time.median_s));
  const double error = std::hypot(one.spread, other.spread, accuracy);
  if (error == 0) return difference == 0 ? 1 : 0;
  return 2 * normal_tail(difference / error);
}

void rank(std::span<ReplayedTime> times, double accuracy) {
  std::vector<std::pair<ReplayedTime*, ReplayedTime*>> pairs;  // the faster one first
  std::vector<double> p;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t j = i + 1; j < times.size(); ++j) {
      if (times[i].time.rank == 0 || times[j].time.rank == 0) continue;
      const bool in_order = times[i].time.median_s <= times[j].time.median_s;
      pairs.emplace_back(&times[in_order ? i : j], &times[in_order ? j : i]);
      p.push_back(two_sided(times[i], times[j], accuracy));
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
                         const std::optional<ReplayAccuracy>& accuracy) {
  std::vector<ReplayedTime> times;
  for (std::size_t i = 0; i < volumes.size(); ++i) times.push_back(replayed(volumes, i));
  rank(times, accuracy ? accuracy->between : 0);
  Prediction prediction{.accuracy = accuracy, .times = {}};
  for (ReplayedTime& one : times) {
    if (one.time.rank > 0) {
      const double width =
          std::exp(kDeviations * std::hypot(one.spread, accuracy ? accuracy->single : 0));
      one.time.interval = {one.time.median_s / width, one.time.median_s * width};
    }
    prediction.times.push_back(std::move(one.time));
  }
  std::ranges::stable_sort(prediction.times, {}, [](const PredictedTime& one) {
    return std::tuple(one.rank == 0, one.rank, one.median_s);
  });
  return prediction;
}

}  // namespace filereel
