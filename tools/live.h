// Figures of a replay while it runs, from successive looks at its counters.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "replay/engine/io_engine.h"

namespace filereel {

// What was finished in an interval.
struct LiveFigures {
  double seconds = 0;  // of the interval
  std::uint64_t operations = 0, bytes = 0;
  // Of the latency in nanoseconds, to 0.8 %; 0 without operations.
  std::uint64_t p50_ns = 0, p99_ns = 0, max_ns = 0;

  double operations_per_s() const;
  double mb_per_s() const;  // 10^6 bytes
};

// From one look to a later one. Counters that began anew in between count from zero.
LiveFigures figures_between(const ProgressSnapshot& earlier, const ProgressSnapshot& later,
                            double seconds);

// The figures of the last second, in looks that come more often than that.
class LastSecond {
 public:
  // Nothing before the replay, and where nothing runs any more.
  std::optional<LiveFigures> add(const ProgressSnapshot& look, std::uint64_t now_ns);

 private:
  struct Past {
    std::uint64_t at_ns;
    ProgressSnapshot look;
  };
  std::deque<Past> past_;  // of one part of the replay; the first one is a second old, or its begin
};

enum class LivePart : std::uint8_t { warm_up, measured, flush };
std::string_view live_part_name(LivePart part);  // "warm-up", …

struct LiveInterval {
  LivePart part = LivePart::measured;
  std::uint64_t end_ns = 0;  // of the stopwatch
  LiveFigures figures;
};

// Cuts a replay into intervals of a second. Each part has a grid of its own, so its last interval
// is a shorter one; of a warm-up that one is left out, as its counters are gone by then.
class LiveSeconds {
 public:
  // Whether an interval has ended: then it is time for take().
  bool due(const ReplayTimes& times, std::uint64_t now_ns) const;
  // When the next one ends, if no part does before.
  std::uint64_t next_ns() const { return next_ns_; }

  // All intervals that ended since the last call, with their parts or because a second is over.
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
