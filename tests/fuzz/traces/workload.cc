// Whatever a workload says, it is refused in one line or makes a trace that can be drawn from.
#include "traces/workload/workload.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"
#include "traces/workload/synthesis.h"

namespace {

// Trees that a few bytes of text can ask for are left to the tests.
bool is_small(const filereel::Recipe& recipe) {
  std::uint64_t files = 0, threads = 0;
  for (const auto& group : recipe.files) {
    if (!group.set.empty()) return false;
    files += group.count * group.volumes.size();
  }
  for (const auto& phase : recipe.phases) {
    for (const auto& thread : phase.threads) {
      threads +=
          std::uint64_t{thread.count} * thread.depth * recipe.files[thread.files].volumes.size();
    }
  }
  return files <= 1000 && threads <= 64;
}

}  // namespace

FUZZ_TARGET(workload) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const filereel::Workload workload = filereel::Workload::from_yaml(text, "input");
    for (const std::uint64_t point : {std::uint64_t{0}, workload.points() - 1}) {
      filereel::Recipe recipe = workload.recipe(point, 0.5);
      name_volumes(recipe, 2);
      if (!is_small(recipe)) continue;
      const filereel::Synthesis synthesis(recipe,
                                          {.depth_as_threads = point != 0, .free_bytes = 64 << 20});
      for (std::size_t phase = 0; phase < recipe.phases.size(); ++phase) {
        const filereel::Trace trace = synthesis.trace(phase);
        for (const auto& source : trace.threads) {
          std::vector<filereel::Operation> some(100);
          if (source->next(some) == some.size()) source->wind_up();
          if (source->next(some) > some.size()) __builtin_trap();
        }
      }
    }
  } catch (const filereel::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
}
