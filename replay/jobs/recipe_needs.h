// Properties of a recipe that a job needs before anything is created: its time, its room and its
// access shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/jobs/job.h"
#include "replay/results/result.h"
#include "traces/workload/recipe.h"
#include "traces/workload/synthesis.h"

namespace filereel {

// The time of a phase of a recipe, as it is assumed before it is measured. `synthesis`: of the
// recipe.
ExpectedTime expected_time(const Recipe& recipe, std::size_t phase, const Synthesis& synthesis);

// The creation of the initial files on all volumes of the recipe, in seconds.
double fill_seconds(const Recipe& recipe, const Synthesis& synthesis);

// Limits the phases to `time_ns`: time-limited phases last this long, others at most this long.
// Warm-ups shrink in proportion and never grow. If a phase creates or changes files for a later
// phase, it keeps its end; these phases are returned.
std::vector<std::string> set_time(Recipe& recipe, std::uint64_t time_ns);

// Whether both recipes start from the same files.
bool start_from_same_files(const Recipe& a, const Recipe& b);

// Whether the phases add, remove or resize files.
bool changes_files(const Recipe& recipe);

// Whether the phase only reads files that exist before it, or their names.
bool only_reads(const RecipePhase& phase);

// The smallest direct I/O accesses.
struct DirectAccess {
  std::uint64_t size = 0;   // bytes
  std::uint64_t align = 0;  // bytes, of their offsets
  bool operator==(const DirectAccess&) const = default;
};
std::optional<DirectAccess> smallest_direct_access(const Recipe& recipe);

// Whether files fill the free space of their volume.
bool fills_volume(const Recipe& recipe);

// Whether a phase uses io_uring.
bool wants_uring(const Recipe& recipe);

// Whether a phase polls for completions.
bool wants_polling(const Recipe& recipe);

// The access shape for fio that corresponds to a phase; nothing if the phase moves no data.
std::optional<AccessShape> access_shape(const RecipePhase& phase);

// Whether threads of the phase read and write at offsets; otherwise they process files in steps.
bool has_accesses(const RecipePhase& phase);

}  // namespace filereel
