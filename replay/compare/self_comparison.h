// Comparison of a volume with itself: sessions between which nothing changed. Shows the false
// alarms that compare would give, and the smallest change that it would show, before there is a
// change to look for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/changes.h"
#include "replay/compare/comparison.h"
#include "replay/results/result.h"

namespace filereel {

inline constexpr std::size_t kMostSelfComparisons = 300;

struct SelfMeasurement {
  MeasurementKey key;
  double median_s = 0;  // of the sessions' medians of the compared figure
  // The standard deviation of the logarithms of the sessions' medians.
  double spread = 0;
  std::size_t false_alarms = 0;  // comparisons with a verdict of a change
  std::size_t false_indications = 0;
  // The median over the comparisons; empty if most of them could not have shown any change.
  std::optional<double> provable = {};
  std::optional<double> provable_of_halves = {};  // see SelfComparison::halves
};

struct SelfComparison {
  std::size_t sessions = 0, comparisons = 0;  // of one session with one
  std::size_t alarms = 0;                     // comparisons with any false alarm
  std::size_t indications = 0;                // comparisons that indicate any change
  std::string level = {};                     // of these comparisons, see level_of
  // The number of sessions on each side of one more comparison, of the first half of them with the
  // last; 0 with fewer than six.
  std::size_t halves = 0;
  std::string level_of_halves = {};
  std::vector<SelfMeasurement> measurements = {};
  std::vector<Difference> differences = {};  // between the sessions, besides their figures
};

// Compares each session with each later one; at most kMostSelfComparisons of these, evenly chosen.
// Needs at least two results. Without measurements if they have none in common.
SelfComparison compare_with_itself(std::span<const Result> sessions,
                                   const CompareOptions& options = {});

// As a table of `filereel compare --self`, in JSON.
std::string self_comparison_to_json(const SelfComparison& comparison);

}  // namespace filereel
