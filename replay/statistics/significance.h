// Distributions, and significance with several tests at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace filereel {

// --- The standard normal distribution; its quantiles are in filesets/system/random.h.

// The probability of a value above `z`.
double normal_tail(double z);

// --- Student's t distribution.

// The probability of a value above `t`, with `freedom` > 0 degrees of freedom.
double student_tail(double t, double freedom);

// The value with the probability `p` below it; 0 < p < 1.
double student_quantile(double p, double freedom);

// --- Correction for multiple tests.

// Adjusts probabilities so that, among all that are at most a given level, even one false positive
// occurs only with that probability, for any dependence between the tests. This is the weighted
// procedure of S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979), section
// 4. Each test gets a part of the level in proportion to its weight, and passes it on to the others
// once it is rejected. In the order of `p`, 0 to 1; needs as many weights, above 0.
std::vector<double> holm_adjusted(std::span<const double> p, std::span<const double> weights);

// --- The error budget of comparisons, and the numbers of runs that it needs.

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
