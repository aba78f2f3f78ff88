// Parses the target precision of automatic repetitions: "5%", "p99.9=10%", "5%,p99=20%".
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Sets the precision from the text: a percentage for rates, or for a tail after the name of a
// percentile. Returns the error in the text; "" if there is none.
std::string read_precision(std::string_view text, AutoRuns& automatic);

// The width of a measurement's 95 % intervals as a multiple of the target: 1 or less is narrow
// enough. The larger one of rate and tail. 0 for a measurement without a rate, such as a step that
// was not possible; infinite for too few samples.
double relative_width(const Measurement& measurement, const AutoRuns& automatic);

// The repetitions after which the interval of its rate will probably be narrow enough, estimated
// from the variation between two or more of them; 0 if unknown.
double runs_by_variation(const Measurement& measurement, const AutoRuns& automatic);

}  // namespace filereel
