#include "replay/measure/time_series.h"

#include <algorithm>

namespace filereel {
namespace {

void add(TimeSeries::Interval& to, const TimeSeries::Interval& from) {
  to.operations += from.operations;
  to.bytes += from.bytes;
  to.total_ns += from.total_ns;
  to.max_ns = std::max(to.max_ns, from.max_ns);
}

}  // namespace

void TimeSeries::move_to(std::uint64_t at_ns) noexcept {
  while (at_ns / width_ns_ >= kIntervals) widen();
  current_ = static_cast<std::size_t>(at_ns / width_ns_);
  current_begin_ns_ = current_ * width_ns_;
  used_ = std::max(used_, current_ + 1);
}

void TimeSeries::widen() noexcept {
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

void TimeSeries::merge(const TimeSeries& other) {
  while (width_ns_ < other.width_ns_) widen();
  const std::uint64_t scale = width_ns_ / other.width_ns_;
  for (std::size_t i = 0; i < other.used_; ++i) add(intervals_[i / scale], other.intervals_[i]);
  used_ = std::max(used_, static_cast<std::size_t>((other.used_ + scale - 1) / scale));
}

}  // namespace filereel
