// Verdicts in words.
#pragma once

#include <string>

#include "replay/compare/comparison.h"

namespace filereel {

// What shows that a measurement is slower or faster, in the aspect that decided and in the others
// that went the same way: "41 stalls over 50 ms in 10 runs (0.1 % of operations, 9 % of the time),
// 0 before".
std::string evidence_of(const ComparedMeasurement& one);

}  // namespace filereel
