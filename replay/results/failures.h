// What a replay did otherwise than the trace, in words.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// "position 12, thread 0, open a/b: expected 0, got ENOENT".
std::string describe_divergence(const DivergenceExample& one);

// What makes a replay a failed one: true mismatches, wrong content, differences of the trees. The
// text says how many and names the first; "" if there are none.
std::string failures_of(const Result& result);
std::string failures_of(const Measurement& measurement);  // of one

// Of an operation of a workload that failed: `where` it did and why; `room` says what helps where a
// volume is full.
std::string describe_failure(const std::string& where, const DivergenceExample& what,
                             std::string_view room);

}  // namespace filereel
