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

void TimeSeries::record(std::uint64_t at_ns, std::uint64_t latency_ns,
                        std::uint64_t bytes) noexcept {
  while (at_ns / width_ns_ >= kIntervals) widen();
  const auto i = static_cast<std::size_t>(at_ns / width_ns_);
  used_ = std::max(used_, i + 1);
  add(intervals_[i], {1, bytes, latency_ns, latency_ns});
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
}

void TimeSeries::merge(const TimeSeries& other) {
  while (width_ns_ < other.width_ns_) widen();
  const std::uint64_t scale = width_ns_ / other.width_ns_;
  for (std::size_t i = 0; i < other.used_; ++i) add(intervals_[i / scale], other.intervals_[i]);
  used_ = std::max(used_, static_cast<std::size_t>((other.used_ + scale - 1) / scale));
}

}  // namespace filereel
