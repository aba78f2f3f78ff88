#include "replay/results/bytes_moved.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "traces/fc_test.h"
#include "traces/operation.h"

namespace filereel {

BytesMoved bytes_moved(const Sample& sample) {
  const auto bytes_of = [&](OperationKind kind) -> std::uint64_t {
    const auto found = sample.latency.find(std::string(operation_info(kind).name));
    return found == sample.latency.end() ? 0 : found->second.bytes;
  };
  const std::uint64_t copied = bytes_of(OperationKind::copy_range);
  return {bytes_of(OperationKind::read) + copied, bytes_of(OperationKind::write) + copied};
}

namespace {

// Calls that succeeded. A name of a newer version is a change: it is not known to be none.
bool has_written(const Sample& sample) {
  if (sample.latency.empty()) return true;  // by another program
  bool opens = false, reads = false;
  for (const auto& [name, calls] : sample.latency) {
    if (calls.count <= calls.errors) continue;
    OperationKind kind{};
    if (!find_operation_kind(name, kind) || is_change(kind)) return true;
    opens = opens || kind == OperationKind::open;
    reads = reads || kind == OperationKind::read || kind == OperationKind::list ||
            kind == OperationKind::map || kind == OperationKind::fault;
  }
  // The name of a call does not say whether it has created a file. What opens files and does not
  // read them creates them.
  return opens && !reads;
}

}  // namespace

bool has_written(const Measurement& measurement) {
  if (info_of(measurement.kind).by_set) {
    return measurement.operation != fc_step_name(FcStep::read);
  }
  return std::ranges::any_of(measurement.samples, [](const Sample& sample) {
    return !has_failed(sample) && has_written(sample);
  });
}

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
  for (Measurement& measurement : result.measurements) {
    measurement.without_bytes_read = lacks_bytes_read(measurement);
    if (!measurement.without_bytes_read) continue;
    ++count;
    if (!first) first = &measurement;
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
  return std::ranges::all_of(measurements, [&](const Measurement* measurement) {
    return measurement->without_bytes_read == measurements.front()->without_bytes_read;
  });
}

}  // namespace filereel
