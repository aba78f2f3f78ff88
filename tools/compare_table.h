// A comparison for people.
#pragma once

#include <string>

#include "replay/compare/comparison.h"
#include "tools/session.h"

namespace filereel {

// What changed, a line for each measurement, and what it comes to. Slower and faster lines have
// colours where the descriptor that it goes to has.
std::string format_comparison(const ResultComparison& comparison, const Session& session,
                              int descriptor);

// "replayed with order resource, pace asap", a line; "" for nothing.
std::string replay_line(const Parameters& shared);

// Three digits, so that changes of a percent or two can be seen: "2.01 s".
std::string time_text(double seconds);

}  // namespace filereel
