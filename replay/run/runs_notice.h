// What is said at the start: how many runs a verdict needs, and that all volumes are on one drive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "replay/results/result.h"
#include "replay/run/stage.h"

namespace filereel {

// What is to be measured: `measurements` on each of `entries`, volumes or file systems.
struct PlannedRuns {
  std::size_t measurements = 1, entries = 1;
  std::string_view of = "file systems";  // what the entries are
  bool ranked = false;                   // the entries are ranked; otherwise two sides are compared
  std::uint32_t least = kMostRuns;       // of any job; so many: all are automatic
  bool some_automatic = false;           // the others have runs of their own
};

// The number of measurements of each job at a point of its sweep, by the last role that they use:
// those of a missing volume are skipped.
using MeasurementCounts = std::map<const Job*, std::array<std::size_t, kRoles>>;

// All but `least`. `control`: one of the sides is not judged.
PlannedRuns planned_runs(const Stage& stage, bool control, const MeasurementCounts& counts);

// "9 measurements: a verdict at 1 % needs at least 6 runs on each side, more if differences are
// small; planned: 5; use --runs auto or --runs 6".
std::string runs_notice(const PlannedRuns& planned);

// Of replays on one volume, most want to know the time, not to compare it.
bool has_only_replays(const Stage& stage);

// What is compared or copied on one drive says nothing about drives. "" if nothing is, if there are
// several drives, or if they are unknown.
std::string shared_drive_notice(const Stage& stage);

// That compare will not use the control volume, the last side; "" if it will.
std::string control_notice(const Stage& stage);

}  // namespace filereel
