// Describes verdicts.
#pragma once

#include <string>

#include "replay/compare/comparison.h"

namespace filereel {

// The evidence that a measurement is slower or faster, for the deciding aspect and the others with
// the same verdict: "41 stalls over 50 ms in 10 runs (0.1 % of operations, 9 % of the time), 0
// before".
std::string evidence_of(const ComparedMeasurement& one);

}  // namespace filereel
