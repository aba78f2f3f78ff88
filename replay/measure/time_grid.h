// How a replay went over time: how many operations ended in each interval and how long they took,
// and the bytes and syncs of the interval. What a heat map of time and latency shows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/measure/histogram.h"

namespace filereel {

// Of bounded size: when the intervals are used up, each two neighbours become one of twice the
// width. Recording allocates nothing once prepared (130 KB).
class TimeGrid {
 public:
  static constexpr std::size_t kIntervals = 240;
  static constexpr std::uint64_t kFinestNs = 10'000'000;
  // Latencies in two bins for each power of two: 64 buckets of the histogram are one.
  static constexpr std::size_t kBucketBits = 6;
  static constexpr std::size_t kBins = Histogram::kBuckets >> kBucketBits;

  struct Interval {
    std::uint64_t bytes = 0;  // of data operations
    std::uint64_t syncs = 0;  // operations that wait for the device: fsync and its like
    std::array<std::uint64_t, kBins> operations{};  // by bin of latency
  };

  // Takes the memory now, so that record() does not.
  void prepare() {
    if (intervals_.empty()) intervals_.resize(kIntervals);
  }

  // An operation that ended `at_ns` after the replay's start; `bucket`: of its latency.
  void record(std::uint64_t at_ns, std::size_t bucket, std::uint64_t bytes, bool syncs) noexcept {
    // Mostly in the interval of the one before: no division then.
    if (at_ns - current_begin_ns_ >= width_ns_) [[unlikely]] {
      move_to(at_ns);
    }
    Interval& interval = intervals_[current_];
    ++interval.operations[bucket >> kBucketBits];
    interval.bytes += bytes;
    interval.syncs += syncs ? 1 : 0;
  }
  void merge(const TimeGrid& other);
  // Forgets everything and keeps the memory.
  void clear() noexcept;

  // From what was kept: at most kIntervals of a width that is_width.
  static TimeGrid of(std::uint64_t width_ns, std::span<const Interval> intervals);
  // kFinestNs, or twice or four times … that.
  static bool is_width(std::uint64_t width_ns);

  std::uint64_t width_ns() const { return width_ns_; }
  // Up to the last one that holds something.
  std::span<const Interval> intervals() const { return std::span(intervals_).first(used_); }

  // The smallest latency of a bin, in nanoseconds.
  static std::uint64_t bin_begins(std::size_t bin) {
    return Histogram::lower_bound(bin << kBucketBits);
  }

 private:
  // Far from every time: the difference is no width.
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
