// Fills a result apart from its samples: header, volumes, and measurements without samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/jobs/job.h"
#include "replay/plan/plan.h"
#include "replay/results/result.h"

namespace filereel {

// Sets version, time, machine and the plan's jobs. `auto_runs`: for automatic repetitions.
// `session`: see Result::session.
void begin_result(Result& result, const Plan& of, const std::optional<AutoRuns>& auto_runs,
                  const std::string& session);

// Adds the volume to the result unless one of the same role, part and file system exists. Adds
// warnings about its driver and its current layers.
void add_volume(const Volume& volume, Result& result);

// The job's name if the plan has several, otherwise "": see Result::warn.
std::string name_for_warnings(const Job& job, const Result& result);

// Adds the job's name to the warnings from number `before` on if the plan has several jobs.
void name_warnings(const Job& job, std::size_t before, Result& result);

// The number of measurements of a step: one; with several concurrent volumes, one for all and one
// each; none if the step is not measured.
std::size_t measurements_of(const Step& step);

// Adds the measurements of all steps at a point of the job, in their order. `shapes`: those of the
// job if near has a block baseline, otherwise null.
void add_measurements(const Job& job, std::uint64_t point, const Volumes& volumes,
                      const FittedJob& fitted, const std::vector<AccessShape>* shapes,
                      Result& result);

}  // namespace filereel
