// One point of a job on one side: its volumes are prepared unless they hold the files that it
// begins with, then its steps run, and their samples go into the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "replay/jobs/drive_condition.h"
#include "replay/results/result.h"
#include "replay/run/observer.h"
#include "replay/run/repetitions.h"
#include "replay/run/run_request.h"
#include "replay/run/stage.h"
#include "replay/run/time_estimate.h"

namespace filereel {

class Clients;

// fio's results, and the access shapes. Determining these reads whole traces, so they are kept.
struct Baselines {
  std::vector<std::vector<BlockBaseline>> by_side;
  std::map<const Job*, std::vector<AccessShape>> shapes;
};

// The state of a side while a job is measured.
struct SideState {
  std::optional<std::uint64_t> point;           // the volumes hold the files that its steps left
  std::uint64_t free_bytes = 0;                 // when they were prepared, see FittingPlace
  std::vector<std::size_t> first_measurements;  // by point: its number in the result
  // Points with measurements of an interrupted run, which were not compared with the job yet.
  std::set<std::uint64_t> unchecked;
  std::map<const Volume*, DriveCondition> made;  // the condition that its device was last given
};

// A point of a job in one repetition, on one side. All that it refers to outlives the call that
// measures it.
struct PointRun {
  const RunRequest& request;
  Clients& clients;
  RunObserver& observer;
  const Baselines& baselines;
  const StagedJob& staged;
  const Side& side;
  std::size_t side_index = 0;
  Volumes volumes;  // volumes of the side that the job uses
  std::uint64_t point = 0;
  const Repetitions& repetitions;
  TimeEstimate& estimate;
};

// Changes `state` to what it leaves. Returns false if the stop was requested. Throws
// Error if the volumes cannot be prepared or calls fail that must not.
bool measure_point(const PointRun& point_run, SideState& state);

}  // namespace filereel
