// What a run writes into a result beside samples: its beginning, volumes, and measurements that are
// still without samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/job.h"
#include "replay/run/plan.h"

namespace filereel {

// Version, time, machine and the plan's jobs. `auto_runs`: of automatic repetitions.
void begin_result(Result& result, const Plan& of, const std::optional<AutoRuns>& auto_runs);

// Adds the volume to the result, unless one of its role, part and file system stands there, and
// warnings of its driver and of what is below it now.
void add_volume(const Volume& volume, Result& result);

// How many a step has: one; where it works on several volumes at once one of all, and one of each;
// none if it is not measured.
std::size_t measurements_of(const Step& step);

// Adds those of all steps at a point of the job, in their order. `shapes`: the job's, where there
// is a block baseline of near, else null.
void add_measurements(const Job& job, std::uint64_t point, const Volumes& volumes,
                      const FittedJob& fitted, const std::vector<AccessShape>* shapes,
                      Result& result);

}  // namespace filereel
