// Tails and stalls of the two sides of a measurement, from the histograms of their runs.
#pragma once

#include <vector>

#include "replay/compare/verdict.h"
#include "replay/compare/work.h"

namespace filereel {

// Fills tail and stalls of the row as far as the runs have histograms, and adds the questions that
// can be asked. A tail is a percentile that ten operations of a usual run lie above: p99.9 where a
// run has 10,000 of the kind, else p99 where it has 1,000. A kind of which there are fewer is not
// judged. Where there are several, that with the smallest p is kept, and its p is multiplied by
// their number (Bonferroni). Where nothing stalled, nothing is asked.
void ask_tails(const Gathered& base, const Gathered& fresh, const CompareOptions& options,
               Tested& tested);

}  // namespace filereel
