// The progress of a replay, for other threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "replay/engine/statistics.h"

namespace filereel {

// Start times of the parts of a replay, on the stopwatch; 0: not yet.
struct ReplayTimes {
  std::uint64_t start_ns = 0;     // of the warm-up, if any
  std::uint64_t measured_ns = 0;  // start_ns, or the end of the warm-up
  std::uint64_t end_ns = 0;       // all threads have ended; the flush starts
  std::uint64_t durable_ns = 0;   // all data is on the device
};

// The progress of a replay.
struct ProgressSnapshot {
  ReplayTimes times;
  // Since times.measured_ns, or times.start_ns during the warm-up.
  std::uint64_t bytes = 0;  // read and written (moved_bytes)
  std::uint64_t files = 0;
  std::uint64_t operations = 0;
  Histogram latency;  // of all operations
};

// The counts of a running replay for other threads, and its final counts afterwards.
class ReplayProgress {
 public:
  ProgressSnapshot look() const;
  // Only the times, at low cost.
  ReplayTimes times() const;
  // Only the times and bytes, at low cost.
  ProgressSnapshot times_and_bytes() const;

  // For replay(). The statistics live until end().
  void begin(std::vector<const ReplayStatistics*> threads);
  void start(std::uint64_t start_ns, std::uint64_t warm_up_ns);
  void end();
  // Called by the thread that flushed the replay's data, after the flush.
  void durable();

 private:
  ReplayTimes known_times() const;
  ProgressSnapshot sum(bool latencies) const;

  mutable std::mutex mutex_;
  std::vector<const ReplayStatistics*> threads_;
  ReplayTimes times_;  // measured_ns may be in the future
  ProgressSnapshot last_;
};

}  // namespace filereel
