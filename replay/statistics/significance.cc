#include "replay/statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

namespace filereel {

double normal_tail(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

double student_tail(double t, double freedom) {
  const boost::math::students_t_distribution<double> law(freedom);
  return boost::math::cdf(boost::math::complement(law, t));
}

double student_quantile(double p, double freedom) {
  const boost::math::students_t_distribution<double> law(freedom);
  return boost::math::quantile(law, p);
}

std::vector<double> holm_adjusted(std::span<const double> p, std::span<const double> weights) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i] / weights[i]; });
  std::vector<double> adjusted(p.size());
  double left = std::accumulate(weights.begin(), weights.end(), 0.0);
  double highest = 0;
  for (const std::size_t i : order) {
    highest = std::clamp(p[i] / weights[i] * left, highest, 1.0);
    adjusted[i] = highest;
    left -= weights[i];
  }
  return adjusted;
}

std::uint32_t runs_for_level(double level) {
  constexpr double kDeviations = 3;
  constexpr std::uint32_t kFewest = 3, kMostTried = 1000;
  for (std::uint32_t runs = kFewest; runs < kMostTried; ++runs) {
    if (student_quantile(1 - level / 2, runs - 1.0) <= kDeviations * std::sqrt(runs)) return runs;
  }
  return kMostTried;
}

std::uint32_t runs_for_comparison(std::size_t measurements) {
  const auto tests = static_cast<double>(std::max<std::size_t>(1, measurements));
  return runs_for_level(kLevelOfPromise * kFalseAlarms * kShareOfTime / tests);
}

std::uint32_t runs_for_ranking(std::size_t measurements, std::size_t entries) {
  const std::size_t pairs = entries * (entries - 1) / 2;
  const auto tests = static_cast<double>(std::max<std::size_t>(1, measurements * pairs));
  constexpr double kEither = 2;  // false in either direction
  return runs_for_level(kLevelOfPromise * kFalseAlarms / kEither / tests);
}

}  // namespace filereel
