// Workloads that are recorded traces.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "replay/run/reel_run.h"
#include "replay/run/repetitions.h"
#include "replay/run/runner.h"
#include "traces/reel/reel_reader.h"
#include "traces/workload/recipe.h"

namespace filereel {

// A reel of the catalogue, or else a file. Throws as ReelReader.
std::unique_ptr<ReelReader> open_reel(const std::string& name_or_path);

// Whether the recipe is a trace of its own, and has neither files nor phases.
bool is_recorded(const Recipe& recipe);

// Replays the recipe's trace as the request says, and adds the measurement to the results of
// its volumes; `stretch` is where that lies in the whole run. What differs from the trace is a
// warning. False when the stop was requested. Throws Error.
bool measure_recorded(const Recipe& recipe, const ReelRunRequest& request, const Stretch& stretch,
                      RunObserver& observer, std::span<Result* const> results);

}  // namespace filereel
