#include "replay/results/written.h"

#include <algorithm>

#include "traces/fc_test.h"
#include "traces/operation.h"

namespace filereel {
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

}  // namespace filereel
