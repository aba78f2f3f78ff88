// The levels of a series: the stretches between the points where its mean changes, such as the
// rates of a drive before and after its write cache is used up.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "replay/statistics/summary.h"

namespace filereel {

// The 95 % interval of the mean of values that may depend on their neighbours: Student's, of the
// means of ten batches (Law and Kelton, "Simulation Modeling and Analysis", 3rd ed. 2000, 9.5.3).
// Of fewer than twenty values, each is a batch. The mean alone for a single value.
Interval interval_of_mean(std::span<const double> values);

struct Level {
  std::size_t begin = 0, end = 0;  // positions in the series: [begin, end)
  // Without the last one or two values before a change and the first ones after it, which may have
  // a part of both levels.
  double mean = 0;
  Interval interval = {};  // interval_of_mean
  // Means of the first and the last tenth of these values; of fewer than kLeastForDrift, `mean`.
  double first = 0, last = 0;

  // Whether they differ by kLeastChange or more.
  bool drifts() const;
};
inline constexpr std::size_t kLeastForDrift = 50;

// Neighbours whose means differ by less are one level, as a share of the larger.
inline constexpr double kLeastChange = 0.2;

// All levels in order; the first begins at 0, and each ends where the next one begins. Values are
// at least 0 and in any unit.
//
// The change points are those of PELT: Killick, Fearnhead and Eckley, "Optimal Detection of
// Changepoints With a Linear Computational Cost" (2012), for changes of the mean, with the penalty
// 3 s² ln n for each and at least two values in each part. s is the spread of the values around
// their level, from the median of the differences of values that are four apart, so that neither
// the changes themselves nor a few stalls count.
//
// Three things are no levels of their own:
// - a difference of less than kLeastChange
// - fewer than `shortest` values, unless they are the first and higher than the next: an
//   interruption of a level, a transition, a slow begin or an end. They belong to the more similar
//   neighbour. `shortest`: at least 2
// - a drift: less than half of the difference is reached near the change point
std::vector<Level> levels_of(std::span<const double> series, std::size_t shortest);

}  // namespace filereel
