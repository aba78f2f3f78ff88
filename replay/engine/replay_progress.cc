#include "replay/engine/replay_progress.h"

#include <utility>

#include "replay/measure/clock.h"

namespace filereel {

ReplayTimes ReplayProgress::known_times() const {
  ReplayTimes times = times_;
  if (times.end_ns == 0 && times.measured_ns > now_ns()) times.measured_ns = 0;
  return times;
}

ProgressSnapshot ReplayProgress::sum(bool latencies) const {
  ProgressSnapshot look;
  look.times = known_times();
  const bool warm_up = times_.measured_ns > times_.start_ns;
  for (const ReplayStatistics* statistics : threads_) {
    // A thread may still be at the last operation of its warm-up.
    if (warm_up && look.times.measured_ns > 0 && statistics->restarts.published() == 0) continue;
    look.bytes += statistics->bytes;
    look.files += statistics->files;
    look.operations += statistics->operations;
    if (!latencies) continue;
    for (const KindStatistics& kind : statistics->kinds) {
      for (const Histogram& size : kind.by_size) look.latency.merge(size);
    }
  }
  return look;
}

ProgressSnapshot ReplayProgress::look() const {
  const std::lock_guard lock(mutex_);
  if (!threads_.empty()) return sum(true);
  ProgressSnapshot look = last_;
  look.times = times_;
  return look;
}

ProgressSnapshot ReplayProgress::times_and_bytes() const {
  const std::lock_guard lock(mutex_);
  if (!threads_.empty()) return sum(false);
  return {.times = times_, .bytes = last_.bytes, .latency = {}};
}

ReplayTimes ReplayProgress::times() const {
  const std::lock_guard lock(mutex_);
  return known_times();
}

void ReplayProgress::begin(std::vector<const ReplayStatistics*> threads) {
  const std::lock_guard lock(mutex_);
  threads_ = std::move(threads);
}

void ReplayProgress::start(std::uint64_t start_ns, std::uint64_t warm_up_ns) {
  const std::lock_guard lock(mutex_);
  times_.start_ns = start_ns;
  times_.measured_ns = start_ns + warm_up_ns;
}

void ReplayProgress::end() {
  const std::lock_guard lock(mutex_);
  times_.end_ns = now_ns();
  if (times_.measured_ns > times_.end_ns) times_.measured_ns = times_.end_ns;
  last_ = sum(true);
  threads_.clear();
}

void ReplayProgress::durable() {
  const std::lock_guard lock(mutex_);
  times_.durable_ns = now_ns();
}

}  // namespace filereel
