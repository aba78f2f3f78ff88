// Describes where a replay diverged from the trace.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// "position 12, thread 0, open a/b: expected 0, got ENOENT".
std::string describe_divergence(const DivergenceExample& one);

// The reasons why a replay failed: true mismatches, wrong content, differences in the tree. The
// text gives the counts and the first one; "" if there are none.
std::string failures_of(const Result& result);
std::string failures_of(const Measurement& measurement);  // of one measurement

// Describes a failed operation of a workload: where and why. `room` is the advice for a full
// volume.
std::string describe_failure(const std::string& where, const DivergenceExample& what,
                             std::string_view room);

}  // namespace filereel
