// A recorded trace compiled for replay: for each lane what to do and what to wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "replay/engine/lane_board.h"
#include "traces/operation_source.h"
#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Which orders of the trace are kept beside the program order of each thread.
enum class Order : std::uint8_t {
  strict,    // all: an operation begins when the one before it in the trace is done
  resource,  // those between operations on the same files, names and open files (docs/replay.md)
  thread,    // none
};
std::string_view order_name(Order order);
Order parse_order(std::string_view name);  // throws Error(usage)

// When operations begin.
struct Pace {
  enum class Kind : std::uint8_t {
    asap,     // as soon as what they wait for is done
    natural,  // not before their time in the trace
    think,    // after the pauses that the thread made between operations
  };
  Kind kind = Kind::asap;
  double speed = 1;  // times and pauses are divided by it
};
// "asap", "natural", "think", "2x" (natural at twice the speed), "think/2x". Throws Error(usage).
Pace parse_pace(std::string_view text);
std::string pace_name(const Pace& pace);

struct ScheduleOptions {
  Order order = Order::resource;
  Pace pace = {};
  // Operations that may lie ready at once, of all lanes together: what bounds the memory, and how
  // far lanes can run apart.
  std::size_t window = 1024 * 1024;
};

// Reads the trace on a thread of its own. The first window is compiled before the constructor
// returns, so a trace that fits in it costs nothing while the clock runs.
//
// Threads of the trace become lanes; threads whose lives do not overlap in the trace share one, and
// the later waits for the earlier.
class Schedule {
 public:
  // All outlive the schedule; `source` is at its beginning. Throws Error.
  Schedule(RecordedSource& source, const TraceTables& tables, const TraceInfo& info,
           const ScheduleOptions& options);
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  // The lanes, to be replayed once. Must not outlive the schedule.
  Trace trace();
  LaneBoard& board();

  // Awaits that were put in so far.
  std::uint64_t waits() const;

  // Throws what ended the reading early (a damaged reel); to be called after the replay.
  void check() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
