// A recorded trace in a line.
#pragma once

#include <string>

#include "traces/trace_info.h"

namespace filereel {

// "1234 operations by 3 threads on 210 files, 5.6 MB read, 1.2 MB written, 12.3 s".
std::string describe_trace(const TraceInfo& info);

}  // namespace filereel
