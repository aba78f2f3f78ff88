#include "replay/measure/time_grid.h"

#include <algorithm>
#include <bit>

namespace filereel {
namespace {

void add(TimeGrid::Interval& to, const TimeGrid::Interval& from) {
  to.bytes += from.bytes;
  to.syncs += from.syncs;
  for (std::size_t i = 0; i < TimeGrid::kBins; ++i) to.operations[i] += from.operations[i];
}

}  // namespace

void TimeGrid::move_to(std::uint64_t at_ns) noexcept {
  prepare();
  while (at_ns / width_ns_ >= kIntervals) widen();
  current_ = static_cast<std::size_t>(at_ns / width_ns_);
  current_begin_ns_ = current_ * width_ns_;
  used_ = std::max(used_, current_ + 1);
}

void TimeGrid::widen() noexcept {
  for (std::size_t i = 0; i < kIntervals / 2; ++i) {
    Interval both = intervals_[2 * i];
    add(both, intervals_[2 * i + 1]);
    intervals_[i] = both;
  }
  std::fill(intervals_.begin() + kIntervals / 2, intervals_.end(), Interval{});
  used_ = (used_ + 1) / 2;
  width_ns_ *= 2;
  current_begin_ns_ = kNever;
}

void TimeGrid::merge(const TimeGrid& other, std::uint64_t later_ns) {
  if (other.used_ == 0) return;
  prepare();
  const std::uint64_t later = (later_ns + other.width_ns_ / 2) / other.width_ns_;  // intervals
  const std::uint64_t end = later + other.used_;
  while (width_ns_ < other.width_ns_ || (end - 1) * other.width_ns_ / width_ns_ >= kIntervals) {
    widen();
  }
  const std::uint64_t scale = width_ns_ / other.width_ns_;
  for (std::size_t i = 0; i < other.used_; ++i) {
    add(intervals_[(later + i) / scale], other.intervals_[i]);
  }
  used_ = std::max(used_, static_cast<std::size_t>((end + scale - 1) / scale));
}

void TimeGrid::clear() noexcept {
  std::fill_n(intervals_.begin(), used_, Interval{});
  width_ns_ = kFinestNs;
  used_ = current_ = 0;
  current_begin_ns_ = kNever;
}

TimeGrid TimeGrid::of(std::uint64_t width_ns, std::span<const Interval> intervals) {
  TimeGrid grid;
  grid.prepare();
  grid.width_ns_ = width_ns;
  grid.used_ = std::min(intervals.size(), kIntervals);
  std::ranges::copy(intervals.first(grid.used_), grid.intervals_.begin());
  return grid;
}

bool TimeGrid::is_width(std::uint64_t width_ns) {
  return width_ns >= kFinestNs && width_ns % kFinestNs == 0 &&
         std::has_single_bit(width_ns / kFinestNs);
}

}  // namespace filereel
