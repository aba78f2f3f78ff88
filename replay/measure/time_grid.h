// The course of a replay: per interval the number of completed operations by latency, bytes and
// syncs. The data of a heat map of time and latency.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/measure/histogram.h"

namespace filereel {

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
