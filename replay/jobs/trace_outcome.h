// What a result says of the replay of a recording: its figures, and warnings about the recording.
#pragma once

#include <string>

#include "replay/engine/replayer.h"
#include "replay/results/result.h"
#include "traces/recorded_trace.h"

namespace filereel {

// Adds the figures of recorded traces; call after fill_sample.
void add_trace_figures(Sample& sample, const ReplayOutcome& outcome);

// Warns of what is missing, approximated or unlike the real files. `name`: that of the job.
void warn_of_trace(const TraceInfo& info, const std::string& name, Result& result);

}  // namespace filereel
