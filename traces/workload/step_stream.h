// The operations of a thread that performs steps on files in sequence.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "traces/operation_source.h"
#include "traces/workload/recipe.h"

namespace filereel {

// A file of a group, with the names used by steps.
struct StepFile {
  PathId path, directory;
  PathId other_name;  // rename
  PathId beside;      // replace: renamed over the file
  PathId copy;
  FileId entry;
  std::uint64_t size;
  std::uint32_t mode;
  std::uint32_t siblings;  // files in its directory
};

// All references outlive the source.
struct StepJob {
  const RecipeThreads& threads;
  std::span<const StepFile>
      files;  // of the group; each `threads_of_group`th belongs to this thread
  // Created by thread 0 before any file: directories, parents first.
  std::span<const PathId> directories;
  std::uint32_t thread = 0, threads_of_group = 1;
  std::uint64_t seed = 0;
  // For this thread; 0: no limit.
  std::uint64_t operations = 0, bytes = 0, passes = 0;
};

// Upper bound of the slots of such a thread.
inline constexpr FileSlot kStepSlots = 3;

std::unique_ptr<OperationSource> make_step_source(const StepJob& job);

// Largest transfer of a step in one operation.
std::uint64_t largest_block(const RecipeThreads& threads);

}  // namespace filereel
