#include "replay/engine/slowest.h"

#include <algorithm>

namespace filereel {
namespace {

bool slower(const SlowOperation& a, const SlowOperation& b) {
  return a.latency_ns > b.latency_ns;
}

}  // namespace

void SlowestOperations::keep(const SlowOperation& one) noexcept {
  if (!would_keep(one.latency_ns)) return;
  const auto begin = heap_.begin();
  if (count_ == kMost) {
    std::pop_heap(begin, heap_.end(), slower);
    --count_;
  }
  heap_[count_++] = one;
  std::push_heap(begin, begin + static_cast<std::ptrdiff_t>(count_), slower);
  if (count_ == kMost) threshold_ns_ = heap_.front().latency_ns;
}

void SlowestOperations::merge(const SlowestOperations& other) noexcept {
  for (const SlowOperation& one : other.operations()) keep(one);
}

}  // namespace filereel
