// How precise automatic repetitions are to be, as people write it: "5%", "p99.9=10%", "5%,p99=20%".
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Sets what the text says: a share is that of rates, after the name of a percentile that of a tail.
// Returns what is wrong with the text; "" if nothing is.
std::string read_precision(std::string_view text, AutoRuns& automatic);

// How wide a measurement's 95 % intervals are, as a multiple of the target: 1 or less is precise.
// The larger one of rate and tail. 0 for a measurement without a rate, such as a step that could
// not be done; infinite for too few samples.
double relative_width(const Measurement& measurement, const AutoRuns& automatic);

}  // namespace filereel
