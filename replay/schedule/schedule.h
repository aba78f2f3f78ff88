// How this folder works: a feeder thread (feeder.h) reads the trace in its order, finds what each
// operation must wait for (dependencies.h; resource_dependencies.h has each kind of resource),
// leaves out what follows from other waits (happens_before.h), adds due times (pacing.h), and
// passes chunks of operations to the lanes (feeder.h). The lanes are threads of the engine and wait
// on its LaneBoard. Start with Schedule here and Feeder::add in feeder.cc; then dependencies.cc.
//
// A recorded trace compiled for replay: for each lane, what to do and what to wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "replay/engine/lane_board.h"
#include "traces/operation_source.h"
#include "traces/recorded_trace.h"

namespace filereel {

// The order preserved in addition to the program order of each thread.
enum class Order : std::uint8_t {
  strict,    // all: an operation starts when its predecessor in the trace is complete
  resource,  // between operations on the same files, names and open files (docs/replay.md)
  thread,    // no further order
};
std::string_view order_name(Order order);
std::span<const std::string_view> order_names();
Order parse_order(std::string_view name);  // throws Error(usage)

// When operations start.
struct Pace {
  enum class Kind : std::uint8_t {
    asap,     // as soon as their waits are over
    natural,  // not before their time in the trace
    think,    // after the recorded pauses of the thread
  };
  Kind kind = Kind::asap;
  double speed = 1;  // divides times and pauses
};
// "asap", "natural", "think", "2x" (natural at twice the speed), "think/2x". Throws Error(usage).
Pace parse_pace(std::string_view text);
std::string pace_name(const Pace& pace);
std::span<const std::string_view> pace_names();  // those without a factor

struct ScheduleOptions {
  Order order = Order::resource;
  Pace pace = {};
  // Maximum number of compiled operations ready at the same time, over all lanes. It bounds the
  // memory, and how far lanes can run apart.
  std::size_t window = 1024 * 1024;
};

// Reads the trace on its own thread. The first window is compiled before the constructor returns,
// so a trace that fits into it costs nothing while the clock runs.
//
// Threads of the trace become lanes. Threads whose lifetimes in the trace do not overlap share a
// lane, and the later one waits for the earlier.
class Schedule {
 public:
  // All arguments outlive the schedule; `source` is at its start. Throws Error.
  Schedule(RecordedSource& source, const TraceTables& tables, const TraceInfo& info,
           const ScheduleOptions& options);
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  // The lanes, for a single replay. Must not outlive the schedule.
  Trace trace();
  LaneBoard& board();

  // Number of awaits inserted so far.
  std::uint64_t waits() const;

  // Throws the error that ended the reading early (a corrupt reel); call after the replay.
  void check() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
