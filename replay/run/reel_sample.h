// From a replay of a recorded trace to what a result keeps.
#pragma once

#include "replay/engine/replayer.h"
#include "replay/results/result.h"
#include "traces/path_table.h"

namespace filereel {

// As fill_sample (replay/run/sampling.h), and what only recorded traces have.
void fill_reel_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths);

}  // namespace filereel
