// Access shapes of a recorded trace at the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/results/result.h"
#include "traces/recorded_operation.h"

namespace filereel {

// The `most` most frequent sizes, in descending order of frequency. Sizes that are the same at
// block level (see baseline_block_size) count as one. Reads the source to its end. `depth`: queue
// depth of random accesses. Throws as the source.
std::vector<AccessShape> access_shapes(RecordedSource& source, std::uint32_t depth,
                                       std::size_t most);

}  // namespace filereel
