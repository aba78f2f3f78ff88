#include "replay/statistics/interval.h"

#include <cmath>

namespace filereel {

std::optional<Interval> widened(const std::optional<Interval>& interval, double value,
                                double error) {
  if (!interval || !(interval->low > 0) || !(value > 0)) return interval;
  constexpr double kDeviations = 1.959964;
  const double low = std::hypot(std::log(value / interval->low), kDeviations * error),
               high = std::hypot(std::log(interval->high / value), kDeviations * error);
  return Interval{value * std::exp(-low), value * std::exp(high)};
}

}  // namespace filereel
