#include "traces/mysql/key_tree.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <vector>

namespace filereel {

void KeyTree::begin_with(std::uint32_t leaves, std::uint64_t keys, std::uint32_t fill) {
  leaves = std::max<std::uint32_t>(leaves, 1);
  end_ = keys;
  // A leaf at an odd multiple of 2^n was split off when leaves were 2^n of these apart.
  std::vector<std::uint32_t> order;
  order.reserve(leaves);
  order.push_back(0);
  for (std::uint64_t distance = std::bit_ceil(leaves); distance > 0; distance /= 2) {
    for (std::uint64_t at = distance; at < leaves; at += 2 * distance) {
      order.push_back(static_cast<std::uint32_t>(at));
    }
  }
  for (const std::uint32_t place : order) {
    const std::uint64_t key = keys / leaves * place;
    // Spread uniformly, so that they do not all split at the same time.
    const std::uint32_t spread = std::min(fill, kRoom - fill);
    const std::uint32_t bytes = fill - spread + 2 * spread * (place * 7919U % 1024) / 1024;
    leaves_[key] = {segment_.pages(), bytes};
    segment_.grow();
  }
}

KeyTree::Found KeyTree::find(std::uint64_t key) const {
  const auto leaf = std::prev(leaves_.upper_bound(key));
  return {segment_.page(leaf->second.number)};
}

KeyTree::Found KeyTree::insert(std::uint64_t key, std::uint32_t bytes) {
  const auto leaf = std::prev(leaves_.upper_bound(key));
  Found found{segment_.page(leaf->second.number)};
  leaf->second.bytes += bytes;
  end_ = std::max(end_, key + 1);
  if (leaf->second.bytes <= kRoom) return found;
  const auto behind = std::next(leaf);
  const std::uint64_t low = leaf->first;
  const std::uint64_t end = behind == leaves_.end() ? end_ : behind->first;
  const std::uint64_t middle = low + (end - low) / 2;
  if (middle == low) return found;  // keys are not finer: the leaf remains too full
  leaf->second.bytes /= 2;
  leaves_[middle] = {segment_.pages(), leaf->second.bytes};
  segment_.grow();
  found.split = true;
  found.added = segment_.page(segment_.pages() - 1);
  return found;
}

}  // namespace filereel
