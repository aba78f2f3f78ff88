// The bytes that a measurement read and wrote, also in results from before they were stored.
#pragma once

#include <cstdint>
#include <span>

#include "replay/results/result.h"

namespace filereel {

// The bytes of files that a sample read and wrote, by its calls. A copy inside the kernel reads and
// writes its content; so does one of reads and writes.
struct BytesMoved {
  std::uint64_t read = 0, written = 0;

  bool operator==(const BytesMoved&) const = default;
};

// Nothing for a sample without calls of its own, such as a copy command.
BytesMoved bytes_moved(const Sample& sample);

// --- Whether work has written: its content, names and attributes are durable later than its last
// call returns, so its rates count until then (rate_time). Derived from the calls, for results of
// any age.

// Whether a sample without failures has written: data, or a change of names or attributes. A step
// of FC-Test does so in all samples or none. Access times that the kernel updates do not count.
bool has_written(const Measurement& measurement);

// --- Results from before schema version 8 count bytes in another way: in a phase of a workload
// with steps on files, the bytes read do not count once something is written. These results keep
// their figures and are marked, so that figures of both definitions are never mixed.

inline constexpr std::int64_t kFirstWithBytesRead = 8;  // schema version

// For an older result: marks the measurements without the bytes read (without_bytes_read), and
// adds a warning. Copies are marked, too: nothing distinguishes them from reads and writes of equal
// amounts.
void mark_older_bytes(Result& result);

// Whether Sample::bytes means the same in all of these measurements.
bool same_bytes(std::span<const Measurement* const> measurements);

}  // namespace filereel
