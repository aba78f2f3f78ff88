// The JSON form of rankings and indices (docs/compare.md), which other programs rely on.
#pragma once

#include <span>
#include <string>

#include "replay/compare/index.h"
#include "replay/compare/ranking.h"
#include "replay/json_fwd.h"

namespace filereel {

// A list; `names` are the names of the groups.
Json indexes_to_json(std::span<const Index> indexes, std::span<const std::string> names);

// Pretty-printed, ends with a newline. Invalid UTF-8 in names is replaced.
std::string ranking_to_json(const Ranking& ranking, std::span<const Index> indexes);

}  // namespace filereel
