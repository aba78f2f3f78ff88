#include "replay/measure/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace filereel {

void Histogram::merge(const Histogram& other) {
  if (other.counts_.empty()) return;
  prepare();
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (const std::uint64_t count = other.counts_[i]; count > 0) counts_[i] += count;
  }
  total_ += other.total_;
  max_ = std::max<std::uint64_t>(max_, other.max_);
}

void Histogram::subtract(const Histogram& earlier) {
  if (earlier.counts_.empty() || counts_.empty()) return;
  max_ = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    counts_[i] = counts_[i] - std::min<std::uint64_t>(counts_[i], earlier.counts_[i]);
    if (counts_[i] > 0) max_ = upper_bound(i);
  }
  total_ = total_ - std::min<std::uint64_t>(total_, earlier.total_);
}

void Histogram::clear() noexcept {
  for (Counter& count : counts_) count = 0;
  max_ = total_ = 0;
}

Histogram Histogram::of(std::span<const std::uint64_t> counts, std::uint64_t max,
                        std::uint64_t total) {
  Histogram made;
  made.prepare();
  std::ranges::copy(counts.first(std::min(counts.size(), kBuckets)), made.counts_.begin());
  made.max_ = max;
  made.total_ = total;
  return made;
}

std::uint64_t Histogram::count() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts_) sum += count;
  return sum;
}

std::uint64_t Histogram::percentile(double share) const {
  return percentiles({&share, 1}).front();
}

std::vector<std::uint64_t> Histogram::percentiles(std::span<const double> shares) const {
  const auto all = static_cast<double>(count());
  std::vector<std::uint64_t> found;
  std::uint64_t seen = 0;
  std::size_t next = 0;  // bucket
  for (const double share : shares) {
    const auto wanted = static_cast<std::uint64_t>(std::max(1.0, std::ceil(share * all)));
    while (next < counts_.size() && seen < wanted) seen += counts_[next++];
    found.push_back(seen < wanted ? std::uint64_t{max_}
                                  : std::min<std::uint64_t>(upper_bound(next - 1), max_));
  }
  return found;
}

std::uint64_t Histogram::count_above(std::uint64_t ns) const {
  std::uint64_t sum = 0;
  for (std::size_t i = bucket(ns) + 1; i < counts_.size(); ++i) sum += counts_[i];
  return sum;
}

double Histogram::total_above(std::uint64_t ns) const {
  double sum = 0;
  for (std::size_t i = bucket(ns) + 1; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const std::uint64_t high = std::min<std::uint64_t>(upper_bound(i), max_);
    const double middle = static_cast<double>(lower_bound(i)) / 2 + static_cast<double>(high) / 2;
    sum += static_cast<double>(counts_[i]) * middle;
  }
  return sum;
}

bool Histogram::operator==(const Histogram& other) const {
  const auto same = [](std::uint64_t a, std::uint64_t b) { return a == b; };
  if (counts_.empty() || other.counts_.empty()) return empty() && other.empty();
  return max_ == std::uint64_t{other.max_} && total_ == std::uint64_t{other.total_} &&
         std::ranges::equal(counts_, other.counts_, same);
}

std::uint64_t Histogram::lower_bound(std::size_t bucket) {
  if (bucket < (1U << kSubBits)) return bucket;
  constexpr std::uint64_t kLow = 1U << kSubBits;
  const std::size_t shift = std::min(bucket, kBuckets - 1) / kLow - 1;
  return (bucket % kLow + kLow) << shift;  // factor 128 to 255
}

std::uint64_t Histogram::upper_bound(std::size_t bucket) {
  return bucket + 1 < kBuckets ? lower_bound(bucket + 1) - 1 : (std::uint64_t{1} << kTopBit) - 1;
}

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
