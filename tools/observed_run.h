// What the commands that measure have in common.
#pragma once

#include <functional>
#include <string>

#include "replay/runner/runner.h"
#include "tools/session.h"

namespace filereel {

// Returns false when it was interrupted.
using Measure = std::function<bool(RunObserver& observer, Result& result)>;
// Such as format_result (tools/table.h).
using Format = std::function<std::string(const Result& result,
                                         const std::function<std::string(std::string)>& bold)>;

// Runs `measure` with progress on the terminal, keeps its result in the file `json` ("" for none,
// "-" for standard output) and prints it, also after an interruption, which the session's exit code
// then tells, and after an Error, which is thrown on. Where nothing was measured an older file
// stays.
Result observe_run(Session& session, const std::string& json, const Measure& measure,
                   const Format& format);

}  // namespace filereel
