#include "tools/live.h"

#include <algorithm>
#include <array>
#include <utility>

namespace filereel {
namespace {

constexpr std::uint64_t kLiveIntervalNs = 1'000'000'000;

double in_seconds(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

double rate(double count, double seconds) {
  return seconds > 0 ? count / seconds : 0;
}

// Nothing before and after the replay.
std::optional<LivePart> part_at(const ReplayTimes& times) {
  if (times.durable_ns > 0 || times.start_ns == 0) return {};
  if (times.end_ns > 0) return LivePart::flush;
  return times.measured_ns > 0 ? LivePart::measured : LivePart::warm_up;
}

}  // namespace

double LiveFigures::operations_per_s() const {
  return rate(static_cast<double>(operations), seconds);
}

double LiveFigures::mb_per_s() const {
  return rate(static_cast<double>(bytes) / 1e6, seconds);
}

LiveFigures figures_between(const ProgressSnapshot& earlier, const ProgressSnapshot& later,
                            double seconds) {
  // Counts come from the latency histogram, because other counters are read at another time.
  const std::uint64_t before = earlier.latency.count(), after = later.latency.count();
  if (after < before) return figures_between({}, later, seconds);
  LiveFigures figures{.seconds = seconds, .operations = after - before};
  figures.bytes = later.bytes - std::min(later.bytes, earlier.bytes);
  Histogram latency = later.latency;
  latency.subtract(earlier.latency);
  figures.p50_ns = latency.percentile(0.5);
  figures.p99_ns = latency.percentile(0.99);
  figures.max_ns = latency.max();
  return figures;
}

std::optional<LiveFigures> LastSecond::add(const ProgressSnapshot& look, std::uint64_t now_ns) {
  const std::optional<LivePart> part = part_at(look.times);
  if (!part || part == LivePart::flush) {
    past_.clear();
    return {};
  }
  const std::uint64_t begin =
      part == LivePart::measured ? look.times.measured_ns : look.times.start_ns;
  if (past_.empty() || past_.front().at_ns < begin) past_ = {{begin, {}}};
  past_.push_back({now_ns, look});
  while (past_.size() > 2 && now_ns - past_[1].at_ns >= kLiveIntervalNs) past_.pop_front();
  const Past& first = past_.front();
  return figures_between(first.look, look, in_seconds(now_ns - std::min(now_ns, first.at_ns)));
}

std::string_view live_part_name(LivePart part) {
  static constexpr std::array<std::string_view, 3> kNames = {"warm-up", "measured", "flush"};
  return kNames[static_cast<std::size_t>(part)];
}

bool LiveSeconds::due(const ReplayTimes& times, std::uint64_t now_ns) const {
  const std::optional<LivePart> part = part_at(times);
  if (!part) return times.durable_ns > at_ns_;
  return part != part_ || now_ns >= next_ns_;
}

std::vector<LiveInterval> LiveSeconds::take(const ProgressSnapshot& look, std::uint64_t now_ns) {
  std::vector<LiveInterval> intervals;
  const ReplayTimes& times = look.times;
  if (times.start_ns == 0) return intervals;
  if (times.measured_ns == 0) {
    if (!part_) enter(LivePart::warm_up, times.start_ns);
    if (now_ns >= next_ns_) cut(look, now_ns, intervals);
    return intervals;
  }
  if (!part_ || part_ == LivePart::warm_up) {
    enter(LivePart::measured, times.measured_ns);
    base_ = {};
  }
  const auto go_on_to = [&](std::uint64_t end_ns) {
    if (end_ns > 0) {
      cut(look, end_ns, intervals);
    } else if (now_ns >= next_ns_) {
      cut(look, now_ns, intervals);
    }
  };
  if (part_ == LivePart::measured) {
    go_on_to(times.end_ns);
    if (times.end_ns > 0) enter(LivePart::flush, times.end_ns);
  }
  if (part_ == LivePart::flush) go_on_to(times.durable_ns);
  return intervals;
}

void LiveSeconds::enter(LivePart part, std::uint64_t begin_ns) {
  part_ = part;
  begin_ns_ = at_ns_ = begin_ns;
  next_ns_ = begin_ns + kLiveIntervalNs;
}

void LiveSeconds::cut(const ProgressSnapshot& look, std::uint64_t end_ns,
                      std::vector<LiveInterval>& intervals) {
  if (end_ns <= at_ns_) return;
  intervals.push_back({*part_, end_ns, figures_between(base_, look, in_seconds(end_ns - at_ns_))});
  base_ = look;
  at_ns_ = end_ns;
  // Round to the nearest grid point and take the next one, so that early or late calls stay on the
  // grid.
  next_ns_ = begin_ns_ +
             ((at_ns_ - begin_ns_ + kLiveIntervalNs / 2) / kLiveIntervalNs + 1) * kLiveIntervalNs;
}

}  // namespace filereel
