// The operations of a workload's thread: its steps, accesses and due times.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traces/operation_source.h"
#include "traces/operation_stream.h"
#include "traces/workload/access_pattern.h"
#include "traces/workload/recipe.h"

namespace filereel {

// Due times of the accesses, or files, of a workload's thread.
class Pacer {
 public:
  explicit Pacer(const RecipeThreads& threads)
      : think_ns_(threads.think_ns), interval_ns_(threads.rate > 0 ? 1e9 / threads.rate : 0) {}

  bool paces() const { return think_ns_ > 0 || interval_ns_ > 0; }

  // The pause before access `number` of its thread, from 0.
  Operation next(std::uint64_t number) const {
    Operation pace;
    pace.kind = OperationKind::pace;
    if (interval_ns_ > 0) {
      pace.flags = pace_flags::kFromStart;
      pace.offset = static_cast<std::uint64_t>(static_cast<double>(number) * interval_ns_);
    } else {
      pace.flags = pace_flags::kFromLastEnd;
      pace.offset = number > 0 ? think_ns_ : 0;
    }
    return pace;
  }

 private:
  std::uint64_t think_ns_;
  double interval_ns_;
};

// --- The operations of a thread that performs steps on files in sequence.

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

// --- The operations of a thread that reads and writes at positions.

struct AccessFile {
  PathId path;
  FileId entry;
  std::uint32_t mode;
};

// All references outlive the source.
struct AccessJob {
  const RecipeThreads& threads;
  std::span<const AccessFile> files;  // as in `space`; file i is opened as slot i
  const FileSpace& space;
  bool direct = false;  // required by the recipe and supported by the volume
  std::uint32_t thread = 0;
  std::uint64_t seed = 0, spots_seed = 0;  // see AccessPattern
  // Number of this source among `turns` sources that share the accesses of one thread in turns.
  std::uint32_t turn = 0, turns = 1;
  // For this thread; 0: no limit.
  std::uint64_t operations = 0, bytes = 0, passes = 0;
};

// Opens the files, accesses them until a limit is reached or the phase is wound up, syncs as
// configured, and closes them. `space` satisfies check_zone.
std::unique_ptr<OperationSource> make_access_source(const AccessJob& job);

}  // namespace filereel
