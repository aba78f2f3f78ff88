// Access shapes of work at the device: the block baseline repeats them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/results/result.h"
#include "traces/recorded_trace.h"

namespace filereel {

// Write-back and read-ahead keep many requests in flight at the device. Block-level tests use this
// queue depth for I/O through the page cache.
inline constexpr std::uint32_t kCachedDepth = 32;

// Adds the shape unless its combination of block size and depth is already there.
void add_shape(std::vector<AccessShape>& shapes, const AccessShape& shape);

// Those of a recorded trace: the `most` most frequent sizes, in descending order of frequency.
// Sizes that are the same at block level (see baseline_block_size) count as one. Reads the source
// to its end. `depth`: queue depth of random accesses. Throws as the source.
std::vector<AccessShape> access_shapes(RecordedSource& source, std::uint32_t depth,
                                       std::size_t most);

}  // namespace filereel
