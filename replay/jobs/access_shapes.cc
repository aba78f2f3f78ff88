#include "replay/jobs/access_shapes.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "replay/results/block_baseline.h"

namespace filereel {

std::vector<AccessShape> access_shapes(RecordedSource& source, std::uint32_t depth,
                                       std::size_t most) {
  std::map<std::uint64_t, std::uint64_t> sizes;         // number of accesses by size
  std::unordered_map<FileSlot, std::uint64_t> reached;  // end of the last access
  std::uint64_t random = 0, all = 0;
  std::vector<RecordedOperation> block(4096);
  while (const std::size_t count = source.next(block)) {
    for (std::size_t i = 0; i < count; ++i) {
      const Operation& op = block[i].operation;
      if (op.kind == OperationKind::open) reached[op.file] = 0;
      if (op.kind != OperationKind::read && op.kind != OperationKind::write) continue;
      if (op.expected <= 0) continue;  // nothing was moved
      ++all;
      ++sizes[baseline_block_size(op.length)];
      std::uint64_t& end = reached[op.file];
      if (op.offset != end) ++random;
      end = op.offset + static_cast<std::uint64_t>(op.expected);
    }
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order;  // number, size
  for (const auto& [size, number] : sizes) order.emplace_back(number, size);
  std::ranges::sort(order, std::greater{});
  order.resize(std::min(order.size(), most));
  const bool jumps = 2 * random >= all;
  std::vector<AccessShape> shapes;
  for (const auto& [number, size] : order) {
    shapes.push_back({jumps, size, jumps ? std::max(1U, depth) : kCachedDepth});
  }
  return shapes;
}

void add_shape(std::vector<AccessShape>& shapes, const AccessShape& shape) {
  const auto same = [&](const AccessShape& other) {
    return baseline_block_size(other.block_size) == baseline_block_size(shape.block_size) &&
           other.depth == shape.depth;
  };
  if (std::ranges::none_of(shapes, same)) shapes.push_back(shape);
}

}  // namespace filereel
