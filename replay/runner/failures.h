// What a replay did otherwise than the trace, in words.
#pragma once

#include <string>

#include "replay/runner/result.h"

namespace filereel {

// "position 12, thread 0, open a/b: expected 0, got ENOENT".
std::string describe_divergence(const DivergenceExample& one);

// What makes a replay a failed one: true mismatches, wrong content, differences of the trees. The
// text says how many and names the first; "" if there are none.
std::string failures_of(const Result& result);

}  // namespace filereel
