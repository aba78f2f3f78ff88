// Rankings and indexes for people.
#pragma once

#include <span>
#include <string>

#include "replay/compare/index.h"
#include "replay/compare/ranking.h"
#include "tools/session.h"

namespace filereel {

// A table for each measurement with what it comes to, the indexes, warnings, and who is first how
// often. Headings are bold where the descriptor that it goes to has that.
std::string format_ranking(const Ranking& ranking, std::span<const Index> indexes,
                           const Session& session, int descriptor);

// A table for each index, "" for none; `names` are those of the groups.
std::string format_indexes(std::span<const Index> indexes, std::span<const std::string> names,
                           const Session& session, int descriptor);

}  // namespace filereel
