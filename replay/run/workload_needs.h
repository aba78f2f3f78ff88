// What a run must know of a recipe before it makes anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/workload/recipe.h"

namespace filereel {

// Lets the phases that a time ends last `time_ns`; warm-ups shrink in proportion, and never grow.
void set_time(Recipe& recipe, std::uint64_t time_ns);

// Whether what exists before the first phase is the same for both.
bool begin_alike(const Recipe& a, const Recipe& b);

// Whether the phases leave other files, or files of other sizes, than they found.
bool changes_files(const Recipe& recipe);

// The smallest accesses past the page cache.
struct DirectAccess {
  std::uint64_t size = 0;   // bytes
  std::uint64_t align = 0;  // bytes, of their offsets
  bool operator==(const DirectAccess&) const = default;
};
std::optional<DirectAccess> smallest_direct_access(const Recipe& recipe);

// Whether files take what is free on their volume.
bool fills_volume(const Recipe& recipe);

// Whether a phase is to be done by io_uring.
bool wants_uring(const Recipe& recipe);

// Whether a phase is to poll for its completions.
bool wants_polling(const Recipe& recipe);

// Whether threads of the phase read and write at positions; else they go through files in steps.
bool has_accesses(const RecipePhase& phase);

}  // namespace filereel
