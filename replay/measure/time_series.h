// How a replay went over time: operations, bytes and latencies of equal intervals.
#pragma once

#include <array>
#include <cstdint>

namespace filereel {

// Of bounded size: when the intervals are used up, each two neighbours become one of twice the
// width. Recording allocates nothing.
class TimeSeries {
 public:
  struct Interval {
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;     // of data operations
    std::uint64_t total_ns = 0;  // of the latencies
    std::uint64_t max_ns = 0;
  };
  static constexpr std::size_t kIntervals = 512;
  static constexpr std::uint64_t kFinestNs = 10'000'000;

  // An operation that ended `at_ns` after the replay's start.
  void record(std::uint64_t at_ns, std::uint64_t latency_ns, std::uint64_t bytes) noexcept {
    // Mostly in the interval of the one before: no division then.
    if (at_ns - current_begin_ns_ >= width_ns_) [[unlikely]] {
      move_to(at_ns);
    }
    Interval& interval = intervals_[current_];
    ++interval.operations;
    interval.bytes += bytes;
    interval.total_ns += latency_ns;
    if (latency_ns > interval.max_ns) interval.max_ns = latency_ns;
  }
  void merge(const TimeSeries& other);

  std::uint64_t width_ns() const { return width_ns_; }
  std::size_t size() const { return used_; }  // intervals up to the last one that holds something
  const Interval& operator[](std::size_t i) const { return intervals_[i]; }

 private:
  // Far from every time: the difference is no width.
  static constexpr std::uint64_t kNever = std::uint64_t{1} << 63;

  void widen() noexcept;
  void move_to(std::uint64_t at_ns) noexcept;

  std::array<Interval, kIntervals> intervals_{};
  std::uint64_t width_ns_ = kFinestNs;
  std::size_t used_ = 0;
  std::size_t current_ = 0;  // the interval of the last operation
  std::uint64_t current_begin_ns_ = kNever;
};

}  // namespace filereel
