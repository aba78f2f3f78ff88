// What the reads and writes of a recorded trace are to a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/results/result.h"
#include "traces/recorded_operation.h"

namespace filereel {

// Of the most frequent sizes, at most `most`, the most frequent one first; sizes that are the same
// at block level (see baseline_block_size) count as one. Reads the source to its end. `depth`:
// requests in flight, where they are random. Throws as the source.
std::vector<AccessShape> access_shapes(RecordedSource& source, std::uint32_t depth,
                                       std::size_t most);

}  // namespace filereel
