// Samples the written and read bytes of a step twice a second, while it runs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "replay/engine/replay_progress.h"
#include "replay/results/sample.h"

namespace filereel {

// A course (TimeGrid) has a bounded number of intervals, which get longer with the step: after an
// hour, 20 s each. This series keeps its interval, so that a write cache of a few percent of the
// drive is seen. A thread of its own reads the counters of the replay, which cost it nothing; a
// late look is corrected by interpolation.
class RateSampler {
 public:
  // Starts to sample when the measured time of the replay starts. The progress outlives the
  // sampler.
  explicit RateSampler(const ReplayProgress& progress);
  RateSampler(const RateSampler&) = delete;
  RateSampler& operator=(const RateSampler&) = delete;
  ~RateSampler() { end(); }

  // Call when the replay has ended.
  RateSeries series();

 private:
  void work();
  void end();

  const ReplayProgress& progress_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;                // behind the mutex
  std::vector<std::uint64_t> bytes_;  // of the thread until it has ended, by interval
  std::thread thread_;
};

}  // namespace filereel
