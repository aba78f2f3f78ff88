// How this folder works: replay() in replayer.cc creates an engine and a thread for each source of
// operations of a Trace. A Lane (lane.h) is the loop of such a thread: it takes operations in
// batches, waits for other lanes (lane_board.h) or for due times, and passes calls to its IoEngine,
// declared here. An engine executes them (operation_executor.h, by the calls of engine_calls.h),
// measures each, and counts and compares the results (outcome_recorder.h). Nothing in that loop
// allocates; locks are taken only to wait, and for results that differ. Start with Lane::take_all
// in lane.cc, then SequentialEngine::perform in sequential_engine.h: these two are the hot path.
//
// Executes operations. Three implementations: blocking system calls, io_uring, and null, which
// makes no calls and so measures filereel's overhead.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "replay/engine/engine_context.h"
#include "replay/engine/engine_kind.h"
#include "replay/engine/statistics.h"

namespace filereel {

// The result of an engine's execute().
enum class Execution : std::uint8_t {
  all,      // all operations were executed
  alarm,    // the alarm time was reached
  stopped,  // by a true mismatch if requested, or by the context's stop
};

// The engine of one thread: its buffer, requests in flight and statistics. Not shared between
// threads.
class IoEngine {
 public:
  virtual ~IoEngine() = default;

  // Call first, before the clock starts, on the executing thread.
  virtual void begin() noexcept {}
  // Call last, on the same thread, if begin() was called.
  virtual void end() noexcept {}

  // Prepares the next operation while there is time.
  virtual void prepare(const Operation&) noexcept {}

  // Executes `operations` (calls only, no barriers, awaits or paces) in order and removes them from
  // the front. Ends at the alarm, at the first true mismatch if `stop_on_divergence`, or when the
  // context's stop is requested. Neither throws nor allocates. Removed operations may still be
  // queued or in flight.
  virtual Execution execute(std::span<const Operation>& operations,
                            bool stop_on_divergence) noexcept = 0;

  // The stopwatch time after which execute() starts nothing more; never by default.
  virtual void set_alarm(std::uint64_t at_ns) noexcept = 0;

  // The stopwatch time at which the next operation is due; its latency is measured from then.
  virtual void set_due(std::uint64_t due_ns) noexcept = 0;

  // Completes everything taken. Call before waiting for other threads, and at the end. Returns
  // false for a true mismatch that stops the replay.
  virtual bool drain() noexcept = 0;

  // Returns at stopwatch time `due_ns`, at once if that is past, or soon after a requested stop.
  // Requests in flight continue, and are recorded when they complete. Returns false as drain()
  // does.
  virtual bool wait_until(std::uint64_t due_ns) noexcept = 0;

  virtual ReplayStatistics& statistics() = 0;
};

// `lane` is the thread's index on the board. Throws Error(failed) if the engine cannot be set up.
std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t lane);

}  // namespace filereel
