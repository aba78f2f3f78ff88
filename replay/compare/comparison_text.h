// Rankings as sentences, for terminals, Markdown and the page.
#pragma once

#include <string>

#include "replay/compare/ranking.h"

namespace filereel {

// What a measurement of the ranking shows: "fastest: ext4; proven: btrfs slower than ext4, xfs",
// "the same within 2 %" or "no ranking: no significant difference", and what is indicated.
std::string conclusion_text(const RankedMeasurement& ranked, const Ranking& ranking);

// What its ranks mean, and how sure they are: "ranks overlap where no difference is proven;
// threshold 2 %, at most 1 false order in 100 rankings in turns, by pairs".
std::string promise_text(const Ranking& ranking);

}  // namespace filereel
