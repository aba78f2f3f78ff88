// Log-linear latency histogram after HdrHistogram (Tene 2012). Each power of two is divided into
// 128 equal buckets, so that a bucket is at most 1/128 = 0.8 % of its lower bound wide.
//
// The buckets are exactly those of an HdrHistogram with two significant digits from 1 ns to 2^40 -
// 1 ns. Results store them in HdrHistogram's own encoding (replay/results/packed.h). Recording has
// its own implementation, because another thread may read concurrently, which HdrHistogram_c
// supports only with locked instructions, and because a bucket is computed once for the histogram
// and the grid of time and latency. Recording a value costs 1.9 ns, with HdrHistogram_c 2.2 ns.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/measure/counter.h"

namespace filereel {

// One thread records. Any thread may concurrently merge it into a histogram of its own.
class Histogram {
 public:
  static constexpr std::size_t kSubBits = 7;
  static constexpr std::size_t kTopBit = 40;
  static constexpr std::size_t kBuckets = (kTopBit - kSubBits + 1) << kSubBits;

  // Distinguishes values up to 2^40 ns (18 minutes). Longer ones count as that; max() stays exact.
  // Memory is allocated on first use.
  Histogram() = default;

  // Allocates the memory (34 KB) now, so that record() does not.
  void prepare() {
    if (counts_.empty()) counts_.resize(kBuckets);
  }

  void record(std::uint64_t ns) noexcept { record(ns, bucket(ns)); }
  // The same if bucket(ns) is known.
  void record(std::uint64_t ns, std::size_t bucket) noexcept {
    if (counts_.empty()) [[unlikely]] {
      prepare();
    }
    ++counts_[bucket];
    total_ += ns;
    if (ns > max_) max_ = ns;
  }

  void merge(const Histogram& other);
  // Subtracts the values of an earlier copy of this histogram. The maximum then has the precision
  // of the buckets.
  void subtract(const Histogram& earlier);
  // Removes all values but keeps the memory.
  void clear() noexcept;

  // Restores a histogram from stored buckets. `max` and `total`, in nanoseconds, cannot be derived
  // from them.
  static Histogram of(std::span<const std::uint64_t> counts, std::uint64_t max,
                      std::uint64_t total);

  // Empty or kBuckets.
  std::span<const Counter> buckets() const { return counts_; }
  bool empty() const { return count() == 0; }
  std::uint64_t count() const;
  std::uint64_t max() const { return max_; }
  std::uint64_t total() const { return total_; }

  // The smallest recorded value (to 0.8 %) that at least `share` (0 to 1) of all values do not
  // exceed; 0 if the histogram is empty.
  std::uint64_t percentile(double share) const;
  // The same for several shares in ascending order, in one pass.
  std::vector<std::uint64_t> percentiles(std::span<const double> shares) const;
  // Number of values in buckets above that of `ns`.
  std::uint64_t count_above(std::uint64_t ns) const;
  // Sum of these values in nanoseconds, to 0.4 %.
  double total_above(std::uint64_t ns) const;

  bool operator==(const Histogram& other) const;

  static std::size_t bucket(std::uint64_t ns) noexcept {
    if (ns >> kTopBit != 0) return kBuckets - 1;
    if (ns < (1U << kSubBits)) return ns;
    const std::size_t shift = static_cast<std::size_t>(std::bit_width(ns)) - 1 - kSubBits;
    return (shift << kSubBits) + (ns >> shift);
  }
  // Smallest and largest value of a bucket.
  static std::uint64_t lower_bound(std::size_t bucket);
  static std::uint64_t upper_bound(std::size_t bucket);

 private:
  std::vector<Counter> counts_;
  Counter max_ = 0, total_ = 0;
};

// --- The course of a replay: per interval the number of completed operations by latency, bytes and
// syncs. The data of a heat map of time and latency.

// Bounded size: when all intervals are used, each pair of neighbours is merged and the width
// doubles. Once prepared (130 KB), recording does not allocate.
class TimeGrid {
 public:
  static constexpr std::size_t kIntervals = 240;
  static constexpr std::uint64_t kFinestNs = 10'000'000;
  // Latencies in two bins for each power of two: 64 buckets of the histogram are one.
  static constexpr std::size_t kBucketBits = 6;
  static constexpr std::size_t kBins = Histogram::kBuckets >> kBucketBits;

  struct Interval {
    std::uint64_t bytes = 0;  // of data operations
    std::uint64_t syncs = 0;  // operations that wait for the device, such as fsync
    std::array<std::uint64_t, kBins> operations{};  // by bin of latency
  };

  // Allocates the memory now, so that record() does not.
  void prepare() {
    if (intervals_.empty()) intervals_.resize(kIntervals);
  }

  // Records an operation that ended `at_ns` after the start of the replay. `bucket` is that of its
  // latency.
  void record(std::uint64_t at_ns, std::size_t bucket, std::uint64_t bytes, bool syncs) noexcept {
    // Usually the same interval as the previous operation: no division then.
    if (at_ns - current_begin_ns_ >= width_ns_) [[unlikely]] {
      move_to(at_ns);
    }
    Interval& interval = intervals_[current_];
    ++interval.operations[bucket >> kBucketBits];
    interval.bytes += bytes;
    interval.syncs += syncs ? 1 : 0;
  }
  // Adds another grid whose replay started `later_ns` after this one's, to an interval.
  void merge(const TimeGrid& other, std::uint64_t later_ns = 0);
  // Removes all values but keeps the memory.
  void clear() noexcept;

  // Restores a grid: at most kIntervals intervals of a width that satisfies is_width.
  static TimeGrid of(std::uint64_t width_ns, std::span<const Interval> intervals);
  // kFinestNs times a power of two.
  static bool is_width(std::uint64_t width_ns);

  std::uint64_t width_ns() const { return width_ns_; }
  // Intervals up to the last one used.
  std::span<const Interval> intervals() const { return std::span(intervals_).first(used_); }

  // The smallest latency of a bin, in nanoseconds.
  static std::uint64_t bin_lower_bound(std::size_t bin) {
    return Histogram::lower_bound(bin << kBucketBits);
  }

 private:
  // Far from any time, so that the difference never falls within an interval.
  static constexpr std::uint64_t kNever = std::uint64_t{1} << 63;

  void widen() noexcept;
  void move_to(std::uint64_t at_ns) noexcept;

  std::vector<Interval> intervals_;
  std::uint64_t width_ns_ = kFinestNs;
  std::size_t used_ = 0;
  std::size_t current_ = 0;  // the interval of the last operation
  std::uint64_t current_begin_ns_ = kNever;
};

}  // namespace filereel
