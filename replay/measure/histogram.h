// Latencies in a log-linear histogram, after HdrHistogram (Tene 2012): each power of two is cut
// into 128 equal buckets, so that a bucket is at most 1/128 = 0.8 % of its lower bound wide.
//
// The buckets are those of an HdrHistogram of two significant digits from 1 ns to 2^40 - 1 ns,
// count for count, and results hold them in HdrHistogram's own encoding (replay/results/packed.h).
// Recording is ours all the same: another thread may read while one records, which HdrHistogram_c
// has only with locked instructions; a bucket is found once for the histogram and the grid of time
// and latency (time_grid.h). A value costs 1.9 ns, with HdrHistogram_c 2.2 ns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/measure/counter.h"

namespace filereel {

// One thread records; any thread may merge it into a histogram of its own meanwhile.
class Histogram {
 public:
  static constexpr std::size_t kSubBits = 7;
  static constexpr std::size_t kTopBit = 40;
  static constexpr std::size_t kBuckets = (kTopBit - kSubBits + 1) << kSubBits;

  // Nanoseconds up to 2^40 (18 minutes) are told apart; longer ones count as that, max() stays
  // exact. Takes no memory until it is needed.
  Histogram() = default;

  // Takes the memory (34 KB) now, so that record() does not.
  void prepare() {
    if (counts_.empty()) counts_.resize(kBuckets);
  }

  void record(std::uint64_t ns) noexcept { record(ns, bucket(ns)); }
  // The same where bucket(ns) is known.
  void record(std::uint64_t ns, std::size_t bucket) noexcept {
    if (counts_.empty()) [[unlikely]] {
      prepare();
    }
    ++counts_[bucket];
    total_ += ns;
    if (ns > max_) max_ = ns;
  }

  void merge(const Histogram& other);
  // Takes away what an earlier copy of this histogram holds. The maximum is then that of the
  // buckets.
  void subtract(const Histogram& earlier);
  // Forgets all values and keeps the memory.
  void clear() noexcept;

  // From buckets that were kept; what they do not tell is given: `max` and `total` in nanoseconds.
  static Histogram of(std::span<const std::uint64_t> counts, std::uint64_t max,
                      std::uint64_t total);

  // Empty or kBuckets.
  std::span<const Counter> buckets() const { return counts_; }
  bool empty() const { return count() == 0; }
  std::uint64_t count() const;
  std::uint64_t max() const { return max_; }
  std::uint64_t total() const { return total_; }

  // The smallest recorded value (to 0.8 %) that at least `share` (0 to 1) of all values do not
  // exceed; 0 if nothing was recorded.
  std::uint64_t percentile(double share) const;
  // How many values lie in buckets above that of `ns`.
  std::uint64_t count_above(std::uint64_t ns) const;
  // The same of their sum, in nanoseconds, to 0.4 %.
  double total_above(std::uint64_t ns) const;

  bool operator==(const Histogram& other) const;

  static std::size_t bucket(std::uint64_t ns) noexcept {
    if (ns >> kTopBit != 0) return kBuckets - 1;
    if (ns < (1U << kSubBits)) return ns;
    const std::size_t shift = static_cast<std::size_t>(std::bit_width(ns)) - 1 - kSubBits;
    return (shift << kSubBits) + (ns >> shift);
  }
  // The smallest and the largest value of a bucket.
  static std::uint64_t lower_bound(std::size_t bucket);
  static std::uint64_t upper_bound(std::size_t bucket);

 private:
  std::vector<Counter> counts_;
  Counter max_ = 0, total_ = 0;
};

}  // namespace filereel
