// The error budget of comparisons, and the numbers of runs that it needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filereel {

// The promised limit of the probability of a false alarm in a whole comparison, or of a false order
// in a whole ranking.
inline constexpr double kFalseAlarms = 0.01;

// The largest two-sided p, corrected, of a verdict, relative to the promise. Chance makes something
// slower with half of it: three quarters of the promise. The rest is for what the known spread of
// sessions does not cover (docs/compare.md, Measured error rates).
inline constexpr double kLevelOfPromise = 1.5;

// The share of the error budget that the time of a measurement has; tails and stalls have the rest.
inline constexpr double kShareOfTime = 0.8;

// More than so many runs are not advised: no number of runs decides then.
inline constexpr std::uint32_t kMostAdvisedRuns = 100;

// The smallest number of runs on each side with which a change of the time of three standard
// deviations of its runs has a two-sided p of at most `level`.
std::uint32_t runs_for_level(double level);

// The same for a proof, if this many measurements are compared in turns.
std::uint32_t runs_for_comparison(std::size_t measurements);

// The same for an order of two of `entries`, which are ranked in each measurement.
std::uint32_t runs_for_ranking(std::size_t measurements, std::size_t entries);

}  // namespace filereel
