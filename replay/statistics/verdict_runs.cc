#include "replay/statistics/verdict_runs.h"

#include <algorithm>
#include <cmath>

#include "replay/statistics/student.h"

namespace filereel {

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
