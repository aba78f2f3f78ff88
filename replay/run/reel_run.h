// Replays a recorded trace on a volume, as often as asked: prepares, populates, replays, measures,
// verifies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "replay/engine/io_engine.h"
#include "replay/measure/clock.h"
#include "replay/results/result.h"
#include "replay/run/runner.h"
#include "replay/schedule/schedule.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/target.h"
#include "traces/recorded_trace.h"

namespace filereel {

enum class ReelVerify : std::uint8_t { results, content, tree };
std::string_view reel_verify_name(ReelVerify verify);
ReelVerify parse_reel_verify(std::string_view name);  // throws Error(usage)

struct NamedTrace {
  std::string name;  // in results
  RecordedTrace& trace;
};

struct ReelRunRequest {
  std::optional<Target> target;               // not needed by the null engine
  std::optional<Target> against = {};         // that takes turns with it
  std::optional<FileSystemKind> file_system;  // to make; not for directories
  std::optional<EngineKind> engine =
      {};  // nothing: io_uring for asynchronous traces, if there is one
  Order order = Order::resource;
  Pace pace = {};
  ReelVerify verify = ReelVerify::results;
  std::uint32_t depth = 0;  // see EngineContext::queue_depth
  std::uint32_t runs = 1;
  std::optional<AutoRuns> auto_runs = {};
  std::uint32_t clients = 1;  // copies of the trace at the same time, each in its own directory
  bool warm = false;
  bool keep = true;             // leave the files of the last repetition
  bool block_baseline = false;  // measure what fio reaches on the volumes first
  bool change_owners = false;
  bool stop_on_divergence = false;
  std::vector<std::string> destroy;  // block devices that may be formatted
  MountPower power = MountPower::none;
  std::stop_token stop = {};
  std::uint64_t began_ns = now_ns();  // on whose clock samples start
  // As in the measurement that it makes.
  std::string workload = std::string(kReelWorkload);
  std::vector<std::pair<std::string, std::string>> parameters = {};
};

// Fills `result` as it goes, so that it holds what was measured whatever happens. Returns true when
// all was replayed, false when the stop was requested. What differs from the trace is data in the
// result (see replay/results/failures.h). Throws Error for all that the user must fix. To be called
// on the main thread, as run_plan.
bool run_reel(const ReelRunRequest& request, const NamedTrace& input, RunObserver& observer,
              Result& result);

// The same as a part of a run: adds a measurement to the result, and what belongs to it; where the
// request names a second volume, to a second result as well.
bool measure_reel(const ReelRunRequest& request, const NamedTrace& input, RunObserver& observer,
                  std::span<Result* const> results);

}  // namespace filereel
