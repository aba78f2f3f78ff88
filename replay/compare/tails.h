// Compares tails and stalls of the two sides of a measurement, from the histograms of their runs.
#pragma once

#include <vector>

#include "replay/compare/compared_figures.h"
#include "replay/compare/verdict.h"

namespace filereel {

// Fills tail and stalls of the row if the runs have histograms, and adds the resulting questions. A
// tail is a percentile with at least ten operations of a typical run above it: p99.9 if a run has
// 10,000 of the kind, otherwise p99 if it has 1,000. Kinds with fewer operations are not judged. Of
// several kinds, the one with the smallest p is kept, and its p is multiplied by their number
// (Bonferroni). If nothing stalled, no question is added.
void test_tails(const PooledMeasurement& base, const PooledMeasurement& fresh,
                const CompareOptions& options, PendingComparison& tested);

}  // namespace filereel
