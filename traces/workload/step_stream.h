// The operations of a thread that does steps to one file after another.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "traces/operation_source.h"
#include "traces/workload/recipe.h"

namespace filereel {

// A file of a group and the names that steps need.
struct StepFile {
  PathId path, directory;
  PathId other_name;  // rename
  PathId beside;      // replace: what is renamed over it
  PathId copy;
  FileId entry;
  std::uint64_t size;
  std::uint32_t mode;
  std::uint32_t siblings;  // files in its directory
};

// All that is referred to outlives the source.
struct StepJob {
  const RecipeThreads& threads;
  std::span<const StepFile> files;  // of the group; every `threads_of_group`th is this thread's
  // What is made before any file is, by thread 0: directories, parents first.
  std::span<const PathId> directories;
  std::uint32_t thread = 0, threads_of_group = 1;
  std::uint64_t seed = 0;
  // Of this thread; 0: no limit.
  std::uint64_t operations = 0, bytes = 0, passes = 0;
};

// Open files of such a thread are below it.
inline constexpr FileSlot kStepSlots = 3;

std::unique_ptr<OperationSource> make_step_source(const StepJob& job);

// The most that a step moves in one operation.
std::uint64_t largest_block(const RecipeThreads& threads);

}  // namespace filereel
