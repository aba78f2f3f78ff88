#include "replay/results/bytes_moved.h"

#include <string>

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

}  // namespace filereel
