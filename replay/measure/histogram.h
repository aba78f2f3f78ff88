// Latencies in a log-linear histogram, after HdrHistogram (Tene 2012): each power of two is cut
// into 128 equal buckets, so that a bucket is at most 1/128 = 0.8 % of its lower bound wide.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace filereel {

class Histogram {
 public:
  // Nanoseconds up to 2^40 (18 minutes) are told apart; longer ones count as that, max() stays
  // exact. Takes no memory until it is needed.
  Histogram() = default;

  // Takes the memory (34 KB) now, so that record() does not.
  void prepare() {
    if (counts_.empty()) counts_.resize(kBuckets);
  }

  void record(std::uint64_t ns) noexcept {
    if (counts_.empty()) [[unlikely]] {
      prepare();
    }
    ++counts_[bucket(ns)];
    ++count_;
    total_ += ns;
    if (ns > max_) max_ = ns;
  }

  void merge(const Histogram& other);
  // Forgets all values and keeps the memory.
  void clear() noexcept;

  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }
  std::uint64_t total() const { return total_; }

  // The smallest recorded value (to 0.8 %) that at least `share` (0 to 1) of all values do not
  // exceed; 0 if nothing was recorded.
  std::uint64_t percentile(double share) const;

 private:
  static constexpr std::size_t kSubBits = 7;
  static constexpr std::size_t kTopBit = 40;
  static constexpr std::size_t kBuckets = (kTopBit - kSubBits + 1) << kSubBits;

  static std::size_t bucket(std::uint64_t ns) noexcept {
    if (ns >> kTopBit != 0) return kBuckets - 1;
    if (ns < (1U << kSubBits)) return ns;
    const std::size_t shift = static_cast<std::size_t>(std::bit_width(ns)) - 1 - kSubBits;
    return (shift << kSubBits) + (ns >> shift);
  }
  static std::uint64_t upper_bound(std::size_t index);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, max_ = 0, total_ = 0;
};

}  // namespace filereel
