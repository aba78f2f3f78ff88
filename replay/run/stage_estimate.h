// The repetitions of a stage's parts, and the estimate of their time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay/run/run_request.h"
#include "replay/run/stage.h"
#include "replay/run/time_estimate.h"

namespace filereel {

// Repetitions of a job that is not automatic.
std::uint32_t runs_of(const Job& job, const RunRequest& request);

// Jobs with a number of repetitions of their own are not automatic.
bool is_automatic(const Job& job, const RunRequest& request);
std::size_t count_automatic(const Stage& stage, const RunRequest& request);

// `shapes`: the number of access shapes of the block baseline, which is measured first.
TimeEstimate estimate_of(const Stage& stage, const RunRequest& request, std::size_t shapes);

}  // namespace filereel
