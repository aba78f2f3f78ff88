// What the comparison of a recording with reality has found, in words.
#pragma once

#include <string>
#include <vector>

#include "traces/trace_info.h"

namespace filereel {

// "the recording differs from reality in 2 files:", then one indented line for each described
// difference, how much of the content was compared, and what was not compared; nothing if there is
// nothing to say. Printable.
std::vector<std::string> describe_check(const RecordingCheck& check);

// The differences in one line: "the recording differs from reality in 2 files: …; …"; empty: none.
std::string describe_differences(const RecordingCheck& check);

}  // namespace filereel
