// Replays a trace on volumes and times it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "replay/engine/engine_context.h"
#include "replay/engine/engine_kind.h"
#include "replay/engine/replay_progress.h"
#include "replay/engine/statistics.h"
#include "traces/operation_source.h"

namespace filereel {

// --- Limits of open files of this process.

// Descriptors needed by a replay with this number of open files of the trace and of threads,
// including the least number of directories that each thread keeps, and the descriptors that
// filereel has open now.
std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads);

std::uint64_t highest_descriptor_limit();

// Raises the limit to its maximum and returns it.
std::uint64_t raise_descriptor_limit() noexcept;

// Raises the limit if needed. Returns the number of directories that each thread may keep open.
// Throws Error(failed) if the limit is too low.
std::size_t allow_descriptors(std::uint64_t open_files, std::size_t threads);

struct ReplayOptions {
  EngineKind engine = EngineKind::blocking;
  std::uint32_t queue_depth = 0;  // see EngineContext; Trace::depths takes precedence
  bool poll = false;              // see EngineContext
  Verify verify = Verify::results;
  bool change_owners = false;
  bool stop_on_divergence = true;
  LaneBoard* board = nullptr;             // the board of the trace's schedule, if any
  DivergenceClassifier* judge = nullptr;  // see EngineContext
  std::stop_token stop = {};              // stops between operations
  ReplayProgress* progress = nullptr;     // exposes the counts while the replay runs
  // Time before the measured time. Operations that end in it are not counted, except for
  // divergences.
  std::uint64_t warm_up_ns = 0;
  // The measured time after the warm-up; 0: until the sources end. When it is over, each thread
  // completes its current operation and its requests in flight. Then its source winds up, and the
  // operations it still returns (syncs on close, closes) are executed and counted. The lanes of a
  // schedule end at once.
  std::uint64_t run_for_ns = 0;
  // For tests: receives every latency by thread, in ns.
  std::vector<std::vector<std::uint64_t>>* latencies = nullptr;
  // Called once when the measured time starts, by the thread that called replay(); for counters of
  // the caller.
  std::function<void()> on_measured_start = {};
  // Called once by that thread when all threads are ready; they start when it returns. It calls
  // `begin`, which without a warm-up begins the measured time.
  std::function<void(const std::function<void()>& begin)> gate = {};
};

// The outcome of a replay: of all threads, or of those of one volume.
struct ReplayOutcome {
  ReplayStatistics statistics;
  double elapsed_s = 0;  // from the first operation of any thread, or the end of the warm-up, to
                         // the end of the last operation of any thread
  std::uint64_t end_ns = 0;  // stopwatch time of that end; open files are closed later
  double cpu_user_s = 0;     // of this process during that time
  double cpu_system_s = 0;
  // Processor time of the executing threads, from their first to their last operation, including
  // the warm-up.
  double threads_cpu_s = 0;
  bool complete = false;  // every operation was executed, or the time was used up
  // By Role, if the trace has Trace::volumes: the outcome of the threads on each volume, without
  // the processor time of the process. All zeros for volumes without threads.
  std::vector<ReplayOutcome> by_volume;
};

// Throws Error(failed) if this process cannot have the memory for the buffers of a replay, or open
// all its files at once.
void check_resources(const Trace& trace, EngineKind engine);

// Executes the trace's threads concurrently, each on its own thread. `roots` are descriptors of the
// volumes' root directories, by Role; -1 for volumes that the trace does not use. Failures of
// operations are divergences in the outcome. Consumes the trace.
ReplayOutcome replay(Trace trace, const std::array<int, kRoles>& roots,
                     const ReplayOptions& options);

}  // namespace filereel
