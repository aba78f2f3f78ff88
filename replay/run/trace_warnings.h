// Warnings about a recording, in the results of its replays.
#pragma once

#include <string>

#include "replay/results/result.h"
#include "traces/trace_info.h"

namespace filereel {

// Of what is missing, approximated or unlike the real files. `name`: that of the job.
void warn_of_trace(const TraceInfo& info, const std::string& name, Result& result);

}  // namespace filereel
