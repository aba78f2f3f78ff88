// Throughput and latency of a running replay, from successive snapshots of its counters.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "replay/engine/replay_progress.h"

namespace filereel {

// Operations completed in an interval.
struct LiveFigures {
  double seconds = 0;  // of the interval
  std::uint64_t operations = 0, bytes = 0;
  // Latency in nanoseconds, precise to 0.8 %; 0 without operations.
  std::uint64_t p50_ns = 0, p99_ns = 0, max_ns = 0;

  double operations_per_s() const;
  double mb_per_s() const;  // 10^6 bytes
};

// The difference of two snapshots. Counters that were reset in between count from zero.
LiveFigures figures_between(const ProgressSnapshot& earlier, const ProgressSnapshot& later,
                            double seconds);

// The figures of the last second, for snapshots taken more often than that.
class LastSecond {
 public:
  // Nothing before the replay and after its last operation.
  std::optional<LiveFigures> add(const ProgressSnapshot& look, std::uint64_t now_ns);

 private:
  struct Past {
    std::uint64_t at_ns;
    ProgressSnapshot look;
  };
  std::deque<Past> past_;  // of one part of the replay; the first is a second old or the start
};

enum class LivePart : std::uint8_t { warm_up, measured, flush };
std::string_view live_part_name(LivePart part);  // "warm-up", …

struct LiveInterval {
  LivePart part = LivePart::measured;
  std::uint64_t end_ns = 0;  // of the measurement clock
  LiveFigures figures;
};

// Splits a replay into intervals of one second. Each part has its own grid, so its last interval is
// shorter. That of the warm-up is dropped, because its counters have been reset by then.
class LiveSeconds {
 public:
  // Whether an interval has ended and take() should be called.
  bool due(const ReplayTimes& times, std::uint64_t now_ns) const;
  // End of the next interval, unless a part ends first.
  std::uint64_t next_ns() const { return next_ns_; }

  // All intervals that ended since the last call, with a part or after a second.
  std::vector<LiveInterval> take(const ProgressSnapshot& look, std::uint64_t now_ns);

 private:
  void enter(LivePart part, std::uint64_t begin_ns);
  void cut(const ProgressSnapshot& look, std::uint64_t end_ns,
           std::vector<LiveInterval>& intervals);

  std::optional<LivePart> part_;
  std::uint64_t begin_ns_ = 0;  // of the part
  std::uint64_t at_ns_ = 0;     // end of the last interval
  std::uint64_t next_ns_ = 0;   // end of the next one
  ProgressSnapshot base_;       // at its end
};

}  // namespace filereel
