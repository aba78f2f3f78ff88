// Results from before schema version 8 count bytes in another way: in a phase of a workload with
// steps on files, the bytes read do not count once something is written. These results keep their
// figures and are marked, so that figures of both definitions are never mixed.
#pragma once

#include <cstdint>
#include <span>

#include "replay/results/result.h"

namespace filereel {

inline constexpr std::int64_t kFirstWithBytesRead = 8;  // schema version

// For an older result: marks the measurements without the bytes read (without_bytes_read), and
// adds a warning. Copies are marked, too: nothing distinguishes them from reads and writes of equal
// amounts.
void mark_older_bytes(Result& result);

// Whether Sample::bytes means the same in all of these measurements.
bool same_bytes(std::span<const Measurement* const> measurements);

}  // namespace filereel
