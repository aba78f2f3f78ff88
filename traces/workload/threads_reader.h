// Reads the threads of a workload.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "traces/workload/recipe.h"
#include "traces/workload/swept_map.h"

namespace filereel {

// --- Reads the access pattern of a workload.

// An access mix on the files of a group. Throws Error(unusable_input).
AccessMix read_access(const YamlValue& value, Sweep& sweep, const RecipeFiles& files, bool direct);

SyncPolicy read_sync(const YamlValue& value, Sweep& sweep);
// For a step, where it is optional.
SyncKind read_step_sync(const YamlValue& value);

// State of a group of files at the start of a phase.
enum class GroupState : std::uint8_t {
  absent,   // not created yet, or removed
  present,  // complete
  changed,  // resized or renamed: no later phase can use it
};

// Reads the threads in `map`, of a phase whose other keys have been read, checks them and updates
// the states of the groups. Throws Error(unusable_input).
RecipeThreads read_threads(const SweptMap& map, const Recipe& recipe, const RecipePhase& phase,
                           std::vector<GroupState>& states);

std::string_view step_word(StepKind kind);  // "create"

// Whether the threads change files such that other concurrent threads would fail.
bool disturbs_others(const RecipeThreads& threads);

// Its keys.
inline constexpr std::array<std::string_view, 12> kThreadKeys = {
    "count",  "access",        "do",   "choose", "order", "depth", "files",
    "direct", "write_through", "sync", "think",  "rate"};

}  // namespace filereel
