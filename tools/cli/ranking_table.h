// Rankings and indices as tables.
#pragma once

#include <span>
#include <string>

#include "replay/compare/index.h"
#include "replay/compare/ranking.h"
#include "tools/cli/session.h"

namespace filereel {

// A table and a conclusion for each measurement, the indices, warnings, and the number of first
// ranks. Headings are bold if the descriptor is a terminal. Without `all`, a long ranking counts
// the measurements without a significant or indicated difference.
std::string format_ranking(const Ranking& ranking, std::span<const Index> indexes,
                           const Session& session, int descriptor, bool all);

// A table for each index, "" without any; `names` are those of the groups.
std::string format_indexes(std::span<const Index> indexes, std::span<const std::string> names,
                           const Session& session, int descriptor);

}  // namespace filereel
