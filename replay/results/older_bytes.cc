#include "replay/results/older_bytes.h"

#include <algorithm>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/printable.h"
#include "replay/results/bytes_moved.h"

namespace filereel {
namespace {

bool lacks_bytes_read(const Measurement& measurement) {
  if (measurement.kind != JobKind::workload) return false;
  return std::ranges::any_of(measurement.samples, [](const Sample& sample) {
    const BytesMoved moved = bytes_moved(sample);
    return moved.read > 0 && moved.written > 0 && sample.bytes == moved.written;
  });
}

}  // namespace

void mark_older_bytes(Result& result) {
  std::size_t count = 0;
  const Measurement* first = nullptr;
  for (Measurement& one : result.measurements) {
    one.without_bytes_read = lacks_bytes_read(one);
    if (!one.without_bytes_read) continue;
    ++count;
    if (!first) first = &one;
  }
  if (!first) return;
  result.warn({"bytes-without-reads",
               fmt::format("MB/s of {} counts only the bytes written, as filereel did before "
                           "(first: {}: {})",
                           counted(count, "measurement"), printable(first->workload),
                           printable(first->operation)),
               "measure again to compare MB/s with newer results"});
}

bool same_bytes(std::span<const Measurement* const> measurements) {
  return std::ranges::all_of(measurements, [&](const Measurement* one) {
    return one->without_bytes_read == measurements.front()->without_bytes_read;
  });
}

}  // namespace filereel
