// The part of a workload that says what threads do.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "traces/workload/recipe.h"
#include "traces/workload/swept_map.h"

namespace filereel {

// What is known of a group of files when a phase begins.
enum class GroupState : std::uint8_t {
  absent,   // not made yet, or removed
  present,  // whole
  changed,  // longer or shorter than it was, or under other names: no phase can go on with it
};

// Reads the threads that `map` describes, of a phase whose other keys are read already, checks them
// and follows what they do to the groups' states. Throws Error(unusable_input).
RecipeThreads read_threads(const SweptMap& map, const Recipe& recipe, const RecipePhase& phase,
                           std::vector<GroupState>& states);

std::string_view step_word(StepKind kind);  // "create"

// Whether the threads change files so that others, at work on them at the same time, would fail.
bool disturbs_others(const RecipeThreads& threads);

// Its keys.
inline constexpr std::array<std::string_view, 12> kThreadKeys = {
    "count",  "access",        "do",   "choose", "order", "depth", "files",
    "direct", "write_through", "sync", "think",  "rate"};

}  // namespace filereel
