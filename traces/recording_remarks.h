// What a reel tells about its recording that makes it no less usable, but may surprise: kept as
// facts (TraceInfo::facts), and repeated by the commands that record and predict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/trace_info.h"

namespace filereel {

inline constexpr std::string_view kRunningFact = "running";  // before the recording began
inline constexpr std::string_view kBusyFact = "busy";        // other programs used the processors
inline constexpr std::string_view kClientFact = "client";    // it seems to be one of a server

// As sentences without the final full stop, printable.
std::vector<std::string> recording_remarks(const TraceInfo& info);

}  // namespace filereel
