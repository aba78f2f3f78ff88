// Live figures of a running replay, for the terminal and as lines of JSON.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "filesets/system/descriptor.h"
#include "replay/engine/replay_progress.h"
#include "replay/run/observer.h"
#include "tools/cli/session.h"

namespace filereel {

// --- Throughput and latency of a running replay, from successive snapshots of its counters.

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

// --- Figures of every second of a run: lines for people on standard error (--live), JSON for
// programs
// (--live-json).

struct LiveOptions {
  bool lines = false;  // on standard error
  std::string json;    // where JSON goes: "" nowhere, "-" standard output
};

// "   12.0 s   8.12k ops/s    123 MB/s  p50    12 us  p99   1.2 ms  max    33 ms"; `at_s` is the
// end of the interval, in seconds since the start of the run.
std::string live_line(const LiveInterval& interval, double at_s);

// The same as a line of JSON, with what is measured; docs/plans.md describes it.
std::string live_json(const StepInfo& step, const LiveInterval& interval, double at_s);

// Prints from a thread of its own, so that measuring threads never wait for output. The thread that
// ends a step prints its last lines, when nothing is being measured.
class LiveOutput {
 public:
  // Calls `lost` if standard error cannot be written to, on any thread, possibly more than once.
  LiveOutput(const Session& session, const LiveOptions& options, std::uint64_t run_began_ns,
             std::function<void()> lost);
  ~LiveOutput();
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;

  // Opens the file on the first call; throws Error if it cannot.
  void step_begins(const StepInfo& step, const ReplayProgress& progress);
  void step_ended() noexcept;

  // The reason why JSON output stopped, and its first missing line; "" if it did not stop.
  std::string failure() const;

 private:
  void run(const std::stop_token& stop);
  void print();
  void print(const LiveInterval& interval);
  void print_line(const LiveInterval& interval, double at_s, bool is_long);
  void write_json(const std::string& line);

  const Session& session_;
  LiveOptions options_;
  std::uint64_t run_began_ns_;
  std::function<void()> lost_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  const ReplayProgress* progress_ = nullptr;  // of the step; null between two
  StepInfo step_;
  std::string title_;  // heading of the last lines
  LiveSeconds seconds_;
  Descriptor file_;
  bool reader_gone_ = false;  // of standard output
  std::string failure_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace filereel
