// How precise automatic repetitions are to be, as people write it: "5%", "p99.9=10%", "5%,p99=20%".
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Sets what the text says: a share is that of rates, after the name of a percentile that of a tail.
// What is wrong with the text, as "'p98' is no percentile: …"; "" for nothing.
std::string read_precision(std::string_view text, AutoRuns& automatic);

// The width of the 95 % interval of a measurement's rate, as a share of its median, or that of its
// tail as a share of what is asked of it; the larger of them by `automatic`: at most 1 is precise.
// What has no rate, such as steps that could not be done, is as precise as it will ever be; of too
// few samples nothing is known (infinite).
double relative_width(const Measurement& measurement, const AutoRuns& automatic);

}  // namespace filereel
