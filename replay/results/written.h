// Whether work has written: its content, names and attributes are durable later than its last call
// returns, so its rates count until then (rate_time). Derived from the calls, for results of any
// age.
#pragma once

#include "replay/results/result.h"

namespace filereel {

// Whether a sample without failures has written: data, or a change of names or attributes. A step
// of FC-Test does so in all samples or none. Access times that the kernel updates do not count.
bool has_written(const Measurement& measurement);

}  // namespace filereel
