#include "replay/measure/histogram.h"

#include <algorithm>
#include <cmath>

namespace filereel {

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  prepare();
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  total_ += other.total_;
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() noexcept {
  std::ranges::fill(counts_, 0);
  count_ = max_ = total_ = 0;
}

std::uint64_t Histogram::percentile(double share) const {
  const auto wanted =
      static_cast<std::uint64_t>(std::max(1.0, std::ceil(share * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size() && count_ > 0; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(upper_bound(i), max_);
  }
  return max_;
}

std::uint64_t Histogram::upper_bound(std::size_t index) {
  if (index < (1U << kSubBits)) return index;
  const std::size_t shift = (index >> kSubBits) - 1;
  const std::uint64_t low = index - (shift << kSubBits);  // 128 to 255
  return ((low + 1) << shift) - 1;
}

}  // namespace filereel
