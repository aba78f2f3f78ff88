// Comparisons as tables: of two sides, and of a result with itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "replay/compare/comparison.h"
#include "replay/compare/self_comparison.h"
#include "tools/cli/session.h"

namespace filereel {

// --- A comparison as a table.

// What the time in calls is, if it is compared; otherwise "".
std::string pace_note(bool in_calls);

// Whether so many measurements are folded: those without a change are counted, not listed.
bool is_long(std::size_t measurements);

// Changed conditions, the measurements (those that changed first), and the overall verdict. Slower
// and faster lines are coloured if the descriptor is a terminal with colours. Without `all`, a long
// comparison is folded.
std::string format_comparison(const ResultComparison& comparison, const Session& session,
                              int descriptor, bool all);

// A line: "replayed with order resource, pace asap"; "" if nothing is shared.
std::string replay_line(const Parameters& shared);

// The smallest provable change: "+9.1 %", "-49 %", "none".
std::string provable_text(const std::optional<double>& share);

// The table of a volume compared with itself.
std::string format_self_comparison(const SelfComparison& self, const Session& session,
                                   int descriptor);

}  // namespace filereel
