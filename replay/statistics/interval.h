// A confidence interval; the function that returns it states the confidence.
#pragma once

#include <optional>

namespace filereel {

struct Interval {
  double low = 0, high = 0;
};

// A 95 % interval of `value` with a further independent error: a standard deviation on the scale of
// logarithms. Unchanged if it is not above 0.
std::optional<Interval> widened(const std::optional<Interval>& interval, double value,
                                double error);

}  // namespace filereel
