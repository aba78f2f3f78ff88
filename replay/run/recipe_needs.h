// What a job must know of a recipe before anything is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "traces/workload/recipe.h"

namespace filereel {

// Bounds the phases by `time_ns`: those that a time ends last so long, and others end after it at
// the latest. Warm-ups shrink in proportion, and never grow. A phase whose files are another shape
// when it is cut short, and are worked on by a later one, keeps its end: the phases that do are
// returned.
std::vector<std::string> set_time(Recipe& recipe, std::uint64_t time_ns);

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

// What fio is to do for a phase; nothing if that moves no data.
std::optional<AccessShape> access_shape(const RecipePhase& phase);

// Whether threads of the phase read and write at positions; else they go through files in steps.
bool has_accesses(const RecipePhase& phase);

}  // namespace filereel
